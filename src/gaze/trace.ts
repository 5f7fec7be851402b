import { type Fixation, identifyFixations, MIN_FIXATION_MS } from './fixations.ts'
import type { Sample } from './scanpath.ts'
import { median } from './statistics.ts'
import { type TraceHashes, traceHashes } from './trace-hash.ts'

/** Neighbouring rests per trace. */
const TRACE_RESTS = 5
/** Neighbours on each side that smooth a raw sample, and their largest distance in ms. */
const SMOOTHED_BESIDE = 2
const SMOOTHED_MS = 40
/** Fixations join into one rest up to this distance, as a share of the screen, and up to this pause in ms. */
const JOINED_APART = 0.035
const JOINED_MS = 100
/** Largest difference of one fixation's position in two traces, on each axis, as a share of the screen: about 1°. */
const SAME_PLACE = 0.02
/**
 * Largest difference of one fixation's times in two traces: the larger of 40 ms (30 samples a second) and this share.
 */
const SAME_TIME_MS = 40
const SAME_TIME_SHARE = 0.15

/** One rest of a trace: mean position (null without one), duration, and time since the trace began. */
export type TraceStep = readonly [x: number | null, y: number | null, durationMs: number, offsetMs: number]

/** `TRACE_RESTS` neighbouring rests of one source. */
export interface Trace extends TraceHashes {
  start_ms: number
  end_ms: number
  steps: readonly TraceStep[]
}

/**
 * Finds the traces of one scanpath that are affected by records since `sinceMs`. These are the traces whose last rest
 * lasted until then, and the `TRACE_RESTS` traces before them, which share rests with them.
 *
 * Nearly equal traces cannot be indexed, so a copy is found in two steps. Its hashes lead to the original;
 * `isSameTrace` then compares the steps. Every rest is in five traces: when noise changes the hash of some, the others
 * still cover it.
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

/** Tells whether two traces show the same rests at different times: places, durations and intervals are similar. */
export function isSameTrace(one: readonly TraceStep[], other: readonly TraceStep[]): boolean {
  if (one.length !== other.length) return false
  return one.every(([x, y, duration, offset], i) => {
    const [otherX = null, otherY = null, otherDuration = 0, otherOffset = 0] = other[i] ?? []
    const interval = offset - (one[i - 1]?.[3] ?? 0)
    const otherInterval = otherOffset - (other[i - 1]?.[3] ?? 0)
    return (
      isSamePlace(x, otherX) &&
      isSamePlace(y, otherY) &&
      isSameTime(storedTime(duration), storedTime(otherDuration)) &&
      isSameTime(storedTime(interval), storedTime(otherInterval))
    )
  })
}

/** Bytes of a step in the store. */
const STEP_BYTES = 7
/** Value of a place without a position; a share of the screen is stored in 1/4094. */
const UNPLACED = 4095
const PLACES = 4094
/** Unit of the times of a step in ms, and the greatest value. */
const TIME_UNIT_MS = 4
const MAX_TIME = 65_535

/** Time as a step in the store has it: no longer than 262 s. */
const storedTime = (ms: number): number => Math.min(ms, TIME_UNIT_MS * MAX_TIME)

/** Writes steps as bytes: x and y in 12 bits each, duration and time since the step before in 16 bits each. */
export function writeSteps(steps: readonly TraceStep[]): Buffer {
  const bytes = Buffer.alloc(STEP_BYTES * steps.length)
  const place = (share: number | null) => (share === null ? UNPLACED : Math.round(PLACES * share))
  const time = (ms: number) => Math.max(0, Math.min(MAX_TIME, Math.round(ms / TIME_UNIT_MS)))
  for (const [i, [x, y, duration, offset]] of steps.entries()) {
    bytes.writeUIntBE(place(x) * 4096 + place(y), STEP_BYTES * i, 3)
    bytes.writeUInt16BE(time(duration), STEP_BYTES * i + 3)
    bytes.writeUInt16BE(time(offset - (steps[i - 1]?.[3] ?? 0)), STEP_BYTES * i + 5)
  }
  return bytes
}

/** Reads the steps that `writeSteps` wrote. Places are exact to 0.00013 of the screen, times to 2 ms up to 262 s. */
export function readSteps(stored: Uint8Array): TraceStep[] {
  const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength)
  const share = (place: number) => (place === UNPLACED ? null : place / PLACES)
  let offset = 0
  return Array.from({ length: bytes.length / STEP_BYTES }, (_, i) => {
    const places = bytes.readUIntBE(STEP_BYTES * i, 3)
    offset += TIME_UNIT_MS * bytes.readUInt16BE(STEP_BYTES * i + 5)
    const duration = TIME_UNIT_MS * bytes.readUInt16BE(STEP_BYTES * i + 3)
    return [share(Math.floor(places / 4096)), share(places % 4096), duration, offset] as const
  })
}

/**
 * Finds the rests of the gaze, except the last, which may go on. Fixations a short saccade apart are one rest: noise
 * decides whether they are separate, and a copy has other noise.
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
 * Replaces each raw sample by the median of it and its neighbours, on each axis. Otherwise noise would split fixations
 * at one place in the original and at another in a copy. A median of five keeps the edges of saccades (Stampe 1993).
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
