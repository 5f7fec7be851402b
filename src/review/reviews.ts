import { sql } from 'kysely'
import * as z from 'zod'
import type { Base } from '../base.ts'
import { GazewayError } from '../errors.ts'
import type { Gaze, StoreGaze } from '../gaze/gaze.ts'
import { lockSession, requireTask } from '../gaze/gaze-session.ts'
import { gatewaySigner } from '../signing/gateway-keys.ts'
import type { Signer } from '../signing/signer.ts'
import { decodeCursor, type Page, type Paged, readPage } from '../store/page.ts'
import { widthOf } from '../store/row-bytes.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { ReviewRow } from '../store/tables/reviews-tables.ts'
import { newId } from '../text/ids.ts'
import { requireTrue } from './change-parts.ts'
import { makeChecks } from './checks.ts'
import { usualPace } from './reading-pace.ts'
import { type ReadSoFar, readingSoFar } from './reading-so-far.ts'
import { RECEIPT_MEDIA_TYPE, type Receipt } from './receipt.ts'
import { reviewOf } from './receipt-content.ts'
import { reviewSweeps } from './retention.ts'
import {
  changeOf,
  type DecideReview,
  type NewReview,
  ReviewId,
  type ReviewRecord,
  type ReviewWithParts,
  recordOf,
} from './review-record.ts'
import { observationPayload, receiptPayload, signed, unsigned } from './statement.ts'

/** Records of a review that are counted: those of a tracker for hours. Each batch of evidence counts all of them again. */
const MOST_RECORDS = 50_000

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

/** The reviews, and their sweeps. */
export type LiveReviews = Reviews & { sweeps: readonly Sweep[] }

/** Opens the room. Its sweeps follow `review.retention_days`. */
export function liveReviews({ store, now, config }: Base, gaze: Gaze): LiveReviews {
  const reviews = createReviews({ store, gaze, dataDir: () => config.current().dataDir, now })
  return { ...reviews, sweeps: reviewSweeps(store, now, () => config.current().config.review.retention_days) }
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
  const readSoFar = (row: ReviewRow, acknowledged: readonly string[] = []) =>
    readingSoFar({ gaze, mostRecords }, row, acknowledged)

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

  return {
    async create(input, callerId) {
      const { task_id } = input
      requireTrue(input.parts)
      const row = newRow(input, callerId, now())
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
      return (await readSoFar(row)).reading
    },

    async decide(id, input, callerId) {
      const row = await findOpen(id, callerId)
      const read = await readSoFar(row, input.acknowledged)
      const at = now()
      const receipt = await countersigned({ row, input, read, at }, await gatewaySigner(dataDir(), at))
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
      const { reading } = await readSoFar(row)
      const usual_ms_per_line = await usualPace(store, row)
      return { ...recordOf(row), parts: changeOf(row).parts, reading, usual_ms_per_line }
    },

    list: (page, callerId) => listReviews(store, page, callerId),
  }
}

function newRow({ repository, policy, task_id, checks, ...change }: NewReview, callerId: string, at: Date): ReviewRow {
  return {
    id: newId('rev'),
    caller_id: callerId,
    session_id: newId('ses'),
    change: JSON.stringify({ ...change, checks: makeChecks(checks, change.parts) }),
    repository,
    policy,
    created_at: at.toISOString(),
    decided_at: null,
    receipt: null,
    task_id,
  }
}

/** Composes the receipt of a review, countersigned by this gateway. */
async function countersigned(
  { row, input, read, at }: { row: ReviewRow; input: DecideReview; read: ReadSoFar; at: Date },
  observer: Signer,
): Promise<Receipt> {
  const review = reviewOf({ row, input, read, at: at.toISOString(), keyid: observer.key.fingerprint })
  const payload = receiptPayload(changeOf(row), review)
  const task = row.task_id !== null && { task: { id: row.task_id, reader: row.caller_id } }
  const observation = { review_id: row.id, level: review.level, observed_at: at.toISOString(), ...task }
  const envelope = unsigned(payload)
  return {
    mediaType: RECEIPT_MEDIA_TYPE,
    envelope,
    observer: await signed(observationPayload(payload, observation), observer),
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
