import { sql } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import type { Assessment } from '../gaze/attestation.ts'
import type { Gaze, StoreGaze } from '../gaze/gaze.ts'
import { lockSession, requireTask } from '../gaze/gaze-session.ts'
import { gatewaySigner } from '../signing/gateway-keys.ts'
import { decodeCursor, type Page, type Paged, readPage } from '../store/page.ts'
import { widthOf } from '../store/row-bytes.ts'
import type { Store } from '../store/store.ts'
import type { ReviewRow } from '../store/tables/reviews-tables.ts'
import { newId } from '../text/ids.ts'
import { requireTrue } from './change-parts.ts'
import { makeChecks, missedCanary, passedChecks } from './checks.ts'
import { fileKindOf } from './file-kind.ts'
import { gestureOf } from './gestures.ts'
import { readingOf, type Sighting } from './reading.ts'
import { usualPace } from './reading-pace.ts'
import { RECEIPT_MEDIA_TYPE, type Receipt } from './receipt.ts'
import { recordsOfReview } from './records-of-review.ts'
import {
  changeOf,
  checksOf,
  type DecideReview,
  type NewReview,
  ReviewId,
  type ReviewRecord,
  type ReviewWithParts,
  recordOf,
} from './review-record.ts'
import { type Level, observationPayload, type Review, receiptPayload, signed, unsigned } from './statement.ts'

/** Records of a review that are counted: those of a tracker for hours. Each batch of evidence counts all of them again. */
const MOST_RECORDS = 50_000

/** Name of gateways in receipts; the key says which one it is. */
const OBSERVER = 'gazeway'

/** A reading, and what its level rests on. */
interface Read {
  reading: ReviewWithParts['reading']
  /** Assessment of the records about the change, and their sketch; null for none. */
  assessment: Assessment | null
  sketch: string | null
  /** Records that are about something else. */
  elsewhere: number
  /** Hash of the last record of the session, whatever it is about. */
  chainHead: string | null
  /** Records that were counted where there are more; null where all of them were. */
  counted: number | null
}

/** Reviews that this gateway observes. */
export interface Reviews {
  /**
   * Begins a review.
   *
   * @throws GazewayError `validation_failed` when a digest is not that of what would be shown; `not_found` for an unknown task
   */
  create(input: NewReview, callerId: string): Promise<ReviewRecord>
  /**
   * Adds records of attention, with paths and lines of the new files, to a review that is not decided.
   *
   * @throws GazewayError `not_found`, also for another key's review; `invalid_transition` after the decision
   */
  addEvidence(id: string, records: StoreGaze['records'], callerId: string): Promise<ReviewWithParts['reading']>
  /**
   * Ends a review. Returns its receipt, countersigned and without the signature of its reviewer.
   *
   * @throws GazewayError as {@link addEvidence}
   */
  decide(id: string, input: DecideReview, callerId: string): Promise<Receipt>
  /** @param callerId key of the reviewer; any when absent. @throws GazewayError `not_found` */
  get(id: string, callerId?: string): Promise<ReviewWithParts>
  /** Lists reviews, newest first. @throws GazewayError `invalid_cursor` */
  list(query: Paged, callerId?: string): Promise<Page<ReviewRecord>>
}

