import type { Micros } from '../../text/money.ts'
import type { Absorbed, AbsorbedCall } from '../../wallet/budget/absorbed-costs.ts'
import type { ChargeCall } from '../../wallet/wallet.ts'
import type { BilledAttempt } from './billed-attempt.ts'
import { billedOf, type CostShares, reservedOf, sumOfShares } from './cost-shares.ts'
import { receiptOf, recordedTerms } from './receipt-of.ts'
import type { BookedCall, CostBooking, RecordDeps } from './recorded-booking.ts'
import { payerOf, type ReserveDeps } from './reserve.ts'

/** Dependencies of {@link chargedBooking}. */
export interface ChargeDeps extends Pick<RecordDeps, 'pricing'>, Pick<ReserveDeps, 'defaultCreditMicros'> {
  charge: ChargeCall
  absorbed: Absorbed
  /** Called for each call that the operator bears a part of, once its receipt is stored. */
  onAbsorbed: (of: AbsorbedCall) => void
}

/** An attempt, with who pays its cost. */
interface SharedAttempt {
  attempt: BilledAttempt
  shares: CostShares
}

/**
 * Books the cost of a call that its caller pays. Attempts with an answer are charged together when the call is settled.
 * The operator bears the others at its end.
 */
export function chargedBooking(deps: ChargeDeps, call: BookedCall): CostBooking {
  const { charge, pricing, defaultCreditMicros } = deps
  const { key, reservation, margin, at } = call
  let usedMicros = 0
  /** Attempts that are neither charged nor recorded yet. */
  let open: SharedAttempt[] = []

  return {
    // The margin is taken last.
    left: () => Math.max(0, reservation.left() - margin - usedMicros),
    book(attempt, shares) {
      // The store has to decide again what later calls may reserve. A charge is durable before the answer ends.
      if (shares.causedMicros + shares.borneMicros > 0) reservation.renew(0)
      usedMicros += reservedOf(shares)
      open.push({ attempt, shares })
      return null
    },
    async settle({ keep, ...billed }) {
      const had = open.filter(({ attempt }) => attempt.isHad)
      const last = had.at(-1)
      if (last === undefined) return null
      open = open.filter(({ attempt }) => !attempt.isHad)
      const shares = sumOfShares(had)
      const { coveredMicros, causedMicros, borneMicros, borneBeyondMicros, isCapped } = shares
      const spend = reservation.take(reservedOf(shares) + margin)
      const receipt = receiptOf(
        spend,
        { ...last.attempt, ...billed },
        {
          ...{ at: at.toISOString(), margin, token: pricing.token, isCharged: true, isCapped },
          costMicros: coveredMicros + causedMicros,
          absorbedMicros: borneMicros,
        },
      )
      await charge({
        allowanceId: spend.allowanceId as string,
        session: spend.spender.session,
        receipt,
        beyondMicros: causedMicros,
        absorbedBeyondMicros: borneBeyondMicros,
        creditMicros: payerOf({ key, sessionId: null }, defaultCreditMicros).creditMicros ?? 0,
        keep: keep && ((trx) => keep(trx, receipt)),
        recorded: spend.recorded,
      })
      spend.written()
      if (borneMicros > 0) noteAbsorbed(deps, call, billed, borneMicros)
      return receipt
    },
    end() {
      // The record of what an answer cost later has a receipt, also where its reservation held that.
      const borne = open.filter(({ attempt, shares }) => attempt.isLater || billedOf(shares) > 0)
      open = []
      const bearing = borne.map((attempt) => bear(deps, call, attempt))
      reservation.end()
      if (bearing.length > 0) return Promise.all(bearing).then(() => undefined)
    },
  }
}

/** Records the cost of an attempt whose answer nobody got. Budgets count it, and the operator bears it. */
function bear(deps: ChargeDeps, call: BookedCall, { attempt, shares }: SharedAttempt): Promise<void> {
  // Reserved until the store counts it.
  const spend = call.reservation.take(reservedOf(shares))
  const beyondMicros = shares.causedMicros + shares.borneBeyondMicros
  const written = call.reservation.renew(beyondMicros)
  const absorbedMicros = billedOf(shares)
  const terms = { ...recordedTerms(call.at, deps.pricing), isCapped: shares.isCapped, absorbedMicros }
  return deps.charge({
    allowanceId: spend.allowanceId as string,
    session: spend.spender.session,
    receipt: receiptOf(spend, attempt, terms),
    absorbedBeyondMicros: beyondMicros,
    recorded(spent) {
      written()
      spend.recorded(spent)
      if (absorbedMicros > 0) noteAbsorbed(deps, call, attempt, absorbedMicros)
    },
  })
}

function noteAbsorbed(
  { absorbed, onAbsorbed }: ChargeDeps,
  { key }: BookedCall,
  { callId, model }: Pick<BilledAttempt, 'callId' | 'model'>,
  micros: Micros,
): void {
  absorbed.forget(key.id)
  onAbsorbed({ callId, callerId: key.id, model, micros })
}
