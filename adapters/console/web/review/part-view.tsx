import './review.css'
import type { Hunk } from '../../../../src/review/change-parts.ts'
import { Button } from '../components/fields.tsx'
import { CommentForm, Comments } from './comments.tsx'
import { visible } from './line-text.tsx'
import { type ReviewState, type Standing, standingOf } from './review-state.ts'
import { CHUNK, Rows } from './rows.tsx'

/** A hunk with its lines, or an item to acknowledge. */
export function PartView({ state, index }: { state: ReviewState; index: number }) {
  const part = state.parts[index]
  const reading = state.readings[index]?.value
  if (!part || !reading) return null
  const standing = standingOf(state, index)
  return (
    <section
      id={`part-${index}`}
      class={`part ${standing}`}
      tabIndex={0}
      aria-label={`${part.path}, ${part.kind === 'hunk' ? rangeOf(part) : part.kind}: ${standing}`}
      onFocus={() => {
        state.current.value = index
      }}
    >
      <header>
        <code>{part.kind === 'hunk' ? rangeOf(part) : part.kind}</code>
        <span class="sp" />
        <StandingBadge standing={standing} seen={reading.seen} lines={part.lines} ms={reading.seen_ms} />
        {part.kind === 'hunk' && <CanaryMark state={state} index={index} />}
        <Button size="small" tone="quiet" tabIndex={-1} onClick={() => askComment(state, index)} children="Comment" />
      </header>
      {part.kind === 'hunk' ? (
        chunksOf(part).map((from) => <Rows key={from} hunk={part} index={index} from={from} reading={reading} />)
      ) : (
        <div class="item">
          <p>
            {part.from !== undefined && <>from {visible(part.from)}, </>}
            {visible(part.detail)}
          </p>
          <button
            type="button"
            tabIndex={-1}
            aria-disabled={standing === 'read'}
            onClick={() => acknowledge(state, index)}
          >
            {standing === 'read' ? 'Acknowledged' : 'Acknowledge'} <kbd>a</kbd>
          </button>
        </div>
      )}
      <Comments state={state} path={part.path} lines={part.kind === 'hunk' ? linesOf(part) : null} />
      {state.commenting.value === index && (
        <CommentForm
          state={state}
          path={part.path}
          line={part.kind === 'hunk' ? firstLine(part) : null}
          onClose={() => {
            state.commenting.value = null
            document.getElementById(`part-${index}`)?.focus({ preventScroll: true })
          }}
        />
      )}
    </section>
  )
}

/** Marks a hunk as none of the change, in a review with a canary. Once the canary is disclosed it says which one that was. */
function CanaryMark({ state, index }: { state: ReviewState; index: number }) {
  const { canary, isDisclosed, marked } = state
  if (canary === null) return null
  if (isDisclosed.value) return index === canary ? <span class="badge neutral">no part of the change</span> : null
  const isMarked = marked.value === index
  return (
    <Button size="small" tone="quiet" tabIndex={-1} pressed={isMarked} onClick={() => toggleMark(state, index)}>
      {isMarked ? 'Marked: no part of the change' : 'No part of the change?'}
    </Button>
  )
}

/** Marks the one hunk that the reviewer takes for none of the change, or takes the mark back. */
export function toggleMark({ canary, isDisclosed, marked, parts }: ReviewState, index: number): void {
  if (canary === null || isDisclosed.value || parts[index]?.kind !== 'hunk') return
  marked.value = marked.value === index ? null : index
}

/** Opens the form for a comment on a part. */
export function askComment({ commenting }: ReviewState, index: number): void {
  commenting.value = index
}

/** Marks an item as known to the reviewer. Hunks are read, not acknowledged. */
export function acknowledge({ parts, acknowledged }: ReviewState, index: number): void {
  const part = parts[index]
  if (part && part.kind !== 'hunk') acknowledged.value = new Set([...acknowledged.value, part.digest])
}

function StandingBadge(props: { standing: Standing; seen: number; lines: number; ms: number }) {
  const { standing, seen, lines, ms } = props
  const tone = standing === 'read' ? 'good' : 'warn'
  const part = standing === 'glanced' ? ` ${seen} of ${lines} lines,` : ''
  return (
    <span class={`badge ${standing === 'glanced' ? 'neutral' : tone}`}>
      {standing === 'glanced' ? 'glanced,' : standing}
      {part}
      {ms > 0 && ` ${(ms / 1000).toFixed(1)} s`}
      {standing === 'unread' && `, ${lines} ${lines === 1 ? 'line' : 'lines'}`}
    </span>
  )
}

const chunksOf = ({ rows }: Hunk): number[] =>
  Array.from({ length: Math.ceil(rows.length / CHUNK) }, (_, at) => at * CHUNK)

/** Names the lines of a hunk as `diff` does. */
function rangeOf({ rows }: Hunk): string {
  const side = (numbers: (number | null)[]) => {
    const there = numbers.filter((number) => number !== null)
    return `${there[0] ?? 0},${there.length}`
  }
  return `@@ −${side(rows.map((row) => row.old))} +${side(rows.map((row) => row.new))} @@`
}

/** Lines of the new file, else of the old one, at which comments on a hunk stand. */
export function linesOf({ rows }: Hunk): [number, number] {
  const numbers = rows.flatMap((row) => row.new ?? row.old ?? [])
  return [numbers[0] ?? 1, numbers.at(-1) ?? 1]
}

const firstLine = ({ rows }: Hunk): number | null => {
  const row = rows.find(({ kind }) => kind === '+') ?? rows.find(({ kind }) => kind === '-')
  return row?.new ?? row?.old ?? null
}
