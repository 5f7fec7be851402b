import type { Period } from '../identity/budgets.ts'
import type { Micros } from '../text/money.ts'

/** Something that a key or a group can run out of. */
export interface Bound {
  /** Whose calls use it up. */
  owner: string
  left: Micros
  /** Null for the money of a key. */
  budget: { per: Period; micros: Micros; resetsAt: string | null } | null
}

/** What runs out first, and in how many milliseconds. */
export interface Dry {
  bound: Bound
  inMs: number
}

/**
 * The bound that is used up first.
 *
 * @param rateOf micro-dollars that the calls of an owner cost in a millisecond
 * @returns null where none is used up before it resets
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

/** The budget that runs out first, else the one of which least is left. */
export const tightestOf = (budgets: readonly Bound[], dry: Dry | null): Bound | null =>
  dry?.bound ??
  budgets.reduce<Bound | null>((least, budget) => (least === null || budget.left < least.left ? budget : least), null)
