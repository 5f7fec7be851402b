import type { Micros } from '../../text/money.ts'
import type { Period } from '../../text/period.ts'

/** A limit that a key or group can reach: a budget, or the money of a key. */
export interface Bound {
  /** Id of the key or group whose calls count. */
  owner: string
  left: Micros
  /** Null for the money of a key. */
  budget: { per: Period; micros: Micros; resetsAt: string | null } | null
}

/** The bound that runs out first, and in how many milliseconds. */
export interface Dry {
  bound: Bound
  inMs: number
}

/**
 * Finds the bound that runs out first.
 *
 * @param rateOf micro-dollars per millisecond that an owner's calls cost
 * @returns null when none runs out before it resets
 */
export function firstDry(bounds: readonly Bound[], rateOf: (owner: string) => number, now: Date): Dry | null {
  const dries = bounds.flatMap((bound): Dry[] => {
    if (bound.left <= 0) return [{ bound, inMs: 0 }]
    const inMs = bound.left / rateOf(bound.owner)
    const resetsAt = bound.budget?.resetsAt ?? null
    const isReset = resetsAt !== null && Date.parse(resetsAt) - now.getTime() <= inMs
    return inMs === Infinity || isReset ? [] : [{ bound, inMs }]
  })
  return dries.reduce<Dry | null>((first, dry) => (first === null || dry.inMs < first.inMs ? dry : first), null)
}

/** The budget that runs out first, or the one with the least left. */
export const tightestOf = (budgets: readonly Bound[], dry: Dry | null): Bound | null =>
  dry?.bound ??
  budgets.reduce<Bound | null>((least, budget) => (least === null || budget.left < least.left ? budget : least), null)
