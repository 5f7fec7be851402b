import type { Micros } from '../../text/money.ts'

/** A call whose reported cost exceeded its reservation. */
export interface Overrun {
  callId: string
  callerId: string
  model: string
  /** Reserved upstream cost, without the margin. */
  reservedMicros: Micros
  /** Cost of the usage that the upstream reported. */
  costMicros: Micros
  /** Part that the operator bears; 0 for a caller that is not charged. */
  absorbedMicros: Micros
}
