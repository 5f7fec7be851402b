/** What a call takes from the budgets of its caller; written together with its record. */
export interface CallSpend {
  /** The key or wallet that made the call, and its group. */
  spender: { id: string; groupId: string | null }
  /** The UTC day on which the call began. */
  day: string
  /** In micro-dollars. */
  micros: number
  /** What it was set aside in; null where nothing was. */
  allowanceId: string | null
  /** Told once it is written. */
  written(): void
}
