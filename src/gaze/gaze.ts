import { realpath } from 'node:fs/promises'
import type { Transaction } from 'kysely'
import * as z from 'zod'
import type { Base } from '../base.ts'
import type { CallContext } from '../calls/call-record.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Upstream } from '../inference/inference.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import { isWhole, WHOLE } from '../store/storable-text.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { newId } from '../text/ids.ts'
import { analyseRecords, type GazeAnalysis } from './analyse.ts'
import { appendRecords } from './append-records.ts'
import {
  type AssessedPart,
  type AttestationTerms,
  assessAlone,
  issueAttestation,
  keepSketch,
  latestAttestation,
} from './attest.ts'
import { Attestation, latestPresent } from './attestation.ts'
import { type DwellQuery, type PlaceDwell, readDwell } from './dwell.ts'
import type { ExplainedGaze, ExplainGaze } from './explain-gaze.ts'
import { type GazeRange, newestInRange, type RetrieveGaze, retrieveRecords } from './gaze-history.ts'
import { type AttestationQuery, findSession, lockSession } from './gaze-session.ts'
import { type GazeSessionQuery, type GazeSessionSummary, listGazeSessions } from './gaze-sessions.ts'
import { markCopies } from './mark-copies.ts'
import { NO_NARRATIVE, narrate } from './narrate.ts'
import { gazeSweeps } from './prune.ts'
import { readyRecords } from './ready-record.ts'
import type { PackedRecord } from './record-pack.ts'
import { packsInOrder } from './record-packs.ts'
import { type GazeRecord, SentTensor } from './tensor.ts'
import { createGazeVerifier, type GazeVerifier } from './verification.ts'

export type { Evidence } from './evidence.ts'

/** Maximum number of records that one analysis reads, the newest first. */
const ANALYSED_RECORDS = 10_000
/** Newest gaze records that an attestation assesses. */
const ATTESTED_RECORDS = 1000
/** Shortest time span of a session's records for an assessment, in milliseconds. */
const ATTESTED_DURATION_MS = 5000

/**
 * Ids without NUL and lone surrogates: both engines store them unchanged, so that two different ids never become equal.
 */
const identifier = z
  .string()
  .min(1)
  .max(128)
  .refine((id) => !id.includes('\0'), 'must not contain the NUL character')
  .refine(isWhole, WHOLE)

/** Records to store, in a new session when none is named. */
export const StoreGaze = z.object({
  session_id: identifier.optional().describe('Session to add to; default: a new one.'),
  task_id: identifier.optional().describe('Task that the attention is for; one per session.'),
  records: z.array(SentTensor).min(1).max(1000),
})
export type StoreGaze = z.infer<typeof StoreGaze>

/** Result of storing: counts of new and duplicate records, and the session's attestation. */
export const StoredGaze = z.object({
  session_id: z.string(),
  stored: z.int(),
  duplicates: z.int(),
  attestation: Attestation,
})
export type StoredGaze = z.infer<typeof StoredGaze>

/** Stores, reads, analyses and attests gaze records, and sums them by place. */
export interface Gaze {
  /**
   * Stores records in one transaction and issues an attestation for their session.
   *
   * @param input.root project of the relative paths. Without it their attention counts in every project
   * @param callerId storing key; only it and admins see the session on the platform. Absent for a tool on this machine
   * @param keep called with the result, in the same transaction
   * @throws GazewayError `conflict` when the session is another caller's, or bound to another task; `not_found` for a
   *   new session of an unknown task
   */
  store(
    input: StoreGaze & { root?: string },
    callerId?: string,
    chatsOf?: string,
    keep?: Keep<StoredGaze>,
  ): Promise<StoredGaze>
  /**
   * @param callerId only records that this key stored; all when absent
   * @throws GazewayError `invalid_cursor`
   */
  retrieve(query: Paged<RetrieveGaze>, callerId?: string): Promise<Page<GazeRecord>>
  /**
   * Analyses the newest 10,000 records of a range. The same records always give the same result.
   *
   * @param callerId only records that this key stored; all when absent
   * @throws GazewayError `not_found` when the session is unknown, or another caller's
   */
  analyze(range: GazeRange, callerId?: string): Promise<GazeAnalysis>
  /**
   * Lists sessions, latest addition first.
   *
   * @param callerId only sessions that this key created; all when absent
   * @throws GazewayError `invalid_cursor`
   */
  sessions(query: Paged<GazeSessionQuery>, callerId?: string): Promise<Page<GazeSessionSummary>>
  /**
   * Returns the session's valid attestation. Issues a new one when the last has expired.
   *
   * @throws GazewayError `not_found` when the session is unknown
   */
  attestation(sessionId: string): Promise<Attestation>
  /**
   * Finds the attestation of a session, or of the task's session with the latest addition. With both, the session must
   * be bound to the task.
   *
   * @param callerId only sessions that this key created; all by default
   * @throws GazewayError `not_found` when there is no such session
   */
  findAttestation(query: AttestationQuery, callerId?: string): Promise<Attestation>
  /**
   * Reads a session's creator (null: a tool on this machine) and its valid attestation. Null for an unknown session.
   */
  session(sessionId: string): Promise<{ caller_id: string | null; attestation: Attestation | null } | null>
  /** Reads the oldest records of a session with their times of arrival, in the order of arrival, at most `limit`. */
  arrived(sessionId: string, limit: number): Promise<PackedRecord[]>
  /** Assesses some records of a session by themselves, those of eyes alone where they are enough. Null for no records. */
  assess(
    stream: { session_id: string; caller_id: string },
    records: readonly PackedRecord[],
  ): Promise<AssessedPart | null>
  /** Keeps the sketch of a session in a transaction, for later streams of its key to be compared with. */
  keepSketch(trx: Transaction<Schema>, sessionId: string, sketch: string | null): Promise<void>
  /** Sums the attention in a project by place, the latest seen first. */
  dwell(query: DwellQuery): Promise<PlaceDwell[]>
  /** Decides whether attestations prove attention to tasks. */
  verifier: GazeVerifier
}

