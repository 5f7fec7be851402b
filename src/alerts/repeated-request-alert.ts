import type { Store } from '../store/store.ts'
import { noteDaily } from './daily-message.ts'

/** A session that has asked the same as often as its key allows. */
export interface RepeatedRequest {
  callerId: string
  sessionId: string
  /** Name of the tool whose result repeats; null for a request. */
  tool: string | null
  times: number
  minutes: number
}

/** Records in the outbox that a session seems to run in a loop: once a day for each key. */
export function noteRepeated(store: Store, now: Date, of: RepeatedRequest): Promise<void> {
  const { callerId, sessionId, tool, times, minutes } = of
  return noteDaily(store, now, {
    ...{ type: 'session.repeats', callerId },
    data: { session_id: sessionId, tool, times, minutes },
  })
}
