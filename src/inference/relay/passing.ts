import type { Recording } from '../recording.ts'
import type { Receiver } from './receiver.ts'
import type { Relay } from './relay.ts'

/** A request that is being passed through: whose it is, what is asked of the upstream, and the record of that. */
export interface Passing {
  relay: Relay
  receiver: Receiver
  /** Whether its client wants the answer as events. */
  stream: boolean
  /** Names the client's request in the errors that it is told; null where they name none. */
  requestId: string | null
  /** What the upstream is asked, to count where it reports no usage. */
  sent: object
  recording: Recording
}
