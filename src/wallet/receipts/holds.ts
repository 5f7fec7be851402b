import { type QueryResult, sql, type Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Usage } from '../../providers/token-usage.ts'
import { runTogether, type Statement } from '../../store/built.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { MeteredCallRow } from '../../store/tables/wallet-tables.ts'
import type { Micros } from '../../text/money.ts'
import { giveBackSpent, spendWithin } from '../budget/budgets.ts'
import type { Limits, LimitsOf } from '../budget/limits.ts'
import type { Overrun } from '../budget/overruns.ts'
import { dayOf, type Spent } from '../budget/spending.ts'
import { accountOf } from '../ledger/accounts.ts'
import { captureEntries } from '../ledger/capture-entries.ts'
import { type NewTransfer, postWith } from '../ledger/ledger.ts'
import type { ReceiptRow } from './receipts.ts'
import { addToUsage } from './usage-sums.ts'

/** A call to reserve money for. */
export interface NewHold {
  callId: string
  callerId: string
  model: string
  at: string
  /** A sweep gives the money back after this time. */
  deadline: string
  micros: Micros
  /** The margin within `micros`. */
  marginMicros: Micros
  token: string
  /** Idempotency key; null when the call may be repeated. */
  idempotencyKey: string | null
  /** Distinguishes different requests under the same key. */
  fingerprint: string | null
}

/** A call row without the columns decided when the call began. */
type CallRow = Omit<MeteredCallRow, 'counted_on' | 'group_id'>

/** The upstream's answer and its cost. */
export interface Answered {
  content: string
  usage: Usage
  costMicros: Micros
  /** Id of the call in the audit trail. */
  upstreamCallId: string
}

/** Outcome of a successful call. */
export interface Captured extends Answered {
  latencyMs: number
}

/** Reservations of metered calls: made before a call, captured or released after it. */
export interface Holds {
  /**
   * Reserves the money for a call.
   *
   * @returns null, or the earlier call with the same id or idempotency key; nothing is reserved then
   * @throws GazewayError `insufficient_credit` or `budget_reached`; nothing is written then
   */
  reserve(hold: NewHold): Promise<MeteredCallRow | null>
  /**
   * Takes the cost of the call, returns the rest and stores the receipt, in one transaction. Never takes more than the
   * reservation, whatever usage the upstream reported.
   *
   * @returns the row of the receipt
   * @throws GazewayError `upstream_timeout` when the hold was given back meanwhile
   */
  capture(hold: NewHold, captured: Captured): Promise<ReceiptRow>
  /** Tells whether this call was charged under its key. */
  isCaptured(call: { callerId: string; idempotencyKey: string; fingerprint: string }): Promise<boolean>
  /** Gives the whole reservation back. @returns whether it was still held */
  release(callId: string): Promise<boolean>
  /** Gives back at most `limit` holds past their deadline. @returns how many */
  sweep(limit: number): Promise<number>
}

/** Dependencies of {@link createHolds}. */
export interface HoldsDeps {
  store: Store
  now: () => Date
  limitsOf: LimitsOf
  /** Called for each captured call that cost more than its reservation. */
  onOverrun: (overrun: Overrun) => void
}

