import type { Attestation } from '../../../../../src/gaze/attestation.ts'
import type { GazeTensor } from '../../../../../src/gaze/tensor.ts'
import { ApiError, api } from '../../api.ts'
import { randomHex } from '../../random-hex.ts'

/** Interval of sending in milliseconds. */
const SEND_EVERY_MS = 2000
/** Maximum number of records that the platform accepts in one request. */
const MAX_AT_ONCE = 1000

/** Progress of a recording. */
export interface Recorded {
  sessionId: string | null
  stored: number
  attestation: Attestation | null
  /** Error of the last attempt to send. The next attempt sends the same records again. */
  error: Error | null
  /** Records that are not stored yet. */
  waiting: number
}

/** State before the first attempt to send. */
export const NOTHING_RECORDED: Recorded = { sessionId: null, stored: 0, attestation: null, error: null, waiting: 0 }

/** Sends records to a gaze session in batches. */
export interface Recorder {
  add(record: GazeTensor): void
  /** Sends pending records and calls `onChange` with the result. */
  send(): Promise<void>
  /** Sends the remaining records, and stops sending on its own. */
  stop(): Promise<void>
}

/**
 * Creates a recorder.
 *
 * @param options.taskId task that the attention is for; null for none
 * @param options.onChange called after each attempt to send
 */
export function createRecorder(options: { taskId: string | null; onChange: (recorded: Recorded) => void }): Recorder {
  // The id is created here. Otherwise a lost first reply would store the same records again in another session, as
  // copies.
  const sessionId = `ses_${randomHex()}`
  let waiting: GazeTensor[] = []
  let state: Recorded = NOTHING_RECORDED
  let sending = Promise.resolve()
  const timer = setInterval(() => void send(), SEND_EVERY_MS)

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const records = waiting.slice(0, MAX_AT_ONCE)
      try {
        const { stored, attestation } = await api.post('/api/gaze/store', {
          session_id: sessionId,
          ...(options.taskId !== null && { task_id: options.taskId }),
          records,
        })
        waiting = waiting.slice(records.length)
        state = { sessionId, stored: state.stored + stored, attestation, error: null, waiting: waiting.length }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        state = { ...state, error, waiting: waiting.length }
        return
      } finally {
        options.onChange(state)
      }
    }
  }

  function send(): Promise<void> {
    // One batch at a time. Failed records are still waiting, and their error has been reported.
    sending = sending.catch(() => {}).then(sendAll)
    return sending
  }

  return {
    add: (record) => void waiting.push(record),
    send,
    async stop() {
      clearInterval(timer)
      await send()
    },
  }
}
