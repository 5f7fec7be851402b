import * as z from 'zod'
import { AttentionEvidence, evidenceOf } from './attention-evidence.ts'
import { LEVELS } from './evidence-level.ts'
import { bridgedMs, samplingInterval } from './fixations.ts'
import { judgePlausibility, type Plausibility } from './plausibility.ts'
import { endOf, inOrder, type Sample } from './scanpath.ts'
import { greatest, rounded, weightedMean } from './statistics.ts'
import { GazeSource } from './tensor.ts'
import { type Timeline, timelineOf } from './timeline.ts'

const component = z.number().min(0).max(1)

/** A proof of attention: how far a session's records look like a person's present attention, and why. */
export const Attestation = z.object({
  id: z.string(),
  session_id: z.string(),
  task_id: z.string().nullable(),
  status: z.enum(['collecting', 'passed', 'failed']),
  poa_score: component,
  components: z.object({
    coverage: component,
    continuity: component,
    plausibility: component,
    confidence: component,
    freshness: component,
  }),
  evidence: AttentionEvidence,
  level: z
    .enum(LEVELS)
    .describe('What the evidence reaches. `seen` is the word of the client and never means a person.'),
  replayed: z.boolean().describe('The records were copied from another session.'),
  reasons: z.array(z.string()).describe('Why it has not passed, in plain words; empty when it has.'),
  records: z.int(),
  records_needed: z.int(),
  progress: component,
  chain_head: z.string().describe('Hash of the newest record it covers.'),
  issued_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
})
export type Attestation = z.infer<typeof Attestation>

/** An attestation as it was stored. An earlier one states neither evidence nor level: both follow from its other fields. */
export const StoredAttestation = Attestation.partial({ evidence: true, level: true }).transform(
  (stored): Attestation => ({
    ...stored,
    evidence: stored.evidence ?? evidenceOf({ ...stored.components, novelty: null }),
    level: stored.level ?? levelOf(stored),
  }),
)

/** Level of records: `none` before they are judged and for a replay, `plausible` once they pass. */
export function levelOf({ status, replayed }: Pick<Attestation, 'status' | 'replayed'>): Attestation['level'] {
  if (status === 'collecting' || replayed) return 'none'
  return status === 'passed' ? 'plausible' : 'seen'
}

/** Thresholds of an attestation. */
export interface AttestationRules {
  /** The score from which it passes, 0 to 1. */
  minScore: number
  /** Records that a session must have before it is judged. */
  recordsNeeded: number
  /** Time that the records must span before an assessment, in ms. */
  minDurationMs: number
}

/** The part of an attestation that follows from the records alone. */
export type Assessment = Pick<
  Attestation,
  'status' | 'poa_score' | 'components' | 'evidence' | 'level' | 'replayed' | 'reasons' | 'records_needed' | 'progress'
>

/** Fields of a record that an assessment reads. `copied`: another session stored its content, shape or trace before. */
export type Assessed = Sample & { confidence?: number | null | undefined; copied: boolean }

/**
 * Expected share of time with records, and the longest gap that is no interruption, by source. Conventions of this
 * project.
 *
 * People blink, look at the keyboard and think. A tracker sees eyes for at least half of a working session; an editor
 * notices a person only now and then.
 */
export const EXPECTED: Record<GazeSource, { observed: number; gapMs: number }> = {
  eye_tracker: { observed: 0.5, gapMs: 5_000 },
  webcam: { observed: 0.4, gapMs: 5_000 },
  pointer: { observed: 0.25, gapMs: 15_000 },
  ide: { observed: 0.25, gapMs: 60_000 },
  manual: { observed: 0.1, gapMs: 60_000 },
}

/** Exponents of the score; they sum to 1. */
export const WEIGHTS = { coverage: 0.2, continuity: 0.15, plausibility: 0.4, confidence: 0.15, freshness: 0.1 }
const COMPONENTS = ['coverage', 'continuity', 'plausibility', 'confidence', 'freshness'] as const

/** After this time the freshness of a session is a half. */
export const HALF_LIFE_MS = 15 * 60_000
/** Largest difference between two clocks. */
export const CLOCK_SKEW_MS = 60_000
/** Latest start of a record at `now`; a later one lies in the future. */
export const latestPresent = (now: Date): Date => new Date(now.getTime() + CLOCK_SKEW_MS)
/** Copied records count as a replay when they reach both this number and this share. */
export const REPLAY_RECORDS = 5
export const REPLAY_SHARE = 0.2
/** Confidence of a record whose source states none: neither sure nor unsure. A convention of this project. */
const UNSTATED_CONFIDENCE = 0.5
/** A component or check below this is named among the reasons of a failure. */
const LOW = 0.5

