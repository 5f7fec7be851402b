import type { Attestation } from '../../../../../src/gaze/attestation.ts'
import type { StoredGaze } from '../../../../../src/gaze/gaze.ts'
import type { GazeTensor } from '../../../../../src/gaze/tensor.ts'
import { ApiError, api } from '../../api.ts'
import { randomHex } from '../../random-hex.ts'

/** Interval of sending in milliseconds. */
const SEND_EVERY_MS = 2000
/** The most records that the platform takes at once. */
const MOST_AT_ONCE = 1000

/** Progress of a recording. */
export interface Recorded {
  sessionId: string | null
  stored: number
  attestation: Attestation | null
  /** Error of the last attempt to send, which is repeated with the next. */
  error: Error | null
  /** Records that are not stored yet. */
  waiting: number
}

/** Before anything was sent. */
export const NOTHING_RECORDED: Recorded = { sessionId: null, stored: 0, attestation: null, error: null, waiting: 0 }

/** Sends records to a gaze session as they are made. */
export interface Recorder {
  add(record: GazeTensor): void
  /** Sends pending records and calls `onChange` with the result. */
  send(): Promise<void>
  /** Sends the rest, and no more by itself. */
  stop(): Promise<void>
}

/**
 * @param options.taskId the task that the attention is for; null for none
 * @param options.onChange told after each attempt to send
 */
export function createRecorder(options: { taskId: string | null; onChange: (recorded: Recorded) => void }): Recorder {
  // Named here: were the first reply lost, the same records would be stored again in another session, as copies.
  const sessionId = `ses_${randomHex()}`
  let waiting: GazeTensor[] = []
  let state: Recorded = NOTHING_RECORDED
  let sending = Promise.resolve()
  const timer = setInterval(() => void send(), SEND_EVERY_MS)

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const records = waiting.slice(0, MOST_AT_ONCE)
      try {
        const { stored, attestation } = await api.post<StoredGaze>('/api/gaze/store', {
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
    // One batch at a time. What failed waits still, and was told of where it failed.
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
