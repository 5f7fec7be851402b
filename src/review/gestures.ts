import type { GazeTensor } from '../gaze/tensor.ts'

/** Acts of a reviewer on lines: a pointer that rests on them, their selection, and a comment on them. */
const GESTURES = ['pointer', 'selection', 'comment'] as const
type GestureKind = (typeof GESTURES)[number]

/** An act on lines of a file, or on all of it. */
export interface Gesture {
  kind: GestureKind
  path: string
  lines: [first: number, last: number] | null
  dwell_ms: number
}

/** Counts of the acts on a hunk or an item. */
export interface GestureCounts {
  pointer_ms: number
  selections: number
  comments: number
}

/** Returns the `app` of a gaze record that says such an act. */
export const appOf = (kind: GestureKind): string => `review:${kind}`

/**
 * Reads an act out of a gaze record; null for a record of attention. Acts earn no visible time and are no evidence of a
 * person: a script can move a pointer.
 */
export function gestureOf({ dwell_ms, env }: Pick<GazeTensor, 'dwell_ms' | 'env'>): Gesture | null {
  const { app, path, line_start, line_end = line_start } = env
  const kind = GESTURES.find((each) => appOf(each) === app)
  if (kind === undefined || path === undefined) return null
  const lines: Gesture['lines'] = line_start === undefined || line_end === undefined ? null : [line_start, line_end]
  return { kind, path, lines, dwell_ms }
}

/** Adds an act to the counts. */
export function countGesture(counts: GestureCounts, { kind, dwell_ms }: Gesture): void {
  if (kind === 'pointer') counts.pointer_ms += dwell_ms
  else if (kind === 'selection') counts.selections++
  else counts.comments++
}