/** Creates the reviews of a store. The signing key is in the data folder. */
export function createReviews(deps: {
  store: Store
  gaze: Gaze
  dataDir: () => string
  now: () => Date
  mostRecords?: number
}): Reviews {
  const { store, gaze, dataDir, now, mostRecords = MOST_RECORDS } = deps

  async function find(id: string, callerId?: string): Promise<ReviewRow> {
    const query = store.db.selectFrom('reviews').selectAll().where('id', '=', id)
    const row = await (callerId === undefined ? query : query.where('caller_id', '=', callerId)).executeTakeFirst()
    if (row !== undefined) return row
    throw new GazewayError('not_found', 'There is no review with this id.', { param: 'id' })
  }

  async function findOpen(id: string, callerId: string): Promise<ReviewRow> {
    const row = await find(id, callerId)
    if (row.decided_at === null) return row
    throw decided(row.decided_at)
  }

  async function readingSoFar(row: ReviewRow, acknowledged: readonly string[] = []): Promise<Read> {
    const arrived = await gaze.arrived(row.session_id, mostRecords + 1)
    const records = arrived.slice(0, mostRecords)
    const counted = arrived.length > mostRecords ? mostRecords : null
    const { parts } = changeOf(row)
    const [canary = null] = checksOf(row).flatMap((check) => (check.kind === 'canary' ? [check.hunk] : []))
    const started = Date.parse(row.created_at)
    const gestures = records.flatMap(({ tensor }) => gestureOf(tensor) ?? [])
    const attention = gestures.length === 0 ? records : records.filter(({ tensor }) => gestureOf(tensor) === null)
    const evidence = { sightings: sightingsIn(attention), gestures, acknowledged: new Set(acknowledged) }
    const reading = await readingOf({ parts, canary }, evidence, started)
    const about = recordsOfReview(attention, parts, started)
    const { assessment = null, sketch = null } = (await gaze.assess(row, about)) ?? {}
    const hunks = reading.parts.filter((_, at) => parts[at]?.kind === 'hunk')
    const isUnread = hunks.length > 0 && hunks.every(({ seen }) => seen === 0)
    const level = levelOf({ activeMs: reading.active_ms, isUnread }, assessment)
    return {
      reading: { ...reading, level },
      assessment,
      sketch,
      elsewhere: attention.length - about.length,
      chainHead: (await gaze.session(row.session_id))?.attestation?.chain_head ?? null,
      counted,
    }
  }

  return {
    async create(input, callerId) {
      const { repository, policy, task_id, checks: kinds, ...change } = input
      requireTrue(change.parts)
      const row: ReviewRow = {
        id: newId('rev'),
        caller_id: callerId,
        session_id: newId('ses'),
        change: JSON.stringify({ ...change, checks: makeChecks(kinds, change.parts) }),
        repository,
        policy,
        created_at: now().toISOString(),
        decided_at: null,
        receipt: null,
        task_id,
      }
      await store.write(async (trx) => {
        if (task_id !== null) await requireTask(trx, task_id)
        await trx.insertInto('reviews').values(row).execute()
        // Its session is this key's from the beginning: another one could open it first.
        const by = { callerId, taskId: undefined, chatsOf: undefined }
        await lockSession(trx, row.session_id, by, row.created_at)
      })
      return recordOf(row)
    },

    async addEvidence(id, records, callerId) {
      const row = await findOpen(id, callerId)
      await gaze.store({ session_id: row.session_id, records }, callerId)
      return (await readingSoFar(row)).reading
    },

    async decide(id, input, callerId) {
      const row = await findOpen(id, callerId)
      const read = await readingSoFar(row, input.acknowledged)
      const at = now()
      const observer = await gatewaySigner(dataDir(), at)
      const content = {
        row,
        input,
        read,
        at: at.toISOString(),
        keyid: observer.key.fingerprint,
      }
      const review = reviewOf(content)
      const payload = receiptPayload(changeOf(row), review)
      const task = row.task_id !== null && { task: { id: row.task_id, reader: row.caller_id } }
      const observation = { review_id: id, level: review.level, observed_at: at.toISOString(), ...task }
      const countersigned = await signed(observationPayload(payload, observation), observer)
      const receipt = { mediaType: RECEIPT_MEDIA_TYPE, envelope: unsigned(payload), observer: countersigned } as const
      await store.write(async (trx) => {
        const ended = { decided_at: at.toISOString(), receipt: JSON.stringify(receipt) }
        const open = trx.updateTable('reviews').set(ended).where('id', '=', id).where('decided_at', 'is', null)
        if ((await open.returning('id').execute()).length === 0) throw decided('just now')
        await gaze.keepSketch(trx, row.session_id, read.sketch)
      })
      return receipt
    },

    async get(id, callerId) {
      const row = await find(id, callerId)
      const { reading } = await readingSoFar(row)
      const usual_ms_per_line = await usualPace(store, row)
      return { ...recordOf(row), parts: changeOf(row).parts, reading, usual_ms_per_line }
    },

    list: (page, callerId) => listReviews(store, page, callerId),
  }
}

