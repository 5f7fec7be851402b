import { sql, type Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Micros } from '../money.ts'
import { runBuilt } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { MeteredCallRow } from '../store/tables/wallet.ts'
import { accountOf } from './accounts.ts'
import type { Answered } from './ask-model.ts'
import { type NewTransfer, post } from './ledger.ts'
import { dayOf, giveBackToDay, type Limits, type LimitsOf, spendOnDay } from './limits.ts'
import { addToUsage } from './usage-sums.ts'

/** A call that is about to be made, and the most that it may cost. */
export interface NewHold {
  callId: string
  callerId: string
  model: string
  at: string
  /** After this time a sweep gives the money back. */
  deadline: string
  micros: Micros
  /** The part of it that is the margin. */
  marginMicros: Micros
  token: string
  /** What makes the call happen once; null where it may be made again. */
  idempotencyKey: string | null
  /** Tells this request from another one under the same key. */
  fingerprint: string | null
}

/** How a held call ended well. */
export interface Captured extends Answered {
  latencyMs: number
}

/** The money of calls that are being made: set aside before, and taken or given back after. */
export interface Holds {
  /**
   * Sets the money aside.
   *
   * @returns null, or the earlier call with the same id or idempotency key; nothing is set aside then
   * @throws GazewayError `insufficient_credit` or `daily_limit_reached`; nothing is written then
   */
  reserve(hold: NewHold): Promise<MeteredCallRow | null>
  /**
   * Takes what the call cost and gives back the rest, and keeps the receipt: all of it or nothing. A call that cost more
   * than was set aside takes the rest from the caller's credit; where that, or the daily limit, does not reach, it costs
   * what was set aside.
   *
   * @returns the receipt's row
   * @throws GazewayError `upstream_timeout` when the hold was given back meanwhile
   */
  capture(hold: NewHold, captured: Captured): Promise<MeteredCallRow>
  /** Gives all of it back. @returns whether it was still held */
  release(callId: string): Promise<boolean>
  /** Gives back at most `limit` holds that are past their deadline. @returns how many */
  sweep(limit: number): Promise<number>
}

