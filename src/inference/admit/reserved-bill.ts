import { type Identity, identityWithoutKey } from '../../identity/identity.ts'
import type { Micros } from '../../text/money.ts'
import type { Overrun } from '../../wallet/budget/overruns.ts'
import { UNCOUNTED_CALL } from '../rates/call-rates.ts'
import type { CountedCall } from '../rates/rate-share.ts'
import { type ForeignAnswer, isAllowedModel } from './allowed-models.ts'
import { createAnswerLength } from './answer-length.ts'
import type { Bill } from './bill.ts'
import { type ChargeDeps, chargedBooking } from './charged-booking.ts'
import { sharesOf } from './cost-shares.ts'
import { type RecordDeps, recordedBooking } from './recorded-booking.ts'
import { marginFor, payerOf, type ReserveDeps, type Reserved, reserveFor } from './reserve.ts'
import type { CallBound } from './worst-case.ts'

/** Dependencies of billing. */
export interface BillDeps extends ReserveDeps, ChargeDeps, RecordDeps {
  now: () => Date
  /** Called for each answer by a model that the list of its key lacks. */
  onForeignModel: (answer: ForeignAnswer) => void
  /** Called for each call that cost more than its reservation. */
  onOverrun: (overrun: Overrun) => void
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
export function reservedBill(deps: BillDeps, of: BillOf): Bill {
  const { key, bound, reserved, counted, isOpenEnded, isDetached, isRewritten } = of
  const { reservation } = reserved
  const atFirst = reservation.left()
  const isBounded = atFirst !== Infinity
  const isCharged = key.billing !== 'recorded'
  const margin = marginFor(key, deps.pricing)
  const call = { key, reservation, margin, at: deps.now() }
  const booking = isCharged ? chargedBooking(deps, call) : recordedBooking(deps, call)
  const limit = reserved.quote.limitFor(atFirst - margin)
  const answerLimit = isBounded && bound.isLimited ? limit : null
  const length = createAnswerLength({
    limit: limit * bound.answers,
    more: bound.more,
    borne: isCharged && bound.isLimitedByClient ? deps.absorbed.bear(key.id) : null,
    async reserve(micros) {
      const present = await deps.identity(key.id)
      return reservation.extend(micros, present && payerOf(present, deps.defaultCreditMicros))
    },
  })
  let tokens = 0
  let isCut = false

  return {
    answerLimit,
    limitAt: (model) => (answerLimit === null ? null : bound.limitAt(model, answerLimit)),
    ceilingAt: bound.ceilingAt,
    isRewritten,
    headers: counted.headers,
    isBounded,
    isReadOn: isBounded,
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
      const left = booking.left()
      const isUnseen = isDetached && isBounded && isHad && (attempt.usage?.estimated ?? true)
      const shares = sharesOf(attempt, {
        left,
        isCharged,
        readsMore: bound.readsMore,
        isLimitedByClient: bound.isLimitedByClient,
        paidTokens: length.paidTokens(attempt.usage),
        isUnknown: (isCut && !attempt.isByPiece) || isUnseen,
      })
      if (costMicros > left) {
        const absorbedMicros = isCharged ? shares.borneBeyondMicros : 0
        deps.onOverrun({ callId, callerId: key.id, model, reservedMicros: left, costMicros, absorbedMicros })
      }
      return booking.book(attempt, shares)
    },
    settle: booking.settle,
    end() {
      counted.end(tokens)
      length.end()
      return booking.end()
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
  return reservedBill(deps, {
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