/** Creates the holds of `store`. */
export function createHolds({ store, now, limitsOf, onOverrun }: HoldsDeps): Holds {
  const { db } = store

  async function release(callId: string): Promise<boolean> {
    const held = await db
      .selectFrom('metered_calls')
      .select(['caller_id', 'held_micros'])
      .where('call_id', '=', callId)
      .where('status', '=', 'held')
      .executeTakeFirst()
    if (!held) return false
    try {
      await store.write((trx) => voidHold(trx, callId, held, now().toISOString()))
      return true
    } catch (error) {
      if (error === NOT_HELD) return false
      throw error
    }
  }

  return {
    async reserve(hold) {
      const limits = await limitsOf(hold.callerId)
      for (;;) {
        try {
          await store.write((trx) => placeHold(trx, hold, limits))
          return null
        } catch (error) {
          if (error !== MADE_BEFORE) throw error
          const earlier = await earlierCall(store, hold)
          // The earlier call was given back meanwhile, so the key is free again.
          if (earlier) return earlier
        }
      }
    },

    async capture(hold, captured) {
      const { callId, callerId, model, micros, marginMicros } = hold
      const { costMicros } = captured
      const reservedMicros = micros - marginMicros
      const row = receiptRow(hold, captured, Math.min(costMicros, reservedMicros))
      try {
        await store.write((trx) => payFor(trx, hold, row))
      } catch (error) {
        throw error === NOT_HELD ? voided() : error
      }
      if (costMicros > reservedMicros) onOverrun({ callId, callerId, model, reservedMicros, costMicros })
      return row
    },

    async isCaptured({ callerId, idempotencyKey, fingerprint }) {
      const captured = db
        .selectFrom('metered_calls')
        .select('call_id')
        .where('caller_id', '=', callerId)
        .where('idempotency_key', '=', idempotencyKey)
        .where('fingerprint', '=', fingerprint)
        .where('status', '=', 'captured')
      return (await captured.executeTakeFirst()) !== undefined
    },

    release,

    async sweep(limit) {
      const late = await db
        .selectFrom('metered_calls')
        .select('call_id')
        .where(sql<boolean>`status = 'held'`)
        .where('deadline', '<=', now().toISOString())
        .orderBy('deadline')
        .limit(limit)
        .execute()
      let released = 0
      for (const { call_id } of late) if (await release(call_id)) released += 1
      return released
    },
  }
}

const captureKey = (callId: string): string => `capture:${callId}`

const METERED_CALL = '/api/wallet/metered/call'

/** Reasons to roll back: the call was made before, or its money is no longer held. */
const MADE_BEFORE = new Error('A call with this id or idempotency key was made before.')
const NOT_HELD = new Error('The money of this call is not held.')

/** Posts the hold of a reservation. @throws MADE_BEFORE when the call already has one */
async function placeHold(trx: Transaction<Schema>, hold: NewHold, limits: Limits): Promise<void> {
  const { callId, callerId, micros, at } = hold
  const transfer: NewTransfer = {
    key: `reserve:${callId}`,
    kind: 'reserve',
    entries: [
      { account: accountOf('caller', callerId), micros: -micros, floor: -limits.creditMicros },
      { account: accountOf('held', callerId), micros },
    ],
    at,
  }
  const { groupId } = limits
  const day = dayOf(at)
  const row = { ...heldRow(hold), counted_on: day, group_id: groupId }
  await postAny(trx, transfer, [insertion(trx, row)], MADE_BEFORE)
  // Updates accounts before spending, as all transactions do: another order could deadlock.
  await spendWithin(trx, { spender: { id: callerId, groupId }, day, micros })
}

/**
 * Turns the hold into its receipt and takes the cost, unless a sweep gave it back before.
 *
 * @throws NOT_HELD
 */
async function payFor(
  trx: Transaction<Schema>,
  { callId, callerId, micros, marginMicros, at }: NewHold,
  receipt: CallRow,
): Promise<void> {
  const rest = micros - marginMicros - receipt.upstream_cost_micros
  const transfer: NewTransfer = { key: captureKey(callId), kind: 'capture', entries: captureEntries(receipt), at }
  const counted = await postAny(trx, transfer, [finish(trx, receipt), addToUsage(trx, receipt)], NOT_HELD)
  if (rest > 0) await giveBackSpent(trx, spentBy(callerId, counted, rest))
}

/** Voids a hold. @throws NOT_HELD when the call has none */
async function voidHold(
  trx: Transaction<Schema>,
  callId: string,
  { caller_id: callerId, held_micros: micros }: Pick<MeteredCallRow, 'caller_id' | 'held_micros'>,
  at: string,
): Promise<void> {
  const transfer: NewTransfer = {
    key: `void:${callId}`,
    kind: 'void',
    entries: [
      { account: accountOf('held', callerId), micros: -micros },
      { account: accountOf('caller', callerId), micros },
    ],
    at,
  }
  const counted = await postAny(trx, transfer, [voiding(trx, callId)], NOT_HELD)
  await giveBackSpent(trx, spentBy(callerId, counted, micros))
}

const spentBy = (callerId: string, { counted_on: day, group_id }: Counted, micros: Micros): Spent => ({
  spender: { id: callerId, groupId: group_id },
  day,
  micros,
})

