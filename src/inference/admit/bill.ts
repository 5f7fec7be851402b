import type { Transaction } from 'kysely'
import type { CallSpend } from '../../calls/call-spend.ts'
import { type Identity, identityWithoutKey } from '../../identity/identity.ts'
import type { AppliedPrice } from '../../providers/cost.ts'
import type { PricedModel } from '../../providers/prices.ts'
import type { Usage } from '../../providers/token-usage.ts'
import type { Schema } from '../../store/schema.ts'
import type { Micros } from '../../text/money.ts'
import type { Absorbed } from '../../wallet/budget/absorbed.ts'
import type { Overrun } from '../../wallet/budget/overruns.ts'
import type { Reservation, Taken } from '../../wallet/budget/reservation.ts'
import type { Charge, ChargeCall } from '../../wallet/receipts/charges.ts'
import type { ChargedCall } from '../../wallet/receipts/store-receipts.ts'
import { UNCOUNTED_CALL } from '../rates/call-rates.ts'
import type { CountedCall } from '../rates/rate-share.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { type ForeignAnswer, isAllowedModel } from './allowed-models.ts'
import { marginFor, payerOf, type ReserveDeps, type Reserved, reserveFor } from './reserve.ts'
import type { CallBound } from './worst-case.ts'

/** Dependencies of billing. */
export interface BillDeps extends ReserveDeps {
  charge: ChargeCall
  absorbed: Absorbed
  now: () => Date
  /** True when calls that are only recorded get a receipt, too; false by default. */
  storesAllReceipts?: boolean
  /** Called for each answer by a model that the list of its key lacks. */
  onForeignModel: (answer: ForeignAnswer) => void
  /** Called for each call that cost more than its reservation. */
  onOverrun: (overrun: Overrun) => void
}

/** Result of a call, for its receipt. */
export interface Billed {
  /** Id of the attempt that answered. */
  callId: string
  model: string
  path: string
  usage: Usage | null
  latencyMs: number
  /** Stores the reply to the caller in the transaction of the charge, for replays. */
  keep?: ((trx: Transaction<Schema>, receipt: ChargedCall) => Promise<void>) | undefined
}

/** An attempt at a call, and its cost. */
export interface BilledAttempt {
  callId: string
  /** Model that was asked for. */
  model: string
  /** Another model than the asked one that the answer names, and the asked one. Null when it names none. */
  answeredBy: { id: string; asked: PricedModel } | null
  /** True when the cost is known without tokens: of images, or seconds of audio. */
  isByPiece?: boolean
  /** Upstream that was asked. */
  upstream: string
  /** Called endpoint. */
  path: string
  costMicros: Micros
  /** Amount that the provider may have charged beyond the cost. Budgets count it, and no caller pays it. */
  unseenMicros?: Micros
  /** Rates that the cost was computed from. */
  price: () => AppliedPrice
  /** True when the provider stated the cost. */
  isStated: boolean
  usage: Usage | null
  latencyMs: number
  /** True when the client received part of its answer. */
  isHad: boolean
}