/** Lists reviews of a key, or all, newest first. */
async function listReviews(store: Store, page: Paged, callerId: string | undefined): Promise<Page<ReviewRecord>> {
  const all = store.db.selectFrom('reviews')
  const matching = callerId === undefined ? all : all.where('caller_id', '=', callerId)
  // Ids sort by creation.
  let newest = matching.orderBy('id', 'desc')
  if (page.cursor !== undefined) newest = newest.where('id', '<', decodeCursor(page.cursor, z.tuple([ReviewId]))[0])
  if (page.offset !== undefined) newest = newest.offset(page.offset)
  return readPage(page, {
    rows: (limit) => newest.selectAll().limit(limit).execute(),
    async sizes(limit) {
      const width = widthOf(store.engine, ['change', 'receipt'])
      const rows = await newest.select(width.as('bytes')).limit(limit).execute()
      return rows.map(({ bytes }) => bytes)
    },
    async total() {
      const counted = matching.select(sql<number>`count(*)`.as('total'))
      return Number((await counted.executeTakeFirstOrThrow()).total)
    },
    item: recordOf,
    cursor: (row) => [row.id],
  })
}

const decided = (when: string) =>
  new GazewayError('invalid_transition', `This review was decided (${when}); begin another one.`, { param: 'id' })

/** The records with a path and lines, with their times in Unix ms. */
function sightingsIn(records: Awaited<ReturnType<Gaze['arrived']>>): Sighting[] {
  return records.flatMap(({ tensor: { at, dwell_ms, env }, stored_at }) => {
    const { path, line_start, line_end = line_start } = env
    if (path === undefined || line_start === undefined || line_end === undefined) return []
    return [{ path, line_start, line_end, dwell_ms, at: Date.parse(at), received: Date.parse(stored_at) }]
  })
}

/** Composes the content of a receipt. */
function reviewOf(of: { row: ReviewRow; input: DecideReview; read: Read; at: string; keyid: string }): Review {
  const { row, input, read } = of
  const { reading, assessment, elsewhere, counted } = read
  const { parts, active_ms, level } = reading
  const hunks = parts.map(({ digest, path, lines, seen, seen_ms }) => ({ digest, path, lines, seen, seen_ms }))
  const [lines, seen] = [sum(hunks.map((hunk) => hunk.lines)), sum(hunks.map((hunk) => hunk.seen))]
  const checks = checksOf(row)
  return {
    reviewer: { id: input.reviewer },
    decision: input.decision,
    ...(input.comments.length > 0 && { comments: input.comments }),
    repository: row.repository,
    base: changeOf(row).base,
    coverage: { lines, seen, by_file: byFile(hunks), hunks },
    evidence: {
      coverage: lines === 0 ? null : seen / lines,
      plausibility: assessment?.evidence.plausibility ?? null,
      novelty: assessment?.evidence.novelty ?? null,
      liveness: null,
      provenance: null,
      reasons: [
        ...(assessment?.reasons ?? []),
        ...(elsewhere === 0 ? [] : [`${elsewhere.toLocaleString('en')} gaze records are about no line of the change`]),
        ...(counted === null ? [] : [`only the first ${counted.toLocaleString('en')} gaze records were counted`]),
        ...missedCanary(checks, input.answers),
      ],
    },
    level,
    checks: passedChecks(checks, input.answers),
    presence: input.credential_id === undefined ? null : { method: 'passkey', credential_id: input.credential_id },
    times: { started_at: row.created_at, decided_at: of.at, active_ms },
    policy: row.policy,
    chain_head: read.chainHead,
    observer: { name: OBSERVER, keyid: of.keyid },
  }
}

/**
 * Level of what was read. Records that pass say nothing of hunks of which no line was seen, whatever items
 * were acknowledged. A passkey raises the level
 * where the receipt is verified: nobody here knows which ones a policy enrolls.
 */
function levelOf(of: { activeMs: number; isUnread: boolean }, assessment: Assessment | null): Level {
  if (!of.isUnread && assessment?.level === 'plausible') return 'plausible'
  return of.activeMs > 0 ? 'seen' : 'none'
}

function byFile(hunks: readonly { path: string; lines: number; seen: number }[]): Review['coverage']['by_file'] {
  const files = new Map<string, Review['coverage']['by_file'][number]>()
  for (const { path, lines, seen } of hunks) {
    const file = files.get(path) ?? { path, lines: 0, seen: 0 }
    const kind = fileKindOf(path)
    files.set(path, { path, lines: file.lines + lines, seen: file.seen + seen, ...(kind && { kind }) })
  }
  return [...files.values()]
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
