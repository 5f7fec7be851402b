import { splitEvents } from '../../wire/whole-sse-events.ts'
import { eventData } from '../observe/event-data.ts'
import type { Receiver } from '../relay/receiver.ts'
import { HELD_LIMIT_BYTES, type HeldBeginning, TOO_LONG } from './held-beginning.ts'
import type { ReplyContext } from './passage.ts'

const START = 'message_start'
/** Types of events before any output of a Message. A stream that fails among them can be continued. */
const BEFORE_OUTPUT: ReadonlySet<unknown> = new Set([START, 'ping'])

/** Tells whether an event of a Message has output, or ends it. */
export const isMessageOutput = ({ type }: { type?: unknown }): boolean => !BEFORE_OUTPUT.has(type)

/** Takes out the event that starts a Message, which the receiver sends once. */
export function withoutStart({ start }: Receiver, events: Buffer): Buffer {
  if (start === undefined || !events.includes(START)) return events
  const others: Buffer[] = []
  for (const event of splitEvents(events))
    if (eventData(event)?.type === START) start(event)
    else others.push(event)
  return Buffer.concat(others)
}

/**
 * Passes the beginning of a streamed Message on at once. Until its first output another candidate can continue it: the
 * client gets the `message_start` of the first candidate alone.
 */
export function startMessage(
  { receiver }: ReplyContext,
  status: number,
  headers: Record<string, string>,
): HeldBeginning {
  let isHeld = true
  let bytes = 0

  return {
    isHeld: () => isHeld,
    add(events, hasOutput) {
      if (!isHeld) return events
      bytes += events.length
      if (!hasOutput && bytes > HELD_LIMIT_BYTES) throw new Error(TOO_LONG)
      receiver.head(status, headers)
      isHeld = !hasOutput
      return withoutStart(receiver, events)
    },
    release() {
      receiver.head(status, headers)
      isHeld = false
      return Buffer.alloc(0)
    },
  }
}
