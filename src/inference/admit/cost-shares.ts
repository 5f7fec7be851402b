import { MEDIA } from '../../providers/preset.ts'
import type { Micros } from '../../text/money.ts'
import type { BilledAttempt } from './billed-attempt.ts'

/** Parts of what a provider bills for an attempt, by who pays them. Recorded calls have no unpaid part. */
export interface CostShares {
  /** Reserved, and paid by the caller. */
  coveredMicros: Micros
  /** Not reserved, and paid by the caller, who caused it. */
  causedMicros: Micros
  /** Borne by the operator: output beyond the limit, what was not seen, and replies that were discarded. */
  borneMicros: Micros
  /** Part of `borneMicros` that was not reserved. */
  borneBeyondMicros: Micros
  /** True when output beyond its limit is part of what the operator bears. */
  isCapped: boolean
}

/** Terms of the call that an attempt belongs to. */
interface ShareTerms {
  /** Reserved and not used yet. */
  left: Micros
  isCharged: boolean
  /** Answer tokens that the caller pays at most. */
  paidTokens: number
  /** True when the client set that limit: it pays no output beyond it, even where more is reserved. */
  isLimitedByClient: boolean
  /** True when the provider reads more than was sent. */
  readsMore: boolean
  /** True when nothing tells the cost, so that it is all that is reserved. */
  isUnknown: boolean
}

/** Divides the cost of an attempt. The parts sum to what the provider billed, hidden reasoning included. */
export function sharesOf(attempt: BilledAttempt, terms: ShareTerms): CostShares {
  const { left, isCharged, isUnknown } = terms
  const { costMicros, unseenMicros = 0, discardedMicros = 0 } = attempt
  const over = Math.max(0, costMicros - left)
  const outputBeyond = isCharged ? outputBeyondOf(attempt, terms.paidTokens) : 0
  const caused = isCharged && terms.readsMore ? Math.max(0, over - outputBeyond) : 0
  const unpaidBeyond = isCharged ? over - caused : over
  const unpaid = terms.isLimitedByClient
    ? Math.max(unpaidBeyond, Math.min(outputBeyond, costMicros - caused))
    : unpaidBeyond
  const reserved = isUnknown ? left : costMicros - over
  const unseen = Math.min(unseenMicros, left - reserved)
  const discardedBeyond = Math.max(0, discardedMicros - (left - reserved - unseen))
  return {
    coveredMicros: reserved - (unpaid - unpaidBeyond),
    causedMicros: caused,
    borneMicros: unpaid + unseen + discardedMicros,
    borneBeyondMicros: unpaidBeyond + discardedBeyond,
    isCapped: isCharged && unpaid > 0,
  }
}

/** Cost of the output beyond a number of tokens, at the price of the attempt: the dearest where it has several media. */
function outputBeyondOf({ usage, price }: BilledAttempt, paidTokens: number): Micros {
  const tokens = (usage?.completion_tokens ?? 0) - paidTokens
  // US dollars per 1,000,000 tokens are micro-dollars per token.
  if (tokens <= 0) return 0
  const rates = price()
  return Math.ceil(tokens * Math.max(rates.output, ...MEDIA.map((medium) => rates[`${medium}_output`] ?? 0)))
}

/** Reserved part of the shares. */
export const reservedOf = ({ coveredMicros, borneMicros, borneBeyondMicros }: CostShares): Micros =>
  coveredMicros + borneMicros - borneBeyondMicros

/** Sum of the shares: the provider's bill. */
export const billedOf = ({ coveredMicros, causedMicros, borneMicros }: CostShares): Micros =>
  coveredMicros + causedMicros + borneMicros

/** Sums the shares of several attempts. */
export function sumOfShares(attempts: readonly { shares: CostShares }[]): CostShares {
  const sum = (micros: (shares: CostShares) => Micros) => attempts.reduce((all, { shares }) => all + micros(shares), 0)
  return {
    coveredMicros: sum((shares) => shares.coveredMicros),
    causedMicros: sum((shares) => shares.causedMicros),
    borneMicros: sum((shares) => shares.borneMicros),
    borneBeyondMicros: sum((shares) => shares.borneBeyondMicros),
    isCapped: attempts.some(({ shares }) => shares.isCapped),
  }
}
