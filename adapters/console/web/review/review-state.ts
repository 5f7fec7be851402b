import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { PartReading, ReviewWithParts } from '../../../../src/review/review-record.ts'
import type { Comment, Level } from '../../../../src/review/statement.ts'
import type { OpenReview } from './review-api.ts'

type Part = ReviewWithParts['parts'][number]

/** Degree to which a part was read. An item that was acknowledged is read. */
export type Standing = 'read' | 'glanced' | 'unread'

/** A review on the page. Parts are named by their index. */
export interface ReviewState extends OpenReview {
  parts: readonly Part[]
  /** Reading of each part. Each is a signal of its own: a change draws its hunk alone. */
  readings: readonly ReadonlySignal<PartReading>[]
  activeMs: Signal<number>
  pace: Signal<Pick<ReviewWithParts['reading'], 'ms_per_line' | 'first_scan_ms'>>
  /** Level that a decision would have now. */
  level: Signal<Level>
  acknowledged: Signal<ReadonlySet<string>>
  comments: Signal<readonly Comment[]>
  /** Part with an open form for a comment. */
  commenting: Signal<number | null>
  /** Part that the keys act on. */
  current: Signal<number>
  /** Index of the canary among the parts; null where the review has none. It is in no sum. */
  canary: number | null
  /** Part that the reviewer marked as none of the change. */
  marked: Signal<number | null>
  /** Set once the page has said which part is the canary: from then on no mark changes. */
  isDisclosed: Signal<boolean>
  takeReading(reading: ReviewWithParts['reading']): void
}

/** Creates the state of the page. */
export function createReviewState(open: OpenReview): ReviewState {
  const { reading } = open.review
  const check = canaryIn(open.review)
  const canary = check && check.after + 1
  const parts = withCanary<Part>(open.review.parts, canary, check?.hunk)
  const readings = withCanary(reading.parts, canary, reading.canary).map((part) => signal(part))
  const activeMs = signal(reading.active_ms)
  const pace = signal<ReviewState['pace']['value']>(reading)
  const level = signal(reading.level)
  return {
    ...open,
    parts,
    readings,
    activeMs,
    pace,
    level,
    acknowledged: signal<ReadonlySet<string>>(new Set()),
    comments: signal<readonly Comment[]>([]),
    commenting: signal<number | null>(null),
    current: signal(0),
    canary,
    marked: signal<number | null>(null),
    isDisclosed: signal(false),
    takeReading({ active_ms, level: reached, ...newest }) {
      activeMs.value = active_ms
      pace.value = newest
      level.value = reached
      for (const [index, part] of withCanary(newest.parts, canary, newest.canary).entries()) {
        const kept = readings[index]
        if (kept && (kept.value.seen_ms !== part.seen_ms || kept.value.seen !== part.seen)) kept.value = part
      }
    },
  }
}

function canaryIn({ checks }: ReviewWithParts) {
  for (const check of checks) if (check.kind === 'canary') return check
  return null
}

/** Puts what belongs to the canary in its place among what belongs to the parts. */
const withCanary = <Of>(of: readonly Of[], index: number | null, own: Of | null | undefined): readonly Of[] =>
  index === null || !own ? of : of.toSpliced(index, 0, own)

/** Tells how far a part was read. */
export function standingOf({ parts, readings, acknowledged }: ReviewState, index: number): Standing {
  const part = parts[index]
  const reading = readings[index]?.value
  if (!part || !reading) return 'unread'
  if (part.kind !== 'hunk') return acknowledged.value.has(part.digest) ? 'read' : 'unread'
  if (reading.seen >= reading.lines) return 'read'
  return reading.seen_ms > 0 ? 'glanced' : 'unread'
}

/** Counts lines, acknowledged items included, and those that were read. The canary is none of them. */
export function linesRead(state: ReviewState, indexes: Iterable<number>): { lines: number; seen: number } {
  let [lines, seen] = [0, 0]
  for (const index of indexes) {
    const part = state.parts[index]
    if (!part || index === state.canary) continue
    lines += part.lines
    if (part.kind === 'hunk') seen += state.readings[index]?.value.seen ?? 0
    else if (state.acknowledged.value.has(part.digest)) seen += 1
  }
  return { lines, seen }
}