/** The money side of one call: reservation, cost and release. */
export interface Bill {
  /** Token limit to send, so that the answer cannot cost more than was reserved. Null for none. */
  answerLimit: number | null
  /** The same for a model that answers: no more than it can give. */
  limitAt(model: ModelChoice): number | null
  /** Fields that tell a model's provider the highest prices that were reserved. */
  ceilingAt(model: ModelChoice, sent: object): Readonly<Record<string, unknown>>
  /** True when the request is sent as it was read, so that nothing in it is ambiguous. */
  isRewritten: boolean
  /** Headers about the caller's limits. */
  headers: Readonly<Record<string, string>>
  /** True when there is a reservation, which the answer may outgrow. */
  isBounded: boolean
  /** True when the client has not limited its stream, which is cut off where it outgrows its reservation. */
  isOpenEnded: boolean
  /** True when the call is charged. No answer is complete before the charge is durable. */
  isCharged: boolean
  /** Number of answer tokens that the reservation pays for. */
  answerTokens(): number
  /**
   * Extends the reservation by the cost of some answer tokens.
   *
   * @returns false when there is not enough money left
   * @throws GazewayError `invalid_api_key` or `key_expired` when the key has ended meanwhile
   */
  extend(tokens: number): Promise<boolean>
  /**
   * Reserves the same amount again, for an upstream that is tried beside the first: both may bill.
   *
   * @returns releases it; null when there is not enough money left
   */
  reserveAgain(): Promise<(() => void) | null>
  /** Marks the cost of the answer as unknown. The call then costs its whole reservation, if there is one. */
  cutOff(): void
  /**
   * Records the cost of an attempt.
   *
   * @returns the spend to write with its record
   */
  attempted(of: BilledAttempt): CallSpend | null
  /**
   * Charges the cost of the attempts, if the call is charged.
   *
   * @returns the receipt, once the charge is durable; null when nothing was charged
   * @throws as `ChargeCall`
   */
  settle(billed: Billed): Promise<ChargedCall | null>
  /** Releases the rest of the reservation. Call it once, whatever the result. */
  end(): void
}

const NO_CEILING: Readonly<Record<string, unknown>> = {}

/** Bill of a call without limits: by a tool on this machine. */
export const NO_BILL: Bill = {
  answerLimit: null,
  limitAt: () => null,
  ceilingAt: () => NO_CEILING,
  isRewritten: false,
  headers: UNCOUNTED_CALL.headers,
  isBounded: false,
  isOpenEnded: false,
  isCharged: false,
  answerTokens: () => Infinity,
  extend: async () => true,
  reserveAgain: async () => () => {},
  cutOff() {},
  attempted: () => null,
  settle: async () => null,
  end() {},
}

/** Bill of a call that its caller charges for itself, see {@link meteredBill}. It has no money for a second upstream. */
export const PAID_BILL: Bill = { ...NO_BILL, reserveAgain: async () => null }

/** Counts the calls of a bill without a reservation against the rate limits of their key. */
export function countedBill(bill: Bill, counted: CountedCall): Bill {
  if (counted === UNCOUNTED_CALL) return bill
  let tokens = 0
  return {
    ...bill,
    headers: counted.headers,
    attempted({ usage }) {
      tokens += usage?.total_tokens ?? 0
      return null
    },
    end: () => counted.end(tokens),
  }
}

/** Call that a bill is for. */
interface BillOf {
  key: Identity
  bound: CallBound
  reserved: Reserved
  counted: CountedCall
  /** True for a stream without a limit of its client, which is cut off when it outgrows its reservation. */
  isOpenEnded: boolean
  /** True when the model may continue after the reply: a Response in the background. */
  isDetached: boolean
  /** True when the request is sent as it was read. */
  isRewritten: boolean
}

