import type { Kysely, Transaction } from 'kysely'
import type { GazeLevel } from '../config/sections/gaze-section.ts'
import type { Schema } from '../store/schema.ts'
import { newId } from '../text/ids.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { evidenceOf } from './attention-evidence.ts'
import {
  type Assessed,
  type Assessment,
  type Attestation,
  type AttestationRules,
  assess,
  levelOf,
  StoredAttestation,
} from './attestation.ts'
import type { GazeSession } from './gaze-session.ts'
import { greatestLikeness, NEAR_COPY } from './near-copies.ts'
import { countedTick, type PackedRecord } from './record-pack.ts'
import { packsBack } from './record-packs.ts'
import { rounded } from './statistics.ts'
import { sketchOf } from './trace-sketch.ts'

/** Settings of attestations. */
export interface AttestationTerms extends AttestationRules {
  /** Newest records that are assessed. Raw samples count once a tick. */
  windowRecords: number
  /** Validity of an attestation in seconds. */
  maxAgeSeconds: number
  /** Least level of evidence of a use that names none; `plausible` by default. */
  requiredLevel?: GazeLevel
}

/** Fields of a record that an assessment reads, with its time of arrival. */
export type StoredRecord = Assessed & { stored_at: string }

/** Assesses the session's newest records and stores the attestation, bound to the head of the session's hash chain. */
export async function issueAttestation(
  trx: Transaction<Schema>,
  session: GazeSession,
  terms: AttestationTerms,
  now: Date,
): Promise<Attestation> {
  const window = await newestRecords(trx, session.session_id, session.records, terms.windowRecords)
  await yieldToEventLoop()
  const assessment = assess(window, session.records, terms, now)
  const sketch = assessment.status === 'collecting' ? null : sketchOf(window)
  await keepSketch(trx, session.session_id, sketch)
  const attestation: Attestation = {
    id: newId('att'),
    session_id: session.session_id,
    task_id: session.task_id,
    ...(await comparedWithOthers(trx, session, sketch, assessment)),
    records: session.records,
    chain_head: session.chain_head,
    issued_at: now.toISOString(),
    expires_at: new Date(now.getTime() + terms.maxAgeSeconds * 1000).toISOString(),
  }
  const { id, session_id, task_id, status, poa_score, issued_at, expires_at } = attestation
  const row = { id, session_id, task_id, status, poa_score, issued_at, expires_at, body: JSON.stringify(attestation) }
  await trx.insertInto('attestations').values(row).execute()
  return attestation
}

/** An assessment, and the sketch to keep for the session with `keepSketch`; null where nothing moves. */
export interface AssessedPart {
  assessment: Assessment
  sketch: string | null
}

/**
 * Assesses some records of a session by themselves, as an attestation assesses the newest ones. Nothing is stored.
 *
 * Records of followed eyes are judged without the others once they are enough for an assessment: the views of a page come at its
 * own pace, and would say that eyes beside them are a program's. The others may then be no copy of another session.
 */
export async function assessAlone(
  db: Kysely<Schema>,
  stream: Stream,
  records: readonly PackedRecord[],
  terms: AttestationTerms,
  now: Date,
): Promise<AssessedPart> {
  const judge = (part: readonly PackedRecord[]) => assessPart(db, stream, part, terms, now)
  const eyes = await judge(records.filter(isOfEyes))
  if (eyes.assessment.status === 'collecting') return judge(records)
  const { assessment: others } = await judge(records.filter((record) => !isOfEyes(record)))
  const isCopy = others.replayed || (others.status === 'failed' && others.poa_score >= terms.minScore)
  return isCopy ? { ...eyes, assessment: besideCopy(eyes.assessment, others) } : eyes
}

const isOfEyes = ({ tensor: { source } }: PackedRecord): boolean => source === 'eye_tracker' || source === 'webcam'

async function assessPart(
  db: Kysely<Schema>,
  stream: Stream,
  records: readonly PackedRecord[],
  terms: AttestationTerms,
  now: Date,
): Promise<AssessedPart> {
  const window = newestOf(records, terms.windowRecords).map(assessedOf)
  const assessment = assess(window, records.length, terms, now)
  const sketch = assessment.status === 'collecting' ? null : sketchOf(window)
  return { assessment: await comparedWithOthers(db, stream, sketch, assessment), sketch }
}