/**
 * Assesses the newest records of one session.
 *
 *   poa_score = coverage^0.20 · continuity^0.15 · plausibility^0.40 · confidence^0.15 · freshness^0.10
 *
 * The score is a weighted geometric mean: a component of 0 makes it 0, and a strong component cannot make up for a
 * missing one. Each component is 0 to 1; without records all are 0:
 *
 * - coverage = min(1, records / needed) · min(1, observed / (expected · span))
 *   - `observed`: time inside a dwell, or in a gap of at most 75 ms (or 1.5 sampling intervals, if that is more)
 *   - `span`: from the first record to the end of the last
 *   - `expected`: the share of time that the main source should see
 * - continuity = 1 − (time in gaps longer than its main source may leave) / span
 * - plausibility: see `judgePlausibility`
 * - confidence: mean of the records' own confidence, weighted by dwell; a record without one counts as 0.5
 * - freshness = 2^(−age / 15 min); age is the time since the end of the newest record. 0 when a record begins more than
 *   a minute in the future
 *
 * Status:
 * - `collecting` until there are enough records over enough time
 * - `passed` when the score suffices and the records are no replay
 * - `failed` otherwise
 *
 * Records are a replay when at least 5 of them, and at least a fifth of them, are `copied`.
 * @param records the newest records of a session, in any order
 * @param total how many records the session has altogether
 */
export function assess(records: readonly Assessed[], total: number, rules: AttestationRules, now: Date): Assessment {
  const ordered = inOrder(records)
  const main = EXPECTED[mainSource(ordered)]
  const bridged = bridgedMs(samplingInterval(ordered))
  const timeline = timelineOf(ordered, { longest: main.gapMs, bridged })
  const plausibility = judgePlausibility(ordered)
  const progress = Math.min(1, total / rules.recordsNeeded)
  const weights = ordered.map((record) => record.dwell_ms)
  const confidences = ordered.map((record) => record.confidence ?? UNSTATED_CONFIDENCE)
  const components = {
    coverage: rounded(progress * coverage(timeline, main.observed), 4),
    continuity: rounded(continuity(timeline), 4),
    plausibility: rounded(plausibility.score, 4),
    confidence: rounded(weightedMean(confidences, weights) ?? 0, 4),
    freshness: rounded(freshness(ordered, now), 4),
  }
  const poa_score = rounded(combine(components), 4)
  const replayed = isReplay(ordered)

  const missing: string[] = []
  if (total < rules.recordsNeeded) missing.push(`${total} of the ${rules.recordsNeeded} records needed so far`)
  if (timeline.span_ms < rules.minDurationMs)
    missing.push(`the records span ${timeline.span_ms} ms; ${rules.minDurationMs} ms are needed`)
  const faults: string[] = []
  if (replayed) faults.push('the records were copied from another session')
  if (poa_score < rules.minScore) faults.push(...weaknesses(poa_score, rules.minScore, components, plausibility))
  const status = statusOf(missing, faults)
  return {
    status,
    poa_score,
    components,
    evidence: evidenceOf({
      coverage: ordered.length === 0 ? null : components.coverage,
      plausibility: plausibility.isMeasured ? components.plausibility : null,
      novelty: replayed ? 0 : null,
    }),
    level: levelOf({ status, replayed }),
    replayed,
    reasons: [...missing, ...faults],
    records_needed: rules.recordsNeeded,
    progress: rounded(progress, 4),
  }
}

function statusOf(missing: readonly string[], faults: readonly string[]): Attestation['status'] {
  if (missing.length > 0) return 'collecting'
  return faults.length > 0 ? 'failed' : 'passed'
}

function coverage({ span_ms, observed_ms }: Timeline, expected: number): number {
  return span_ms > 0 ? Math.min(1, observed_ms / (expected * span_ms)) : 0
}

function continuity({ span_ms, interrupted_ms }: Timeline): number {
  return span_ms > 0 ? 1 - interrupted_ms / span_ms : 0
}

function freshness(records: readonly Sample[], now: Date): number {
  const newest = records.at(-1)
  if (newest === undefined || Date.parse(newest.at) > latestPresent(now).getTime()) return 0
  const age = Math.max(0, now.getTime() - greatest(records.map(endOf)))
  return 2 ** (-age / HALF_LIFE_MS)
}

function combine(components: Attestation['components']): number {
  return COMPONENTS.reduce((score, name) => score * components[name] ** WEIGHTS[name], 1)
}

function isReplay(records: readonly Assessed[]): boolean {
  const copied = records.filter((record) => record.copied).length
  return copied >= REPLAY_RECORDS && copied >= REPLAY_SHARE * records.length
}

/** The source of most records. A tie goes to the less direct source. */
function mainSource(records: readonly Sample[]): GazeSource {
  const counts = GazeSource.options.map((source) => records.filter((record) => record.source === source).length)
  return GazeSource.options[counts.lastIndexOf(greatest(counts))] ?? 'manual'
}

function weaknesses(
  score: number,
  minScore: number,
  components: Attestation['components'],
  plausibility: Plausibility,
): string[] {
  const low = COMPONENTS.filter((name) => components[name] < LOW).map((name) => `${name} is ${components[name]}`)
  const odd = new Set(plausibility.checks.filter((check) => check.score < LOW).map((check) => check.name))
  const unlike = odd.size > 0 ? [`unlike a person in: ${[...odd].join(', ')}`] : []
  return [`the score ${score} is below ${minScore}`, ...low, ...unlike]
}