/** Creates the bill of a call that reserves money or budget, or is only counted. */
export function createBill(deps: BillDeps, of: BillOf): Bill {
  const { key, bound, reserved, counted, isOpenEnded, isDetached, isRewritten } = of
  const { charge, pricing, now, identity, onOverrun, absorbed } = deps
  const { reservation } = reserved
  const atFirst = reservation.left()
  const isBounded = atFirst !== Infinity
  const isCharged = key.billing !== 'recorded'
  const margin = marginFor(key, pricing)
  const began = now()
  const limit = reserved.quote.limitFor(atFirst - margin)
  const answerLimit = isBounded && bound.isLimited ? limit : null
  let answerTokens = limit * bound.answers
  let costMicros = 0
  /** Cost beyond the reservation that its caller has caused. */
  let beyondMicros = 0
  /** Cost of the answer that the operator bears, and the part of it beyond the reservation. */
  let absorbedMicros = 0
  let absorbedBeyondMicros = 0
  let tokens = 0
  /** The attempt that the client had an answer of. */
  let had: BilledAttempt | null = null
  let isCapped = false
  let isCut = false

  /** Reservation left for the call's cost. The margin is taken last. */
  const leftForCost = (): Micros => reservation.left() - margin - costMicros

  /** Most that the output beyond the limit of an answer may have cost. */
  const outputBeyond = ({ usage }: BilledAttempt): Micros =>
    bound.more(Math.max(0, (usage?.completion_tokens ?? 0) - answerTokens))

  return {
    answerLimit,
    limitAt: (model) => (answerLimit === null ? null : bound.limitAt(model, answerLimit)),
    ceilingAt: bound.ceilingAt,
    isRewritten,
    headers: counted.headers,
    isBounded,
    isOpenEnded: isBounded && isOpenEnded,
    isCharged,
    answerTokens: () => answerTokens,
    async extend(more) {
      const micros = bound.more(more)
      const present = await identity(key.id)
      const payer = present && payerOf(present, deps.defaultCreditMicros)
      if (!(await reservation.extend(micros, payer))) return false
      answerTokens += more
      return true
    },
    reserveAgain: () => reserveBeside(deps, key, atFirst),
    cutOff() {
      isCut = isBounded
    },
    attempted(attempt) {
      const { callId, model, answeredBy, unseenMicros = 0 } = attempt
      if (answeredBy !== null && !isAllowedModel(key, [answeredBy.asked], answeredBy.id))
        deps.onForeignModel({ callId, callerId: key.id, requested: model, answered: answeredBy.id })
      tokens += attempt.usage?.total_tokens ?? 0
      if (attempt.isHad) had = attempt
      const left = leftForCost()
      const isOver = attempt.costMicros > left
      const over = isBounded && isOver ? attempt.costMicros - left : 0
      // A charge is durable before the answer ends.
      const overWritten = over > 0 ? reservation.renew(isCharged ? 0 : over) : () => {}
      const caused = bound.readsMore ? Math.max(0, over - outputBeyond(attempt)) : 0
      const notCaused = isCharged ? over - caused : 0
      isCapped ||= notCaused > 0
      if (isOver)
        onOverrun({
          ...{ callId, callerId: key.id, model, reservedMicros: left, costMicros: attempt.costMicros },
          absorbedMicros: notCaused,
        })
      const isUnseen = isDetached && isBounded && attempt.isHad && (attempt.usage?.estimated ?? true)
      const cost = (isCut && !attempt.isByPiece) || isUnseen ? left : Math.min(attempt.costMicros, left)
      const unseen = isBounded ? Math.min(unseenMicros, left - cost) : 0
      if (!isCharged) {
        const reserved = reservation.take(cost + unseen)
        const spend: Taken = {
          ...reserved,
          micros: reserved.micros + over,
          beyondMicros: over,
          written() {
            reserved.written()
            overWritten()
          },
        }
        if (!deps.storesAllReceipts || !attempt.isHad) return spend
        const of = {
          at: began.toISOString(),
          margin: 0,
          costMicros: cost + unseen + over,
          token: pricing.token,
          isCharged,
          isCapped: false,
          absorbedMicros: 0,
        }
        return { ...spend, receipt: receiptOf(spend, attempt, attempt, of) }
      }
      costMicros += cost
      beyondMicros += caused
      const borne = unseen + notCaused
      if (!attempt.isHad) return borne === 0 ? null : countedAlone(reservation, borne, notCaused)
      absorbedMicros += borne
      absorbedBeyondMicros += notCaused
      return null
    },
    async settle({ keep, ...billed }) {
      if (!isCharged || had === null) return null
      const spend = reservation.take(costMicros + margin)
      const receipt = receiptOf(spend, billed, had, {
        at: began.toISOString(),
        margin,
        costMicros: costMicros + beyondMicros,
        token: pricing.token,
        isCharged,
        isCapped,
        absorbedMicros,
      })
      const { creditMicros } = payerOf(key, deps.defaultCreditMicros)
      const beyond = { beyondMicros, absorbedBeyondMicros, creditMicros: creditMicros ?? 0 }
      await chargeTaken(charge, spend, { receipt, ...beyond, keep: keep && ((trx) => keep(trx, receipt)) })
      if (isCapped) absorbed.forget(key.id)
      return receipt
    },
    end() {
      counted.end(tokens)
      reservation.end()
    },
  }
}

