import type { CallContext } from '../../calls/call-record.ts'
import type { CallSpend } from '../../calls/call-spend.ts'
import type { GazewayError } from '../../errors.ts'
import { type Identity, identityWithoutKey } from '../../identity/identity.ts'
import type { Micros } from '../../text/money.ts'
import type { Absorbed, AbsorbedCall } from '../../wallet/budget/absorbed.ts'
import type { Overrun } from '../../wallet/budget/overruns.ts'
import type { Taken } from '../../wallet/budget/reservation.ts'
import type { ChargeCall } from '../../wallet/receipts/charges.ts'
import type { ChargedCall } from '../../wallet/receipts/store-receipts.ts'
import { UNCOUNTED_CALL } from '../rates/call-rates.ts'
import type { CountedCall } from '../rates/rate-share.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { type ForeignAnswer, isAllowedModel } from './allowed-models.ts'
import { createAnswerLength, overBudget } from './answer-length.ts'
import type { Billed, BilledAttempt } from './billed-attempt.ts'
import { billedOf, type CostShares, reservedOf, sharesOf } from './cost-shares.ts'
import { receiptOf, recordedTerms } from './receipt-of.ts'
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
  /** Called for each call that the operator bears a part of, once its receipt is stored. */
  onAbsorbed: (of: AbsorbedCall) => void
  /** Called for each call that cost more than its reservation. */
  onOverrun: (overrun: Overrun) => void
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
   * Output beyond a limit that the client of a charged call set is borne by the operator: as much as a day's bound holds.
   *
   * @returns false when there is not enough money left, or no more is borne
   * @throws GazewayError `invalid_api_key` or `key_expired` when the key has ended meanwhile
   */
  extend(tokens: number): Promise<boolean>
  /** Builds the error that a stream ends with for which there is no more. */
  outgrown(): GazewayError
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
  /**
   * Releases the rest of the reservation. Call it once, whatever the result.
   *
   * @returns a promise when the cost of attempts is recorded whose answer nobody got
   */
  end(): void | Promise<void>
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
  outgrown: overBudget,
  reserveAgain: async () => () => {},
  cutOff() {},
  attempted: () => null,
  settle: async () => null,
  end() {},
}

/** Context of one of Gazeway's own calls. */
export interface PaidContext extends CallContext {
  /** Called with the cost of each attempt, for a caller that charges for the call itself. */
  onAttempt?: ((attempt: BilledAttempt) => void) | undefined
}

/** Bill of a call that its caller charges for itself, see {@link meteredBill}. It has no money for a second upstream. */
export const paidBill = ({ onAttempt }: Pick<PaidContext, 'onAttempt'>): Bill => ({
  ...NO_BILL,
  reserveAgain: async () => null,
  attempted(attempt) {
    onAttempt?.(attempt)
    return null
  },
})

