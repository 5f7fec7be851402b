import { type Fixation, identifyFixations, MIN_FIXATION_MS } from './fixations.ts'
import type { Sample } from './scanpath.ts'
import { median } from './statistics.ts'
import { type TraceHashes, traceHashes } from './trace-hash.ts'

/** Neighbouring rests per trace. */
const TRACE_RESTS = 5
/** A raw sample is smoothed with so many on either side, at most so far away in ms. */
const SMOOTHED_BESIDE = 2
const SMOOTHED_MS = 40
/** Fixations are one rest that are no further apart than this share of the screen, with no longer pause between them in ms. */
const JOINED_APART = 0.035
const JOINED_MS = 100
/** Positions of the same fixation differ by no more on each axis, as a share of the screen: about 1°. */
const SAME_PLACE = 0.02
/** Times of the same fixation differ by no more than the larger of the two: ms (30 samples a second), and a share. */
const SAME_TIME_MS = 40
const SAME_TIME_SHARE = 0.15

/** One rest of a trace: mean position (null where its source gives none), duration, and time since the trace began. */
export type TraceStep = readonly [x: number | null, y: number | null, durationMs: number, offsetMs: number]

/** `TRACE_RESTS` neighbouring rests of one source. */
export interface Trace extends TraceHashes {
  start_ms: number
  end_ms: number
  steps: readonly TraceStep[]
}

/**
 * The traces of one scanpath that end about `sinceMs` or later: those whose last rest lasted until then, and the `TRACE_RESTS`
 * before these, which share rests with them.
 *
 * A copy is found in two steps, since there is no index of what is nearly alike. Its hashes lead to the original; `isSameTrace`
 * then compares the steps. Every rest is in five traces, so that those whose hash noise changes leave it covered.
 *
 * @param path one scanpath, in order of time
 */
export function tracesOf(path: readonly Sample[], sinceMs: number): Trace[] {
  const rests = restsOf(path)
  const firstNew = rests.findIndex((rest) => rest.end_ms >= sinceMs)
  const from = (firstNew === -1 ? rests.length : firstNew) - TRACE_RESTS
  const traces: Trace[] = []
  for (let last = Math.max(from, TRACE_RESTS - 1); last < rests.length; last++) {
    const trace = toTrace(rests.slice(last - TRACE_RESTS + 1, last + 1))
    if (trace !== null) traces.push(trace)
  }
  return traces
}

/** Tells whether two traces show the same rests, moved in time: places, durations and intervals are alike. */
export function isSameTrace(one: readonly TraceStep[], other: readonly TraceStep[]): boolean {
  if (one.length !== other.length) return false
  return one.every(([x, y, duration, offset], i) => {
    const [otherX = null, otherY = null, otherDuration = 0, otherOffset = 0] = other[i] ?? []
    const interval = offset - (one[i - 1]?.[3] ?? 0)
    const otherInterval = otherOffset - (other[i - 1]?.[3] ?? 0)
    return (
      isSamePlace(x, otherX) &&
      isSamePlace(y, otherY) &&
      isSameTime(duration, otherDuration) &&
      isSameTime(interval, otherInterval)
    )
  })
}

/**
 * Finds the rests of the gaze, except the last, which may go on. Fixations a short saccade apart are one rest, because
 * noise decides whether they are separate, and noise differs in a copy.
 */
function restsOf(path: readonly Sample[]): Fixation[] {
  const rests: Rest[] = []
  for (const fixation of identifyFixations(smoothed(path))) {
    const last = rests.at(-1)
    if (last !== undefined && isBeside(last.newest, fixation)) rests[rests.length - 1] = joined(last, fixation)
    else rests.push({ ...fixation, newest: fixation })
  }
  const last = rests.at(-1)
  return last === undefined || last.x === null ? rests : rests.slice(0, -1)
}

type Rest = Fixation & { newest: Fixation }

function isBeside(one: Fixation, next: Fixation): boolean {
  if (one.x === null || one.y === null || next.x === null || next.y === null) return false
  return next.start_ms - one.end_ms <= JOINED_MS && Math.hypot(next.x - one.x, next.y - one.y) <= JOINED_APART
}

function joined(rest: Rest, next: Fixation): Rest {
  const [had, more] = [rest.end_ms - rest.start_ms, next.end_ms - next.start_ms]
  const mean = (one: number | null, other: number | null) => ((one ?? 0) * had + (other ?? 0) * more) / (had + more)
  return { ...rest, end_ms: next.end_ms, x: mean(rest.x, next.x), y: mean(rest.y, next.y), newest: next }
}

/**
 * The path with every raw sample in the middle of it and its neighbours, on each axis: noise would divide fixations in one
 * place in the original and in another in a copy. A median of five keeps the edges of saccades (Stampe 1993).
 */
function smoothed(path: readonly Sample[]): Sample[] {
  return path.map((record, i) => {
    if (record.dwell_ms >= MIN_FIXATION_MS) return record
    const near = path.slice(Math.max(0, i - SMOOTHED_BESIDE), i + SMOOTHED_BESIDE + 1)
    const beside = near.filter(
      ({ at, dwell_ms }) =>
        dwell_ms < MIN_FIXATION_MS && Math.abs(Date.parse(at) - Date.parse(record.at)) <= SMOOTHED_MS,
    )
    return { ...record, env: { ...middle(beside, 'x'), ...middle(beside, 'y') } }
  })
}

function middle(samples: readonly Sample[], axis: 'x' | 'y'): { x?: number; y?: number } {
  const value = median(samples.map(({ env }) => env[axis]).filter((share) => share !== undefined))
  return value === null ? {} : { [axis]: value }
}

function toTrace(fixations: readonly Fixation[]): Trace | null {
  const hashes = traceHashes(fixations)
  if (hashes === null) return null
  const start_ms = fixations[0]?.start_ms ?? 0
  const end_ms = fixations.at(-1)?.end_ms ?? 0
  const steps = fixations.map(
    ({ x, y, start_ms: from, end_ms: to }) => [rounded(x), rounded(y), to - from, from - start_ms] as const,
  )
  return { ...hashes, start_ms, end_ms, steps }
}

function rounded(share: number | null): number | null {
  return share === null ? null : Number(share.toFixed(4))
}

function isSamePlace(one: number | null, other: number | null): boolean {
  if (one === null || other === null) return one === other
  return Math.abs(one - other) <= SAME_PLACE
}

function isSameTime(one: number, other: number): boolean {
  return Math.abs(one - other) <= Math.max(SAME_TIME_MS, SAME_TIME_SHARE * Math.max(one, other))
}
