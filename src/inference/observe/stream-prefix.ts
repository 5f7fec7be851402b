import { splitEvents } from '../../wire/whole-sse-events.ts'
import { type Generated, generatedBy, textOf } from './generated-text.ts'

/** Bytes of a stream kept for counting tokens, in case the upstream reports no usage. */
const KEPT_BYTES = 64 * 1024

/** Text of the model as it arrives, each part once. */
export interface IncrementalText {
  /** Bytes of the events that were not read yet; their text has no more. */
  bytes(): number
  /** Reads the text since the last call. */
  text(): string
}

/** Beginning of a stream, kept so that its text can be counted. */
export interface StreamPrefix {
  add(events: Buffer): void
  /** Number of additions kept so far. */
  count(): number
  /** Tells whether the model generated text in what was kept after the first `count` additions. */
  hasTextAfter(count: number): boolean
  /** Text of the model, and the ratio of the whole stream's length to the part kept. */
  generated(): Generated
  /** Begins to collect the text of the model from here on. */
  incrementalText(): IncrementalText
}

/** Keeps the beginning of a stream. */
export function createStreamPrefix(): StreamPrefix {
  const kept: Buffer[] = []
  let keptBytes = 0
  let totalBytes = 0
  /** Events that the follower has not read. Null without a follower. */
  let unread: Buffer[] | null = null
  let unreadBytes = 0
  return {
    add(events) {
      totalBytes += events.length
      if (unread !== null) {
        unread.push(events)
        unreadBytes += events.length
      }
      if (keptBytes >= KEPT_BYTES) return
      kept.push(events)
      keptBytes += events.length
    },
    count: () => kept.length,
    hasTextAfter: (count) => splitEvents(Buffer.concat(kept.slice(count))).some((event) => generatedBy(event) !== ''),
    generated: () => ({ text: textOf(Buffer.concat(kept)), factor: keptBytes === 0 ? 1 : totalBytes / keptBytes }),
    incrementalText() {
      unread = []
      return {
        bytes: () => unreadBytes,
        text() {
          const text = textOf(Buffer.concat(unread ?? []))
          unread = []
          unreadBytes = 0
          return text
        },
      }
    },
  }
}
