import './review.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Hunk } from '../../../../src/review/change-parts.ts'
import type { PartReading } from '../../../../src/review/review-record.ts'
import { type Coloured, colouredRows, languagesLoaded } from './highlight.ts'
import { visible } from './line-text.tsx'
import type { Standing } from './review-state.ts'

/** Rows that are drawn together, once they are near the screen. */
export const CHUNK = 100

/** Height of a row that is not wrapped, in px, as in the style sheet. */
const ROW_PX = 20

const onNear = new WeakMap<Element, (isNear: boolean) => void>()
const nearing = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) onNear.get(target)?.(isIntersecting)
  },
  { rootMargin: '1500px 0px' },
)

/** Chunks of rows that are drawn. */
export const drawnChunks = new Set<HTMLElement>()

/** A stretch of a hunk's rows. Far from the screen it is an empty box of their height. */
export function Rows({
  hunk,
  index,
  from,
  reading,
}: {
  hunk: Hunk
  index: number
  from: number
  reading: PartReading
}) {
  const box = useRef<HTMLDivElement>(null)
  const height = useRef<number | null>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    const element = box.current
    if (!element) return
    onNear.set(element, (near) => {
      if (near) drawnChunks.add(element)
      else {
        if (drawnChunks.delete(element)) height.current = element.getBoundingClientRect().height
      }
      setNear(near)
    })
    nearing.observe(element)
    return () => {
      nearing.unobserve(element)
      drawnChunks.delete(element)
    }
  }, [])
  const rows = hunk.rows.slice(from, from + CHUNK)
  const lines = useMemo(() => (isNear ? colouredRows(hunk.path, rows) : []), [isNear, languagesLoaded.value])
  const minHeight = isNear ? 0 : (height.current ?? rows.length * ROW_PX)
  return (
    <div ref={box} class="rows" data-part={index} data-from={from} style={{ minHeight: `${minHeight}px` }}>
      {isNear &&
        rows.map((row, at) => (
          <Line key={at} row={row} text={lines[at] ?? []} standing={standingAt(reading, from + at)} />
        ))}
    </div>
  )
}

const KINDS = { ' ': '', '+': 'added', '-': 'removed' } as const

function Line(props: { row: Hunk['rows'][number]; text: readonly Coloured[]; standing: Standing }) {
  const { row, text, standing } = props
  return (
    <div class={`diff-line ${KINDS[row.kind]} ${row.kind === ' ' ? '' : standing}`}>
      <span class="number">{row.old ?? ''}</span>
      <span class="number">{row.new ?? ''}</span>
      <span class="sign">{row.kind}</span>
      <code>
        {text.map(({ text: piece, classes }, at) =>
          classes === '' ? (
            visible(piece)
          ) : (
            <span key={at} class={classes}>
              {visible(piece)}
            </span>
          ),
        )}
        {!row.text.endsWith('\n') && <i class="no-end"> no newline at the end</i>}
      </code>
    </div>
  )
}

function standingAt({ unread, glanced }: PartReading, row: number): Standing {
  const isIn = ([first, last]: [number, number]) => first <= row && row <= last
  if (unread.some(isIn)) return 'unread'
  return glanced.some(isIn) ? 'glanced' : 'read'
}
