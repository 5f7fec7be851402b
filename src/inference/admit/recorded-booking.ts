import type { CallSpend } from '../../calls/call-spend.ts'
import type { Identity } from '../../identity/identity.ts'
import type { Micros } from '../../text/money.ts'
import type { Reservation, Taken } from '../../wallet/budget/reservation.ts'
import type { PricingConfig } from '../../wallet/receipts/pricing.ts'
import type { Bill } from './bill.ts'
import type { BilledAttempt } from './billed-attempt.ts'
import { billedOf, type CostShares, reservedOf } from './cost-shares.ts'
import { receiptOf, recordedTerms } from './receipt-of.ts'

/** Call whose cost is booked. */
export interface BookedCall {
  key: Identity
  reservation: Reservation
  /** Part of the reservation for the margin. */
  margin: Micros
  /** Start of the call. */
  at: Date
}

/** Books the cost of a call's attempts to its reservation. */
export interface CostBooking extends Pick<Bill, 'settle' | 'end'> {
  /** Reserved and not used by an attempt. */
  left(): Micros
  /** Books an attempt. @returns the spend to write with its record */
  book(attempt: BilledAttempt, shares: CostShares): CallSpend | null
}

/** Dependencies of {@link recordedBooking}. */
export interface RecordDeps {
  pricing: PricingConfig
  /** True when calls that are only recorded get a receipt, too; false by default. */
  storesAllReceipts?: boolean
}

/** Books the cost of a call that nobody pays through this gateway: budgets count it. */
export function recordedBooking(
  { pricing, storesAllReceipts }: RecordDeps,
  { reservation, at }: Pick<BookedCall, 'reservation' | 'at'>,
): CostBooking {
  return {
    left: reservation.left,
    book(attempt, shares) {
      const spend = take(reservation, shares)
      const costMicros = billedOf(shares)
      if (!storesAllReceipts || (costMicros === 0 && !attempt.isHad)) return spend
      return { ...spend, receipt: receiptOf(spend, attempt, { ...recordedTerms(at, pricing), costMicros }) }
    },
    settle: async () => null,
    end: reservation.end,
  }
}

/** Takes what was reserved for an attempt, and counts what it cost beyond that. */
function take(reservation: Reservation, shares: CostShares): Taken {
  const beyondMicros = shares.borneBeyondMicros
  if (beyondMicros === 0) return reservation.take(reservedOf(shares))
  const beyondWritten = reservation.renew(beyondMicros)
  const taken = reservation.take(reservedOf(shares))
  return {
    ...taken,
    micros: taken.micros + beyondMicros,
    beyondMicros,
    written() {
      taken.written()
      beyondWritten()
    },
  }
}
