import type { GazeTensor } from '../../../../src/gaze/tensor.ts'
import { watchGestures } from './gestures.ts'
import { type LinesInView, LONGEST_GAP_MS, linesInView } from './in-view.ts'
import { Refusal } from './review-api.ts'
import type { ReviewState } from './review-state.ts'

/** Interval at which the page looks which lines are in view, in ms. */
const LOOK_MS = 100
/** Length of one record, in ms. */
const LONGEST_VIEW_MS = 1000
/** Interval at which records are sent, in ms. */
const SEND_MS = 2000
/** Records of one request. */
const MOST_RECORDS = 1000

/** Lines that are in view since a while. */
interface View {
  lines: readonly LinesInView[]
  key: string
  since: number
  until: number
}

/** A rest of the eyes on lines. */
export interface Rest extends Pick<GazeTensor, 'confidence' | 'dwell_ms' | 'env'> {
  source: 'webcam' | 'eye_tracker'
  since: number
}

/** Recording of what is read on a page. */
export interface ReadingWatch {
  /** Records a rest of the eyes, which a webcam or a tracker found. */
  add(rest: Rest): void
  /** Sends what was not sent. @throws Error when it is refused, or nobody answers */
  flush(): Promise<void>
  stop(): void
}

/**
 * Records which lines are in view while the page is visible and has the focus, and what the reader does on them, and sends it
 * to the gateway, which computes how far each hunk was read.
 *
 * @param onFault called with the reason when a record cannot be sent, and with null once records are sent again
 */
export function watchReading(state: ReviewState, onFault: (message: string | null) => void): ReadingWatch {
  const queue: GazeTensor[] = []
  let view: View | null = null
  let sending: Promise<void> = Promise.resolve()
  const newest = { ide: 0, pointer: 0, manual: 0, webcam: 0, eye_tracker: 0 }

  const end = () => {
    if (view !== null && view.until > view.since) queue.push(...recordsOf(view))
    view = null
  }

  /** A session keeps one record for a time and source. */
  const recordOf = (source: keyof typeof newest, env: GazeTensor['env'], since: number, until: number): GazeTensor => {
    newest[source] = Math.max(Math.round(since), newest[source] + 1)
    const dwell_ms = Math.max(0, Math.round(until) - newest[source])
    return { at: new Date(newest[source]).toISOString(), dwell_ms, source, env }
  }
  const recordsOf = ({ lines, since, until }: View): GazeTensor[] =>
    lines.map((env) => recordOf('ide', env, since, until))
  const gestures = watchGestures(state, ({ source, env, since, dwell_ms }) => {
    queue.push(recordOf(source, env, since, since + dwell_ms))
  })

  const look = () => {
    const now = performance.timeOrigin + performance.now()
    const isAttended = document.visibilityState === 'visible' && document.hasFocus()
    gestures.look(isAttended ? now : null)
    const lines = isAttended ? linesInView(state) : []
    const key = JSON.stringify(lines)
    const isOn = view !== null && now - view.until <= LONGEST_GAP_MS
    if (view !== null && isOn) view.until = now
    if (view !== null && isOn && view.key === key && now - view.since < LONGEST_VIEW_MS) return
    end()
    if (lines.length > 0) view = { lines, key, since: now, until: now }
  }

  const send = async () => {
    while (queue.length > 0) {
      const records = queue.slice(0, MOST_RECORDS)
      state.takeReading(await state.sendEvidence(records))
      queue.splice(0, records.length)
      onFault(null)
    }
  }

  /** Sends one batch after the other. What was not taken is sent again, unless it was refused. */
  const sendNext = () => {
    sending = sending.catch(() => {}).then(send)
    sending.catch((error: Error) => {
      if (error instanceof Refusal) queue.length = 0
      onFault(error.message)
    })
    return sending
  }

  const looking = setInterval(look, LOOK_MS)
  const regularly = setInterval(() => queue.length > 0 && sendNext(), SEND_MS)
  return {
    add({ source, env, since, dwell_ms, confidence }) {
      const record = recordOf(source, env, since, since + dwell_ms)
      queue.push(confidence === undefined ? record : { ...record, confidence })
    },
    flush() {
      gestures.look(null)
      end()
      return sendNext()
    },
    stop() {
      gestures.stop()
      clearInterval(looking)
      clearInterval(regularly)
    },
  }
}