/** The holds in `store`. */
export function createHolds({ store, now, limitsOf }: { store: Store; now: () => Date; limitsOf: LimitsOf }): Holds {
  const { db } = store

  async function settle(hold: NewHold, captured: Captured, costMicros: Micros): Promise<MeteredCallRow> {
    const row = receiptRow(hold, captured, costMicros)
    const limits = await limitsOf(hold.callerId)
    await store.write(async (trx) => {
      await finish(trx, row)
      await payFor(trx, hold, costMicros, limits)
      await addToUsage(trx, row)
    })
    return row
  }

  async function release(callId: string): Promise<boolean> {
    return store.write(async (trx) => {
      const voided = await trx
        .updateTable('metered_calls')
        .set({ status: 'voided', idempotency_key: null, fingerprint: null })
        .where('call_id', '=', callId)
        .where('status', '=', 'held')
        .returning(['caller_id', 'held_micros', 'at'])
        .executeTakeFirst()
      if (!voided) return false
      const { caller_id: callerId, held_micros: micros } = voided
      await postAny(trx, {
        key: `void:${callId}`,
        kind: 'void',
        entries: [
          { account: accountOf('held', callerId), micros: -micros },
          { account: accountOf('caller', callerId), micros },
        ],
        at: now().toISOString(),
      })
      await giveBackToDay(trx, { callerId, day: dayOf(voided.at), micros })
      return true
    })
  }

  return {
    async reserve(hold) {
      const limits = await limitsOf(hold.callerId)
      return store.write(async (trx) => {
        const earlier = await insert(trx, hold)
        if (earlier) return earlier
        await setAside(trx, hold, limits)
        return null
      })
    },

    async capture(hold, captured) {
      try {
        return await settle(hold, captured, captured.costMicros)
      } catch (error) {
        if (!isShort(error)) throw error
        return settle(hold, captured, hold.micros - hold.marginMicros)
      }
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

/** @returns the earlier call with the same id or idempotency key, where there is one; nothing is inserted then */
async function insert(trx: Transaction<Schema>, hold: NewHold): Promise<MeteredCallRow | null> {
  const row = heldRow(hold)
  for (;;) {
    const { numAffectedRows } = await runBuilt(trx, 'hold', Object.values(row), () =>
      trx
        .insertInto('metered_calls')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .compile(),
    )
    if (numAffectedRows === 1n) return null
    const earlier = await trx
      .selectFrom('metered_calls')
      .selectAll()
      .where((eb) =>
        eb.or([
          eb('call_id', '=', hold.callId),
          eb.and([eb('caller_id', '=', hold.callerId), eb('idempotency_key', '=', hold.idempotencyKey)]),
        ]),
      )
      .executeTakeFirst()
    // Given back between the two statements: the key is free again.
    if (earlier) return earlier
  }
}

async function setAside(trx: Transaction<Schema>, hold: NewHold, limits: Limits): Promise<void> {
  const { callId, callerId, micros, at } = hold
  await postAny(trx, {
    key: `reserve:${callId}`,
    kind: 'reserve',
    entries: [
      { account: accountOf('caller', callerId), micros: -micros, floor: -limits.creditMicros },
      { account: accountOf('held', callerId), micros },
    ],
    at,
  })
  await spendOnDay(trx, { callerId, day: dayOf(at), micros }, limits.dailyMicros)
}

async function payFor(
  trx: Transaction<Schema>,
  { callId, callerId, micros, marginMicros, at }: NewHold,
  costMicros: Micros,
  { creditMicros, dailyMicros }: Limits,
): Promise<void> {
  const rest = micros - marginMicros - costMicros
  await postAny(trx, {
    key: `capture:${callId}`,
    kind: 'capture',
    entries: [
      { account: accountOf('held', callerId), micros: -micros },
      { account: accountOf('revenue', callerId), micros: marginMicros },
      { account: accountOf('upstream_cost', callerId), micros: costMicros },
      { account: accountOf('caller', callerId), micros: rest, floor: -creditMicros },
    ],
    at,
  })
  const day = dayOf(at)
  if (rest < 0) await spendOnDay(trx, { callerId, day, micros: -rest }, dailyMicros)
  if (rest > 0 && dailyMicros !== null) await giveBackToDay(trx, { callerId, day, micros: rest })
}

/** Posts a transfer without its entries of nothing; where calls are free, none is left. */
async function postAny(trx: Transaction<Schema>, transfer: NewTransfer): Promise<void> {
  const entries = transfer.entries.filter((entry) => entry.micros !== 0)
  if (entries.length > 0) await post(trx, { ...transfer, entries })
}

/** Turns the hold into its receipt, unless a sweep was faster. */
async function finish(trx: Transaction<Schema>, row: MeteredCallRow): Promise<void> {
  const { call_id, caller_id, model, at, deadline, held_micros, margin_micros, token, ...outcome } = row
  const { idempotency_key, fingerprint, ...set } = outcome
  const { numAffectedRows } = await runBuilt(trx, 'capture', [...Object.values(set), call_id, 'held'], () =>
    trx.updateTable('metered_calls').set(set).where('call_id', '=', call_id).where('status', '=', 'held').compile(),
  )
  if (numAffectedRows === 1n) return
  throw new GazewayError(
    'upstream_timeout',
    'The answer came after the money that was set aside for it had been given back; nothing was charged. Try again.',
  )
}

function heldRow(hold: NewHold): MeteredCallRow {
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
  }
}

function receiptRow(hold: NewHold, captured: Captured, costMicros: Micros): MeteredCallRow {
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
  }
}

const isShort = (error: unknown): boolean =>
  error instanceof GazewayError && (error.code === 'insufficient_credit' || error.code === 'daily_limit_reached')