/** Counts the calls of a bill without a reservation against the rate limits of their key. */
export function countedBill(bill: Bill, counted: CountedCall): Bill {
  if (counted === UNCOUNTED_CALL) return bill
  let tokens = 0
  return {
    ...bill,
    headers: counted.headers,
    attempted(attempt) {
      tokens += attempt.usage?.total_tokens ?? 0
      return bill.attempted(attempt)
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

/** An attempt of a charged call, with who pays its cost. */
interface SharedAttempt extends CostShares {
  attempt: BilledAttempt
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
  const at = now().toISOString()
  const limit = reserved.quote.limitFor(atFirst - margin)
  const answerLimit = isBounded && bound.isLimited ? limit : null
  const length = createAnswerLength({
    ...{ limit: limit * bound.answers, more: bound.more },
    borne: isCharged && bound.isLimitedByClient ? absorbed.bear(key.id) : null,
    async reserve(micros) {
      const present = await identity(key.id)
      return reservation.extend(micros, present && payerOf(present, deps.defaultCreditMicros))
    },
  })
  let usedMicros = 0
  let tokens = 0
  /** Attempts of a charged call that are neither charged nor recorded yet. */
  let open: SharedAttempt[] = []
  let isCut = false

  /** Reservation left for the call's cost. The margin is taken last. */
  const leftForCost = (): Micros => Math.max(0, reservation.left() - margin - usedMicros)

  /** Books an attempt of a call whose cost is only recorded. */
  function record(attempt: BilledAttempt, shares: CostShares, overWritten: () => void): CallSpend {
    const beyondMicros = shares.borneBeyondMicros
    const taken = reservation.take(reservedOf(shares))
    const spend: Taken = {
      ...taken,
      micros: taken.micros + beyondMicros,
      beyondMicros,
      written() {
        taken.written()
        overWritten()
      },
    }
    const micros = billedOf(shares)
    if (!deps.storesAllReceipts || (micros === 0 && !attempt.isHad)) return spend
    return { ...spend, receipt: receiptOf(spend, attempt, { ...recordedTerms(at, pricing), costMicros: micros }) }
  }

  function noteAbsorbed({ callId, model }: Pick<BilledAttempt, 'callId' | 'model'>, micros: Micros): void {
    absorbed.forget(key.id)
    deps.onAbsorbed({ callId, callerId: key.id, model, micros })
  }

  /**
   * Records the cost of an attempt whose answer nobody got. Budgets count it, and the operator bears it.
   *
   * @param onRecorded called once the store has it
   */
  function bear({ attempt, ...shares }: SharedAttempt, onRecorded: () => void): Promise<void> {
    const of = reservation.take(0)
    const beyondMicros = shares.causedMicros + shares.borneBeyondMicros
    const written = reservation.renew(beyondMicros)
    const terms = { ...recordedTerms(at, pricing), isCapped: shares.isCapped, absorbedMicros: billedOf(shares) }
    return charge({
      allowanceId: of.allowanceId as string,
      receipt: receiptOf(of, attempt, terms),
      absorbedBeyondMicros: beyondMicros,
      recorded() {
        written()
        onRecorded()
        noteAbsorbed(attempt, billedOf(shares))
      },
    })
  }

  return {
    answerLimit,
    limitAt: (model) => (answerLimit === null ? null : bound.limitAt(model, answerLimit)),
    ceilingAt: bound.ceilingAt,
    isRewritten,
    headers: counted.headers,
    isBounded,
    isOpenEnded: isBounded && isOpenEnded,
    isCharged,
    answerTokens: length.tokens,
    extend: length.extend,
    outgrown: length.outgrown,
    reserveAgain: () => reserveBeside(deps, key, atFirst),
    cutOff() {
      isCut = isBounded
    },
    attempted(attempt) {
      const { callId, model, answeredBy, costMicros, isHad } = attempt
      if (answeredBy !== null && !isAllowedModel(key, [answeredBy.asked], answeredBy.id))
        deps.onForeignModel({ callId, callerId: key.id, requested: model, answered: answeredBy.id })
      tokens += attempt.usage?.total_tokens ?? 0
      const left = leftForCost()
      const isUnseen = isDetached && isBounded && isHad && (attempt.usage?.estimated ?? true)
      const shares = sharesOf(attempt, {
        ...{ left, isCharged, readsMore: bound.readsMore, isLimitedByClient: bound.isLimitedByClient },
        paidTokens: length.paidTokens(attempt.usage),
        isUnknown: (isCut && !attempt.isByPiece) || isUnseen,
      })
      if (costMicros > left)
        onOverrun({
          ...{ callId, callerId: key.id, model, reservedMicros: left, costMicros },
          absorbedMicros: isCharged ? shares.borneBeyondMicros : 0,
        })
      // A charge is durable before the answer ends. What is not charged leaves the money of its allowance free, so that
      // the store has to decide again what later calls may reserve.
      const isAskedAgain = costMicros > left || (isCharged && shares.borneMicros > 0)
      const overWritten = isAskedAgain ? reservation.renew(isCharged ? 0 : shares.borneBeyondMicros) : () => {}
      if (!isCharged) return record(attempt, shares, overWritten)
      usedMicros += reservedOf(shares)
      open.push({ attempt, ...shares })
      return null
    },
    async settle({ keep, ...billed }) {
      const had = open.filter(({ attempt }) => attempt.isHad)
      const last = had.at(-1)
      if (last === undefined) return null
      open = open.filter(({ attempt }) => !attempt.isHad)
      const sum = (of: (one: SharedAttempt) => Micros) => had.reduce((all, one) => all + of(one), 0)
      const [costMicros, beyondMicros] = [sum((one) => one.coveredMicros), sum((one) => one.causedMicros)]
      const isCapped = had.some((one) => one.isCapped)
      const spend = reservation.take(costMicros + margin)
      const receipt = receiptOf(
        spend,
        { ...last.attempt, ...billed },
        {
          ...{ at, margin, token: pricing.token, isCharged, isCapped },
          costMicros: costMicros + beyondMicros,
          absorbedMicros: sum((one) => one.borneMicros),
        },
      )
      const { creditMicros } = payerOf(key, deps.defaultCreditMicros)
      await charge({
        allowanceId: spend.allowanceId as string,
        receipt,
        beyondMicros,
        absorbedBeyondMicros: sum((one) => one.borneBeyondMicros),
        creditMicros: creditMicros ?? 0,
        keep: keep && ((trx) => keep(trx, receipt)),
        recorded: spend.recorded,
      })
      spend.written()
      if (receipt.absorbed_micros > 0) noteAbsorbed(billed, receipt.absorbed_micros)
      return receipt
    },
    end() {
      counted.end(tokens)
      const borne = open.filter((shares) => billedOf(shares) > 0)
      open = []
      length.end()
      if (borne.length === 0) return reservation.end()
      let waiting = borne.length
      // Reserved until the store counts it.
      const onRecorded = () => {
        waiting -= 1
        if (waiting === 0) reservation.end()
      }
      return Promise.all(borne.map((shares) => bear(shares, onRecorded))).then(() => undefined)
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
