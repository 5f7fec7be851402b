/** Reasons for which a bill and the recorded calls differ, in the order in which they are shown. */
export const REASONS = {
  rounding: 'each call is rounded up to a micro-dollar',
  preliminary: 'the day is less than 48 h old, and the bill may grow',
  deleted: 'records of this day were deleted (audit.retention_days)',
  unpriced: 'calls to a model without a price',
  estimated: "calls whose tokens Gazeway counted, since the provider's count did not come",
  unknown: 'calls without any usage, counted as free',
  capped: 'calls that cost more than their callers paid; the whole cost is counted',
  fee: 'a fee that is not for tokens',
  not_by_key: 'the bill does not name keys: calls past Gazeway are part of it',
  unknown_key: 'billed for a key that the provider does not show any more',
  not_billed: 'the bill has nothing for this day and model',
  not_counted: 'no call to this model was recorded on this day',
  tokens: 'the provider counted other tokens; a call belongs to the day of its start here, to that of its end there',
  price: 'the same tokens cost another price: compare gazeway prices with the page of the provider',
} as const satisfies Readonly<Record<string, string>>

/** A reason for a difference. */
export type ReasonName = keyof typeof REASONS

/** A reason with the calls that it concerns, and their recorded or billed cost, where they are known. */
export interface Reason {
  reason: ReasonName
  calls?: number
  usd?: number
}
