import type { Kysely, Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { newId } from '../text/ids.ts'
import { giveWay } from '../wire/give-way.ts'
import { type Assessed, type Assessment, Attestation, type AttestationRules, assess } from './attestation.ts'
import type { GazeSession } from './gaze-session.ts'
import type { GazeSource } from './tensor.ts'

/** How attestations are issued. */
export interface AttestationTerms extends AttestationRules {
  /** The newest records that are assessed, of raw samples one a tick; older ones no longer count. */
  windowRecords: number
  /** How long an attestation is valid, in seconds. */
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
 * What the records which an attestation covers show, as of when it was issued and of as many as were needed then: what the
 * attestation says, unless one of them or itself was changed.
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
 * What the assessment needs of the newest among a session's first `upTo` records, read from columns: parsing whole tensors
 * would take most of its time. Of raw samples one a tick is read, so that a thousand records span 16 s or more at any rate.
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
