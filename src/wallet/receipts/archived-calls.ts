import type { Micros } from '../../text/money.ts'

/** Micro-dollars by UTC day. */
export type Days = Map<string, Micros>

/** Calls of archives, as far as they matter to checks of what the store has about them. */
export interface ArchivedCalls {
  /** Receipts of before this time are archived; those that the store has, too, do not count. Null for none. */
  until: string | null
  /** Charged amounts by caller and day of spending. */
  ofCallers: ReadonlyMap<string, Days>
  /** The same by group. */
  ofGroups: ReadonlyMap<string, Days>
}

/** A store without archives. */
export const NOTHING_ARCHIVED: ArchivedCalls = { until: null, ofCallers: new Map(), ofGroups: new Map() }
