/** Amount that a call takes from its caller's budgets. Written together with the call record. */
export interface CallSpend {
  /** Key or wallet that made the call, and its group. */
  spender: { id: string; groupId: string | null }
  /** UTC day on which the call began. */
  day: string
  /** In micro-dollars. */
  micros: number
  /** Allowance that reserved the amount. Null without a reservation. */
  allowanceId: string | null
  /** Called once the spend is stored. */
  written(): void
}
