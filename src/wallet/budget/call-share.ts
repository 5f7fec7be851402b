import type { Micros } from '../../text/money.ts'

/** Part of what is free, as its divisor, that a call may reserve when it could use more. */
const CALL_SHARE = 4

/** Need of a call, and the most that it could use. Equal when its cost is fixed. */
export interface Wish {
  least: Micros
  most: Micros
  /** Reserved by the call already: no call that it may wait for holds that. */
  own?: Micros
}

/** Amount that is reserved for a call: a quarter of what is free, unless it needs more or could not use as much. */
export const shareFor = ({ least, most }: Wish, free: Micros): Micros =>
  Math.max(least, Math.min(most, Math.floor(free / CALL_SHARE)))
