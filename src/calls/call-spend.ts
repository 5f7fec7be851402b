import type { MeteredCallRow } from '../store/tables/wallet-tables.ts'

/** Amount that a call takes from its caller's budgets. Written together with the call record. */
export interface CallSpend {
  /** Key or wallet that made the call, its group, and the name of its session's spending where a budget holds for it. */
  spender: { id: string; groupId: string | null; session?: string | null | undefined }
  /** UTC day on which the call began. */
  day: string
  /** In micro-dollars. */
  micros: number
  /** Part of the amount that was not reserved: the provider reported more than the call could cost. None by default. */
  beyondMicros?: number
  /** Allowance that reserved the amount. Null without a reservation. */
  allowanceId: string | null
  /** Receipt to store with the record. Absent for calls without one, and for charged calls. */
  receipt?: Omit<MeteredCallRow, 'transfer'>
  /** Called once the journal of the process has the spend. */
  noted?(): void
  /** Called once the spend is stored. */
  written(): void
}