/** Reserves for a second upstream. @returns releases it; null when the call continues without one */
async function reserveBeside(deps: BillDeps, key: Identity, micros: Micros): Promise<(() => void) | null> {
  try {
    return (await deps.reservations.reserve(payerOf(key, deps.defaultCreditMicros), micros)).end
  } catch {
    // If the store has failed, the settlement reports it.
    return null
  }
}

/** Spending of a charged call that its budgets count and its caller does not pay. It has no receipt. */
const countedAlone = (reservation: Reservation, micros: Micros, beyondMicros: Micros): CallSpend => ({
  ...reservation.take(0),
  micros,
  beyondMicros,
  allowanceId: null,
})

/** Charges an amount that was taken from a reservation. @throws as `ChargeCall` */
async function chargeTaken(charge: ChargeCall, taken: Taken, of: Omit<Charge, 'allowanceId'>): Promise<void> {
  await charge({ ...of, allowanceId: taken.allowanceId as string, recorded: taken.recorded })
  taken.written()
}

/** Builds the receipt of a call. */
function receiptOf(
  { spender, day }: Taken,
  { callId, model, path, usage, latencyMs }: Omit<Billed, 'keep'>,
  { upstream, price, isStated }: Pick<BilledAttempt, 'upstream' | 'price' | 'isStated'>,
  of: {
    at: string
    margin: Micros
    costMicros: Micros
    token: string
    isCharged: boolean
    isCapped: boolean
    absorbedMicros: Micros
  },
): ChargedCall {
  const { at, margin, costMicros, token, isCharged, isCapped, absorbedMicros } = of
  return {
    call_id: callId,
    caller_id: spender.id,
    model,
    at,
    margin_micros: margin,
    upstream_cost_micros: costMicros,
    token,
    prompt_tokens: usage?.prompt_tokens ?? 0,
    completion_tokens: usage?.completion_tokens ?? 0,
    total_tokens: usage?.total_tokens ?? 0,
    usage_estimated: Number(usage?.estimated ?? false),
    latency_ms: latencyMs,
    upstream_call_id: callId,
    path,
    counted_on: day,
    group_id: spender.groupId,
    upstream,
    price: JSON.stringify(price()),
    cached_tokens: usage?.cached_tokens ?? 0,
    cache_write_tokens: usage?.cache_write_tokens ?? 0,
    cache_write_1h_tokens: usage?.cache_write_1h_tokens ?? 0,
    charged: Number(isCharged),
    capped: Number(isCapped),
    stated: Number(isStated),
    absorbed_micros: absorbedMicros,
    debt_micros: 0,
  }
}

/**
 * Opens the bill of a metered call. Its cost and the margin are charged, whatever the billing of its caller's key. A
 * wallet without a key spends what was paid in.
 *
 * @throws GazewayError `insufficient_credit`, `budget_reached`, `debt_open`, `limit_not_kept`, `invalid_api_key` or
 *   `key_expired`
 */
export async function meteredBill(
  deps: BillDeps,
  { callerId, model }: { callerId: string; model: string },
  bound: CallBound,
  isGone: () => boolean,
): Promise<Bill> {
  const known = await deps.identity(callerId)
  const key: Identity = { ...(known ?? walletOf(callerId)), billing: 'metered' }
  await deps.absorbed.require(key.id, [{ requested: model, upstream: model }])
  const reserved = await reserveFor(deps, key, bound, isGone)
  return createBill(deps, {
    key,
    bound,
    reserved,
    counted: UNCOUNTED_CALL,
    isOpenEnded: false,
    isDetached: false,
    isRewritten: false,
  })
}

const walletOf = (id: string): Identity => ({
  ...identityWithoutKey({ id, name: id, scopes: new Set(), wallet: id }),
  creditLimitMicros: 0,
})
