import { ApiError, api } from '../../api.ts'
import type { Attestation, Tensor } from '../attention/gaze.ts'

/** How often what was recorded is sent, in milliseconds. */
const SEND_EVERY_MS = 2000
/** The most records that the platform takes at once. */
const MOST_AT_ONCE = 1000

/** What became of a recording so far. */
export interface Recorded {
  sessionId: string | null
  stored: number
  attestation: Attestation | null
  /** Why the last attempt to send failed; it is tried again with the next. */
  error: Error | null
}

/** Sends records to a gaze session as they are made. */
export interface Recorder {
  add(record: Tensor): void
  /** Sends the rest and sends no more. */
  stop(): Promise<void>
}

/**
 * @param options.taskId the task that the attention is for; null for none
 * @param options.onChange told after each attempt to send
 */
export function createRecorder(options: { taskId: string | null; onChange: (recorded: Recorded) => void }): Recorder {
  let waiting: Tensor[] = []
  let state: Recorded = { sessionId: null, stored: 0, attestation: null, error: null }
  let sending = Promise.resolve()
  const timer = setInterval(() => void send(), SEND_EVERY_MS)

  async function sendBatch(): Promise<void> {
    const records = waiting.slice(0, MOST_AT_ONCE)
    if (records.length === 0) return
    try {
      const reply = await api.post<{ session_id: string; stored: number; attestation: Attestation }>(
        '/api/gaze/store',
        {
          ...(state.sessionId !== null && { session_id: state.sessionId }),
          ...(options.taskId !== null && { task_id: options.taskId }),
          records,
        },
      )
      waiting = waiting.slice(records.length)
      const { session_id: sessionId, stored, attestation } = reply
      state = { sessionId, stored: state.stored + stored, attestation, error: null }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      state = { ...state, error }
    }
    options.onChange(state)
  }

  function send(): Promise<void> {
    // One batch at a time: the first names the session that the others go to.
    sending = sending.then(sendBatch)
    return sending
  }

  return {
    add: (record) => void waiting.push(record),
    async stop() {
      clearInterval(timer)
      await send()
    },
  }
}
