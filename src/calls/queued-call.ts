import type { CallRecord } from './call-record.ts'
import type { CallSpend } from './call-spend.ts'

/** A record waiting to be written, with the spend of its call. */
export interface QueuedCall {
  record: CallRecord
  spend: CallSpend | null
  /** Ids that the upstream gave to objects that the call created. */
  made: readonly string[]
  /** Called once the call is stored; absent for one that no journal has. */
  stored?: (() => void) | null
}
