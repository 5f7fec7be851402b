import type { Kysely, Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { newId } from '../text/ids.ts'
import { giveWay } from '../wire/give-way.ts'
import { type Assessed, type Assessment, Attestation, type AttestationRules, assess } from './attestation.ts'
import type { GazeSession } from './gaze-session.ts'
import type { GazeSource } from './tensor.ts'

/** Settings of attestations. */
export interface AttestationTerms extends AttestationRules {
  /** The newest records that are assessed, of raw samples one a tick; older ones no longer count. */
  windowRecords: number
  /** Validity of an attestation in seconds. */
  maxAgeSeconds: number
}

/** A record as it is assessed, with the time at which it arrived. */
export type StoredRecord = Assessed & { stored_at: string }

/** Assesses the session's newest records and stores what came out, bound to the head of its hash chain. */
export async function issueAttestation(
  trx: Transaction<Schema>,
  session: GazeSession,
  terms: AttestationTerms,
  now: Date,
): Promise<Attestation> {
  const window = await newestRecords(trx, session.session_id, session.records, terms.windowRecords)
  await giveWay()
  const attestation: Attestation = {
    id: newId('att'),
    session_id: session.session_id,
    task_id: session.task_id,
    ...assess(window, session.records, terms, now),
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

/**
 * Assesses the records of an attestation again, as of the time it was issued and with the thresholds of then. The
 * result equals the attestation unless one of the records or the attestation was changed.
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
  return row === undefined ? null : Attestation.parse(JSON.parse(row.body))
}

/**
 * Reads the columns that the assessment needs of the newest among a session's first `upTo` records. Parsing whole
 * tensors would take most of the time. Reads one raw sample per tick, so that a thousand records span at least 16 s at
 * any rate.
 */
async function newestRecords(
  db: Kysely<Schema>,
  sessionId: string,
  upTo: number,
  limit: number,
): Promise<StoredRecord[]> {
  const rows = await db
    .selectFrom('gaze_records')
    .select(['at', 'stored_at', 'dwell_ms', 'source', 'confidence', 'x', 'y', 'copied'])
    .where('session_id', '=', sessionId)
    .where('seq', '<=', upTo)
    .where('tick', 'is not', null)
    .orderBy('tick', 'desc')
    .orderBy('at', 'desc')
    .orderBy('source', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ x, y, ...row }) => ({
    ...row,
    source: row.source as GazeSource,
    env: x === null || y === null ? {} : { x, y },
    copied: row.copied === 1,
  }))
}