/** Creates the gaze service of a store. `now` is the clock for freshness and expiry. */
export function createGaze(deps: { store: Store; config: AttestationTerms; now: () => Date }): Gaze {
  const { store, config, now } = deps

  async function findAttestation(query: AttestationQuery, callerId?: string): Promise<Attestation> {
    const { session_id } = await findSession(store.db, query, callerId)
    const valid = await latestAttestation(store.db, session_id, now())
    if (valid !== null) return valid
    return store.write(async (trx) => issueAttestation(trx, await findSession(trx, { session_id }), config, now()))
  }

  return {
    async store(input, callerId, chatsOf, keep) {
      // A link and its target are the same project.
      const root = input.root === undefined ? null : await realpath(input.root).catch(() => input.root ?? null)
      const batch = await readyRecords(input.records)
      return store.write(async (trx) => {
        const at = now()
        const sessionId = input.session_id ?? newId('ses')
        const by = { taskId: input.task_id, callerId: callerId ?? null, chatsOf }
        const locked = await lockSession(trx, sessionId, by, at.toISOString())
        const { session, stored, since } = await appendRecords(trx, locked, batch, root, at)
        if (since !== null) await markCopies(trx, session, since)
        const attestation = await issueAttestation(trx, session, config, at)
        const made = { session_id: sessionId, stored, duplicates: input.records.length - stored, attestation }
        await keep?.(trx, made)
        return made
      })
    },

    retrieve: (query, callerId) =>
      retrieveRecords(store, callerId === undefined ? query : { ...query, caller_id: callerId }),

    async analyze(range, callerId) {
      const { session_id } = range
      if (session_id !== undefined) await findSession(store.db, { session_id }, callerId)
      const seen = callerId === undefined ? range : { ...range, caller_id: callerId }
      const { records, truncated } = await newestInRange(store.db, seen, ANALYSED_RECORDS)
      return { ...(await analyseRecords(records)), truncated }
    },

    sessions: (query, callerId) => listGazeSessions(store, query, callerId),

    attestation: (session_id) => findAttestation({ session_id }),
    findAttestation,

    async session(sessionId) {
      const known = store.db.selectFrom('gaze_sessions').select('caller_id').where('session_id', '=', sessionId)
      const session = await known.executeTakeFirst()
      if (session === undefined) return null
      return { ...session, attestation: await latestAttestation(store.db, sessionId, now()) }
    },
    async arrived(session_id, limit) {
      const arrived: PackedRecord[] = []
      for await (const { records } of packsInOrder(store.db, { session_id, task_id: null })) {
        arrived.push(...records)
        if (arrived.length >= limit) break
      }
      return arrived.slice(0, limit)
    },
    assess: async (stream, records) =>
      records.length === 0 ? null : assessAlone(store.db, stream, records, config, now()),
    keepSketch,
    dwell: (query) => readDwell(store.db, query, latestPresent(now())),
    verifier: createGazeVerifier(config),
  }
}

/** The gaze service of the configuration in force. */
export interface LiveGaze extends Gaze {
  /**
   * Analyses gaze, with a narrative when one is wanted and an upstream can write it. `visibleTo` restricts it to
   * records stored by that key.
   */
  explain(query: ExplainGaze, context: CallContext, visibleTo?: string): Promise<ExplainedGaze>
  /** Periodic work of a long-running process, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** Opens the room: attestations follow the terms in force, and narratives are written by `upstream`. */
export function liveGaze({ store, now, config }: Base, upstream: Pick<Upstream, 'chat'>): LiveGaze {
  const { always: gaze, now: newest } = config.hotReload(
    ({ gaze: { min_score, records_needed, max_age_seconds, require } }) => ({
      minScore: min_score,
      recordsNeeded: records_needed,
      maxAgeSeconds: max_age_seconds,
      requiredLevel: require,
      windowRecords: ATTESTED_RECORDS,
      minDurationMs: ATTESTED_DURATION_MS,
    }),
    (terms) => createGaze({ store, config: terms, now }),
  )
  // Others keep the verifier, so it looks up the newest terms on use.
  const verifier: GazeVerifier = {
    check: (db, of) => newest().verifier.check(db, of),
    use: (trx, of) => newest().verifier.use(trx, of),
  }
  const explain: LiveGaze['explain'] = async ({ question, narrate: wanted, ...range }, context, visibleTo) => {
    const analysis = await gaze.analyze(range, visibleTo)
    if (!wanted) return { ...analysis, ...NO_NARRATIVE }
    const ask = (system: string, user: string) => askForText(upstream, { system, user }, context)
    return { ...analysis, ...(await narrate(analysis, question, ask)) }
  }
  const sweeps = gazeSweeps(store, now, () => config.current().config.gaze.retention_days)
  return Object.assign(Object.defineProperty(gaze, 'verifier', { value: verifier }), { explain, sweeps })
}

async function askForText(
  upstream: Pick<Upstream, 'chat'>,
  { system, user }: { system: string; user: string },
  context: CallContext,
): Promise<{ text: string; callId: string }> {
  const messages = [
    { role: 'system' as const, content: system },
    { role: 'user' as const, content: user },
  ]
  const { value, callId } = await upstream.chat({ messages }, context)
  const message = value.choices[0]?.message
  return { text: message?.content || message?.refusal || '', callId }
}
