import type { CallContext } from '../../calls/call-record.ts'
import type { CallSpend } from '../../calls/call-spend.ts'
import type { GazewayError } from '../../errors.ts'
import type { ChargedCall } from '../../wallet/receipts/store-receipts.ts'
import { UNCOUNTED_CALL } from '../rates/call-rates.ts'
import type { CountedCall } from '../rates/rate-share.ts'
import type { OwnKey } from '../upstreams/own-key.ts'
import type { ModelChoice } from '../upstreams/provider.ts'
import { overBudget } from './answer-length.ts'
import type { Billed, BilledAttempt } from './billed-attempt.ts'
import { NO_CEILING } from './price-ceiling.ts'

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
  /** True when an answer is read on for its usage once its client has left. */
  isReadOn: boolean
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
   * Reserves the same amount again, for an upstream that is tried beside the first: both may bill. The attempt whose
   * answer the client does not get is booked there.
   *
   * @returns releases it, once both have ended; null when there is not enough money left, or no more is borne
   */
  reserveAgain(): Promise<(() => void) | null>
  /**
   * Reserves again what earlier attempts have used, for one more.
   *
   * @param isGone tells whether nobody waits for the call any more
   * @returns null when they have used nothing
   * @throws GazewayError `budget_reached`, `insufficient_credit`, `debt_open`, or as `extend`
   */
  reserveNext(isGone: () => boolean): Promise<void> | null
  /**
   * Keeps the bill open beyond its end for an attempt whose answer nobody waits for.
   *
   * @returns once it has ended
   */
  keepOpen(until: Promise<unknown>): Promise<unknown>
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

/** Bill of a call without limits: by a tool on this machine. */
export const NO_BILL: Bill = {
  answerLimit: null,
  limitAt: () => null,
  ceilingAt: () => NO_CEILING,
  isRewritten: false,
  headers: UNCOUNTED_CALL.headers,
  isBounded: false,
  isReadOn: false,
  isOpenEnded: false,
  isCharged: false,
  answerTokens: () => Infinity,
  extend: async () => true,
  outgrown: overBudget,
  reserveAgain: async () => () => {},
  reserveNext: () => null,
  keepOpen: (until) => until,
  cutOff() {},
  attempted: () => null,
  settle: async () => null,
  end() {},
}

/** Context of one of Gazeway's own calls. */
export interface PaidContext extends CallContext {
  /** Called with the cost of each attempt, for a caller that charges for the call itself. */
  onAttempt?: ((attempt: BilledAttempt) => void) | undefined
  /** Credential of the client for the provider itself, which the client pays. Undefined where our keys are used. */
  ownKey?: OwnKey | undefined
}

/** Bill of a call that its caller charges for itself, see {@link meteredBill}. It has no money for a second upstream. */
const paidBill = ({ onAttempt }: Pick<PaidContext, 'onAttempt'>): Bill => ({
  ...NO_BILL,
  isReadOn: true,
  reserveAgain: async () => null,
  attempted(attempt) {
    onAttempt?.(attempt)
    return null
  },
})

/** Bill of a call that its caller or its client pays. Null where it is ours to pay. */
export function billOfOthers(context: PaidContext): Bill | null {
  if (context.ownKey !== undefined) return NO_BILL
  return context.isPaid === true ? paidBill(context) : null
}

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
