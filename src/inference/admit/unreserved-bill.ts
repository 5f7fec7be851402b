import type { Identity } from '../../identity/identity.ts'
import type { Reservation } from '../../wallet/budget/reservation.ts'
import { noteForeignAnswer } from './allowed-models.ts'
import { type Bill, NO_BILL } from './bill.ts'
import { sharesOf } from './cost-shares.ts'
import { recordedBooking } from './recorded-booking.ts'
import type { BillDeps } from './reserved-bill.ts'

/** Shares of a cost that nothing limits: all of it is recorded. */
const UNLIMITED = {
  left: Number.POSITIVE_INFINITY,
  isCharged: false,
  paidTokens: Number.POSITIVE_INFINITY,
  isLimitedByClient: false,
  readsMore: false,
  isUnknown: false,
}

/**
 * Creates the bill of a call by a key without credit and budgets: its cost is only recorded. Most calls have it, and a
 * bill that reserves takes several times longer to make.
 *
 * @param of.reservation the unlimited one of the call
 * @param of.isRewritten true when the request is sent as it was read
 */
export function unreservedBill(
  deps: BillDeps,
  { key, reservation, isRewritten }: { key: Identity; reservation: Reservation; isRewritten: boolean },
): Bill {
  const booking = recordedBooking(deps, { reservation, at: deps.now() })
  return {
    ...NO_BILL,
    isRewritten,
    attempted(attempt) {
      noteForeignAnswer(deps.onForeignModel, key, attempt)
      return booking.book(attempt, sharesOf(attempt, UNLIMITED))
    },
  }
}