/**
 * Runs statements and posts a transfer without its zero entries. Posts nothing when calls are free and no entry is
 * left.
 *
 * @param statements the first one changes the row of a call and returns it
 * @returns the key and group whose spending the call is
 * @throws `fault` when the first statement changed no row
 */
async function postAny(
  trx: Transaction<Schema>,
  transfer: NewTransfer,
  statements: readonly Statement[],
  fault: Error,
): Promise<Counted> {
  let call: Counted | undefined
  const verify = ([first]: readonly QueryResult<unknown>[]) => {
    call = first?.rows[0] as Counted | undefined
    if (!call) throw fault
  }
  const entries = transfer.entries.filter((entry) => entry.micros !== 0)
  if (entries.length > 0) await postWith(trx, { ...transfer, entries }, statements, verify)
  else verify(await runTogether(trx, statements))
  return call as unknown as Counted
}

type Counted = Pick<MeteredCallRow, 'counted_on' | 'group_id'>

function insertion(trx: Transaction<Schema>, row: MeteredCallRow): Statement {
  return {
    form: 'hold',
    parameters: Object.values(row),
    build: () =>
      trx
        .insertInto('metered_calls')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .returning(['counted_on', 'group_id'])
        .compile(),
  }
}

function voiding(trx: Transaction<Schema>, callId: string): Statement {
  const set = { status: 'voided', idempotency_key: null, fingerprint: null }
  return ending(trx, 'void hold', callId, set)
}

async function earlierCall(
  { db }: Store,
  { callId, callerId, idempotencyKey }: NewHold,
): Promise<MeteredCallRow | undefined> {
  return db
    .selectFrom('metered_calls')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('call_id', '=', callId),
        eb.and([eb('caller_id', '=', callerId), eb('idempotency_key', '=', idempotencyKey)]),
      ]),
    )
    .executeTakeFirst()
}

function finish(trx: Transaction<Schema>, row: CallRow): Statement {
  const { call_id, caller_id, model, at, deadline, held_micros, margin_micros, token, path, ...outcome } = row
  const { idempotency_key, fingerprint, ...set } = outcome
  return ending(trx, 'capture', call_id, set)
}

/** Changes the row of a call that is still held. */
function ending(trx: Transaction<Schema>, form: string, callId: string, set: Partial<CallRow>): Statement {
  return {
    form,
    parameters: [...Object.values(set), callId, 'held'],
    build: () =>
      trx
        .updateTable('metered_calls')
        .set(set)
        .where('call_id', '=', callId)
        .where('status', '=', 'held')
        .returning(['counted_on', 'group_id'])
        .compile(),
  }
}

function voided(): GazewayError {
  return new GazewayError(
    'upstream_timeout',
    'The answer came after its reservation had expired; nothing was charged. Retry.',
  )
}

function heldRow(hold: NewHold): CallRow {
  return {
    call_id: hold.callId,
    caller_id: hold.callerId,
    model: hold.model,
    status: 'held',
    at: hold.at,
    deadline: hold.deadline,
    held_micros: hold.micros,
    margin_micros: hold.marginMicros,
    upstream_cost_micros: 0,
    token: hold.token,
    prompt_tokens: 0,
    completion_tokens: 0,
    total_tokens: 0,
    usage_estimated: 0,
    latency_ms: 0,
    upstream_call_id: null,
    idempotency_key: hold.idempotencyKey,
    fingerprint: hold.fingerprint,
    content: null,
    path: METERED_CALL,
    transfer: null,
  }
}

function receiptRow(hold: NewHold, captured: Captured, costMicros: Micros): CallRow {
  const { usage, latencyMs, upstreamCallId, content } = captured
  return {
    ...heldRow(hold),
    status: 'captured',
    upstream_cost_micros: costMicros,
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    total_tokens: usage.total_tokens,
    usage_estimated: Number(usage.estimated ?? false),
    latency_ms: latencyMs,
    upstream_call_id: upstreamCallId,
    content: hold.idempotencyKey === null ? null : JSON.stringify(content),
    transfer: hold.micros === 0 ? null : captureKey(hold.callId),
  }
}
