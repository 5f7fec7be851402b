import { GazewayError } from '../../errors.ts'
import { type Identity, identityWithoutKey } from '../../identity/identity.ts'
import type { Micros } from '../../text/money.ts'
import type { Reservation } from '../../wallet/budget/reservation.ts'
import type { Overrun } from '../../wallet/wallet.ts'
import { UNCOUNTED_CALL } from '../rates/call-rates.ts'
import type { CountedCall } from '../rates/rate-share.ts'
import { type ForeignAnswer, noteForeignAnswer } from './allowed-models.ts'
import { createAnswerLength } from './answer-length.ts'
import type { Bill } from './bill.ts'
import type { BilledAttempt } from './billed-attempt.ts'
import { type ChargeDeps, chargedBooking } from './charged-booking.ts'
import { reservedOf, sharesOf } from './cost-shares.ts'
import { type BookedCall, type CostBooking, type RecordDeps, recordedBooking } from './recorded-booking.ts'
import {
  extendInTime,
  marginFor,
  payerOf,
  type ReserveDeps,
  type Reserved,
  reserveFor,
  type SessionCaller,
} from './reserve.ts'
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
interface BillOf extends SessionCaller {
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

/** Creates the bill of a call that reserves money or budget. */
export function reservedBill(deps: BillDeps, of: BillOf): Bill {
  const { key, sessionId, bound, reserved, counted, isOpenEnded, isDetached, isRewritten } = of
  const { reservation } = reserved
  // Without the bound itself, which has the request: an answer in the background is billed hours later.
  const { limitAt, ceilingAt, readsMore, isLimitedByClient } = bound
  const atFirst = reservation.left()
  const isBounded = atFirst !== Infinity
  const isCharged = key.billing !== 'recorded'
  const margin = marginFor(key, deps.pricing)
  const call = { key, reservation, margin, at: deps.now() }
  const bookingOf = (booked: BookedCall) => (isCharged ? chargedBooking(deps, booked) : recordedBooking(deps, booked))
  const booking = bookingOf(call)
  let beside: BesideBooking | null = null
  const limit = reserved.quote.limitFor(atFirst - margin)
  const answerLimit = isBounded && bound.isLimited ? limit : null
  const length = createAnswerLength({
    limit: limit * bound.answers,
    more: bound.more,
    borne: isCharged && bound.isLimitedByClient ? deps.absorbed.bear(key.id) : null,
    async reserve(micros) {
      const present = await deps.identity(key.id)
      return reservation.extend(micros, present && payerOf({ key: present, sessionId }, deps.defaultCreditMicros))
    },
  })
  let tokens = 0
  let isCut = false
  /** Booked for attempts whose cost was not known. */
  let unknownMicros = 0
  let keptOpen: Promise<unknown> | null = null
  let onEnded = (): void => {}

  function endBookings(): void | Promise<void> {
    const ended = booking.end()
    const besideEnded = beside?.ended()
    return besideEnded === undefined ? ended : Promise.all([ended, besideEnded]).then(() => undefined)
  }

  return {
    answerLimit,
    limitAt: (model) => (answerLimit === null ? null : limitAt(model, answerLimit)),
    ceilingAt,
    isRewritten,
    headers: counted.headers,
    isBounded,
    isReadOn: isBounded,
    isOpenEnded: isBounded && isOpenEnded,
    isCharged,
    answerTokens: length.tokens,
    extend: length.extend,
    outgrown: () => sessionCut(reservation.refusal()) ?? length.outgrown(),
    async reserveAgain() {
      const again = await reserveBeside(deps, { key, sessionId }, atFirst)
      if (again === null) return null
      beside = besideOf(bookingOf({ ...call, reservation: again.reservation, margin: 0 }), again.end)
      return beside.release
    },
    reserveNext(isGone) {
      const used = atFirst - margin - booking.left()
      return isBounded && used > 0 ? extendInTime(deps, { key, sessionId, isGone }, reservation, used) : null
    },
    keepOpen(until) {
      if (!isBounded) return until
      keptOpen = until
      return new Promise<void>((resolve) => {
        onEnded = resolve
      })
    },
    cutOff() {
      isCut = isBounded
    },
    attempted(reported) {
      const attempt = reported.isLater ? withoutBooked(reported, unknownMicros) : reported
      const { callId, model, costMicros, isHad } = attempt
      noteForeignAnswer(deps.onForeignModel, key, attempt)
      tokens += attempt.usage?.total_tokens ?? 0
      const booked = (!isHad && beside?.take()) || booking
      const left = booked.left()
      const isUnseen = isDetached && isBounded && isHad && (attempt.usage?.estimated ?? true)
      const isUnknown = (isCut && !attempt.isByPiece) || isUnseen
      const shares = sharesOf(attempt, {
        left,
        isCharged,
        readsMore,
        isLimitedByClient,
        paidTokens: length.paidTokens(attempt.usage),
        isUnknown,
      })
      if (isUnknown || attempt.unseenMicros === Infinity) unknownMicros += reservedOf(shares)
      if (costMicros > left) {
        const absorbedMicros = isCharged ? shares.borneBeyondMicros : 0
        deps.onOverrun({ callId, callerId: key.id, model, reservedMicros: left, costMicros, absorbedMicros })
      }
      return booked.book(attempt, shares)
    },
    settle: booking.settle,
    end() {
      counted.end(tokens)
      length.end()
      if (keptOpen === null) return endBookings()
      void keptOpen.finally(endBookings).then(onEnded, onEnded)
    },
  }
}

/** An attempt with its cost beyond what was booked for it already. */
const withoutBooked = (attempt: BilledAttempt, bookedMicros: Micros): BilledAttempt => ({
  ...attempt,
  costMicros: Math.max(0, attempt.costMicros - bookedMicros),
})

/** Error of a stream that the budget of its session does not hold; null when another limit cut it. */
function sessionCut(refusal: GazewayError | null): GazewayError | null {
  if (refusal?.code !== 'session_budget_reached') return null
  return new GazewayError(refusal.code, `The answer was cut off. ${refusal.message}`)
}

/** A second reservation, to which one attempt is booked. */
interface BesideBooking {
  /** Gives the booking to an attempt. Null when another has it. */
  take(): CostBooking | null
  release(): void
  ended(): void | Promise<void>
}

function besideOf(booking: CostBooking, onReleased: () => void): BesideBooking {
  let isTaken = false
  let ending: void | Promise<void>
  return {
    take() {
      if (isTaken) return null
      isTaken = true
      return booking
    },
    release() {
      isTaken = true
      onReleased()
      ending = booking.end()
    },
    ended: () => ending,
  }
}

/**
 * Reserves for a second upstream. The operator bears what it costs a charged key, as much as a day's bound holds.
 *
 * @returns null when the call continues without one
 */
async function reserveBeside(
  deps: BillDeps,
  caller: SessionCaller,
  micros: Micros,
): Promise<{ reservation: Reservation; end(): void } | null> {
  const { key } = caller
  const borne = key.billing === 'recorded' ? null : deps.absorbed.bear(key.id)
  try {
    if (borne !== null && !(await borne.raise(micros))) return null
    const reservation = await deps.reservations.reserve(payerOf(caller, deps.defaultCreditMicros), micros)
    return { reservation, end: () => borne?.end() }
  } catch {
    borne?.end()
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
  { callerId, sessionId, model }: { callerId: string; sessionId: string | null; model: string },
  bound: CallBound,
  isGone: () => boolean,
): Promise<Bill> {
  const known = await deps.identity(callerId)
  const key: Identity = { ...(known ?? walletOf(callerId)), billing: 'metered' }
  await deps.absorbed.require(key.id, [{ requested: model, upstream: model }])
  const reserved = await reserveFor(deps, { key, sessionId }, bound, isGone)
  return reservedBill(deps, {
    key,
    sessionId,
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
