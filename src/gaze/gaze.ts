import type { Kysely } from 'kysely'
import { z } from 'zod'
import { GazewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Page } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { type AttestationTerms, issueAttestation, latestAttestation } from './attest.ts'
import { Attestation } from './attestation.ts'
import { Classification, classify, formatClassification } from './classification.ts'
import { type DwellQuery, type PlaceDwell, readDwell } from './dwell.ts'
import { Finding, findFindings } from './findings.ts'
import { type GazeRange, newestInRange, type RetrieveGaze, retrieveRecords } from './history.ts'
import { appendRecords } from './ingest.ts'
import { computeMetrics, GazeMetrics } from './metrics.ts'
import { lockSession } from './session.ts'
import { type GazeRecord, GazeTensor } from './tensor.ts'

/** The newest records that one analysis reads. */
const ANALYSED_RECORDS = 10_000

const identifier = z.string().min(1).max(128)

/** Records to store, in a new session when none is named. */
export const StoreGaze = z.object({
  session_id: identifier.optional().describe('The session to add to; a new one is made when absent.'),
  task_id: identifier
    .optional()
    .describe('The task that the attention is for; a session is bound to one task or none.'),
  records: z.array(GazeTensor).min(1).max(1000),
})
export type StoreGaze = z.infer<typeof StoreGaze>

/** What storing did: how many records were new, how many were there already, and how far the session is proof of attention. */
export const StoredGaze = z.object({
  session_id: z.string(),
  stored: z.int(),
  duplicates: z.int(),
  attestation: Attestation,
})
export type StoredGaze = z.infer<typeof StoredGaze>

/** The figures of some records and what stands out in them. `truncated`: the range has more records than were read. */
export const GazeAnalysis = z.object({
  metrics: GazeMetrics,
  classification: Classification,
  tensor: z.string().describe('The classification in one line: COG:0.62/EMO:0.14/ENV:0.24'),
  findings: z.array(Finding),
  truncated: z.boolean(),
})
export type GazeAnalysis = z.infer<typeof GazeAnalysis>

/** Where a person's attention was: stored, read back, analysed, attested and summed by place. */
export interface Gaze {
  /**
   * Stores records in one transaction and issues an attestation for their session.
   *
   * @throws GazewayError `conflict` when the session is bound to another task
   */
  store(input: StoreGaze): Promise<StoredGaze>
  /** @throws GazewayError `invalid_cursor` */
  retrieve(query: RetrieveGaze): Promise<Page<GazeRecord>>
  /**
   * Analyses the newest 10,000 records of a range; the same records always give the same result.
   *
   * @throws GazewayError `not_found` when the session is unknown
   */
  analyze(range: GazeRange): Promise<GazeAnalysis>
  /**
   * The session's valid attestation; one is issued anew when the last has expired.
   *
   * @throws GazewayError `not_found` when the session is unknown
   */
  attestation(sessionId: string): Promise<Attestation>
  /** The attention by place in a project, the latest seen first. */
  dwell(query: DwellQuery): Promise<PlaceDwell[]>
}

/** The gaze service on a store. `now` is the clock that freshness and expiry go by. */
export function createGaze(deps: { store: Store; config: AttestationTerms; now: () => Date }): Gaze {
  const { store, config, now } = deps

  async function requireSession(db: Kysely<Schema>, sessionId: string) {
    const query = db.selectFrom('gaze_sessions').selectAll().where('session_id', '=', sessionId)
    const session = await query.executeTakeFirst()
    if (session !== undefined) return session
    throw new GazewayError('not_found', `There is no gaze session ${sessionId}; store records in it first.`, {
      param: 'session_id',
    })
  }

  return {
    store: (input) =>
      store.write(async (trx) => {
        const at = now()
        const sessionId = input.session_id ?? newId('ses')
        const locked = await lockSession(trx, sessionId, input.task_id, at.toISOString())
        const { session, stored } = await appendRecords(trx, locked, input.records)
        const attestation = await issueAttestation(trx, session, config, at)
        return { session_id: sessionId, stored, duplicates: input.records.length - stored, attestation }
      }),

    retrieve: (query) => retrieveRecords(store.db, query),

    async analyze(range) {
      if (range.session_id !== undefined) await requireSession(store.db, range.session_id)
      const read = await newestInRange(store.db, range, ANALYSED_RECORDS + 1)
      const records = read.slice(0, ANALYSED_RECORDS)
      const metrics = computeMetrics(records)
      const classification = classify(records)
      return {
        metrics,
        classification,
        tensor: formatClassification(classification),
        findings: findFindings(metrics),
        truncated: read.length > records.length,
      }
    },

    async attestation(sessionId) {
      await requireSession(store.db, sessionId)
      const valid = await latestAttestation(store.db, sessionId, now())
      if (valid !== null) return valid
      return store.write(async (trx) => issueAttestation(trx, await requireSession(trx, sessionId), config, now()))
    },

    dwell: (query) => readDwell(store.db, query),
  }
}
