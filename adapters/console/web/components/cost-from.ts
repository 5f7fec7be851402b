import type { CallRecord } from '../../../../src/calls/call-record.ts'

/** Origins of a cost, for a reader. */
export const COST_FROM = {
  stated: 'stated by the provider',
  configuration: 'price of the settings',
  catalogue: 'price of the catalogue',
  fixed: 'flat price',
  free: 'free',
  dearest: 'no price: dearest of the provider',
  flat: 'no price: flat price',
  own_key: 'paid with an own key',
  own_plan: 'paid with an own plan',
} satisfies Record<NonNullable<CallRecord['price_from']>, string>
