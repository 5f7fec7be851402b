import { appOf, type Gesture } from '../../../../src/review/gestures.ts'
import { lineNumbersOf } from '../../../../src/review/line-numbers.ts'
import type { Comment } from '../../../../src/review/statement.ts'
import { isSeen, type LinesInView, LONGEST_GAP_MS, linesThat } from './in-view.ts'
import type { ReviewState } from './review-state.ts'

/** Time on one line after which a pointer rests there, in ms. */
const REST_MS = 300
/** Longest rest of one record, in ms. */
const LONGEST_REST_MS = 20_000
/** Time without a movement after which a pointer was left where it is, in ms. */
const LEFT_MS = 20_000

/** An act, and when it began by the page's clock, in ms. */
interface Act {
  source: 'pointer' | 'manual'
  since: number
  dwell_ms: number
  env: { app: string; path: string; line_start?: number; line_end?: number }
}

/** Watch for what a reviewer does on lines. */
interface GestureWatch {
  /** Looks where the pointer is, and what is selected. @param now null while nobody attends to the page */
  look(now: number | null): void
  stop(): void
}

/** Watches where the pointer rests, which lines are selected and which ones are commented on. */
export function watchGestures(state: ReviewState, add: (act: Act) => void): GestureWatch {
  const acted = (kind: Gesture['kind'], env: Omit<Act['env'], 'app'>, since: number, dwell_ms = 0) =>
    add({ source: kind === 'pointer' ? 'pointer' : 'manual', since, dwell_ms, env: { app: appOf(kind), ...env } })
  const pointer = watchPointer(state, (env, since, dwell_ms) => acted('pointer', env, since, dwell_ms))
  const lookAtSelection = watchSelection(state, (env, now) => acted('selection', env, now))
  const stopComments = watchComments(state, (env) => acted('comment', env, performance.timeOrigin + performance.now()))
  return {
    look(now) {
      pointer.look(now)
      if (now !== null) lookAtSelection(now)
    },
    stop() {
      pointer.stop()
      stopComments()
    },
  }
}

/** Finds stretches of time in which the pointer was on one line, and moved not long before. */
function watchPointer(state: ReviewState, onRest: (line: LinesInView, since: number, dwell_ms: number) => void) {
  let at: { x: number; y: number; moved: number } | null = null
  let rest: { line: LinesInView; since: number; until: number } | null = null
  const onMove = ({ clientX: x, clientY: y }: PointerEvent) => {
    at = { x, y, moved: performance.timeOrigin + performance.now() }
  }
  const onLeave = () => {
    at = null
  }
  const root = document.documentElement
  addEventListener('pointermove', onMove)
  root.addEventListener('pointerleave', onLeave)

  const lineBelow = (now: number): LinesInView | null => {
    if (at === null || now - at.moved > LEFT_MS) return null
    const hit = document.elementFromPoint(at.x, at.y)?.closest('.diff-line')
    return (hit && linesThat(state, (line) => line === hit && isSeen(line))[0]) ?? null
  }
  const end = () => {
    if (rest !== null && rest.until - rest.since >= REST_MS) onRest(rest.line, rest.since, rest.until - rest.since)
    rest = null
  }
  return {
    look(now: number | null) {
      const line = now === null ? null : lineBelow(now)
      if (now === null || line === null) return end()
      const isOn = rest !== null && isSame(rest.line, line) && now - rest.until <= LONGEST_GAP_MS
      if (rest === null || !isOn || now - rest.since > LONGEST_REST_MS) {
        end()
        rest = { line, since: now, until: now }
      } else rest.until = now
    },
    stop() {
      removeEventListener('pointermove', onMove)
      root.removeEventListener('pointerleave', onLeave)
    },
  }
}

const isSame = (one: LinesInView, other: LinesInView): boolean =>
  one.path === other.path && one.line_start === other.line_start

/** Tells each selection of lines once, when it is the same at two looks. */
function watchSelection(state: ReviewState, onSelected: (lines: LinesInView, now: number) => void) {
  let [latest, told] = ['[]', '[]']
  return (now: number) => {
    const selection = getSelection()
    const isEmpty = selection === null || selection.isCollapsed
    const lines = isEmpty ? [] : linesThat(state, (line) => selection.containsNode(line, true) && isSeen(line))
    const key = JSON.stringify(lines)
    if (key === latest && key !== told) {
      for (const each of lines) onSelected(each, now)
      told = key
    }
    latest = key
  }
}

/** Tells each new comment. One at a line that no hunk has is about its file. */
function watchComments({ comments, parts }: ReviewState, onComment: (env: Omit<Act['env'], 'app'>) => void) {
  let known: readonly Comment[] = comments.value
  return comments.subscribe((all) => {
    const added = all.filter((comment) => !known.includes(comment))
    known = all
    for (const { path, line } of added) {
      if (path === null) continue
      const isShown = parts.some(
        (part) =>
          part.kind === 'hunk' && part.path === path && lineNumbersOf(part.rows).some((place) => place === line),
      )
      onComment(line !== null && isShown ? { path, line_start: line, line_end: line } : { path })
    }
  })
}