/** Fails records beside which there is a copy, for its reasons and with its novelty. */
function besideCopy(assessment: Assessment, { replayed, evidence, reasons }: Assessment): Assessment {
  return {
    ...assessment,
    status: 'failed',
    level: levelOf({ status: 'failed', replayed }),
    replayed,
    evidence: evidenceOf({ ...assessment.evidence, novelty: evidence.novelty }),
    reasons: [...assessment.reasons, ...reasons],
  }
}

/** Keeps the sketch of a session, which later streams of its key are compared with. */
export async function keepSketch(trx: Transaction<Schema>, session_id: string, sketch: string | null): Promise<void> {
  if (sketch === null) return
  await trx.updateTable('gaze_sessions').set({ sketch }).where('session_id', '=', session_id).execute()
}

type Stream = Pick<GazeSession, 'session_id' | 'caller_id'>

/** Measures the novelty of a stream, and fails a near copy of another one of its key. */
async function comparedWithOthers(
  db: Kysely<Schema>,
  { session_id, caller_id }: Stream,
  sketch: string | null,
  assessment: Assessment,
): Promise<Assessment> {
  if (sketch === null || assessment.replayed) return assessment
  const likeness = await greatestLikeness(db, { session_id, caller_id }, sketch)
  const evidence = evidenceOf({ ...assessment.evidence, novelty: rounded(1 - likeness, 4) })
  if (assessment.status !== 'passed' || likeness < NEAR_COPY) return { ...assessment, evidence }
  const reason = `the records are nearly those of another session of the same key (likeness ${likeness})`
  return { ...assessment, evidence, status: 'failed', level: 'seen', reasons: [reason] }
}

/**
 * Assesses the records of an attestation again, for its time of issue and with its number of records needed. The result
 * equals the attestation unless one of the records or the attestation was changed.
 */
export function assessAgain(
  window: readonly Assessed[],
  { records, records_needed, issued_at }: Attestation,
  terms: AttestationTerms,
): Assessment {
  return assess(window, records, { ...terms, recordsNeeded: records_needed }, new Date(issued_at))
}

/** The records that an attestation was issued for. */
export const coveredRecords = (
  db: Kysely<Schema>,
  { session_id, records }: Attestation,
  { windowRecords }: AttestationTerms,
): Promise<StoredRecord[]> => newestRecords(db, session_id, records, windowRecords)

/** The session's newest attestation that is still valid at `now`, or null. */
export async function latestAttestation(db: Kysely<Schema>, sessionId: string, now: Date): Promise<Attestation | null> {
  const row = await db
    .selectFrom('attestations')
    .select('body')
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', now.toISOString())
    .orderBy('issued_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row === undefined ? null : StoredAttestation.parse(JSON.parse(row.body))
}

/**
 * Reads the newest among a session's first `upTo` records. Raw samples are read once a tick, so that a thousand of them
 * span at least 16 s at any sampling rate.
 */
async function newestRecords(
  db: Kysely<Schema>,
  sessionId: string,
  upTo: number,
  limit: number,
): Promise<StoredRecord[]> {
  let newest: Array<{ tick: number; record: PackedRecord }> = []
  for await (const pack of packsBack(db, { session_id: sessionId, task_id: null }, { upTo })) {
    const oldest = newest.length < limit ? undefined : newest.at(-1)
    if (oldest !== undefined && Date.parse(pack.to_at) < oldest.tick) break
    for (const record of pack.records) {
      const tick = countedTick(record)
      if (tick !== null && record.seq <= upTo) newest.push({ tick, record })
    }
    newest = newest.sort(byNewest).slice(0, limit)
  }
  return newest.map(({ record }) => assessedOf(record))
}

/** Takes the newest of some records, raw samples once a tick. */
function newestOf(records: readonly PackedRecord[], limit: number): PackedRecord[] {
  const counted = records.flatMap((record) => {
    const tick = countedTick(record)
    return tick === null ? [] : [{ tick, record }]
  })
  return counted
    .sort(byNewest)
    .slice(0, limit)
    .map(({ record }) => record)
}

function assessedOf({ tensor, stored_at, isCopied }: PackedRecord): StoredRecord {
  const { at, dwell_ms, source, confidence = null, env } = tensor
  const { x, y } = env
  return {
    at,
    stored_at,
    dwell_ms,
    source,
    confidence,
    env: x === undefined || y === undefined ? {} : { x, y },
    copied: isCopied,
  }
}

function byNewest(one: { tick: number; record: PackedRecord }, other: { tick: number; record: PackedRecord }): number {
  const [a, b] = [one.record.tensor, other.record.tensor]
  return other.tick - one.tick || order(b.at, a.at) || order(b.source, a.source)
}

function order(one: string, other: string): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}
