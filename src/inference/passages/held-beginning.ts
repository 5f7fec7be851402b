import { isObject } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import { eventData } from '../observe/event-data.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import type { ReplyContext } from './passage.ts'

/** Maximum number of bytes before the first output: chunks with a role, comments, and metrics of providers. */
export const HELD_LIMIT_BYTES = 1024 * 1024
/** The same for Responses: `response.created` and `response.in_progress` repeat instructions and tools of the request. */
export const HELD_RESPONSE_BYTES = 16 * 1024 * 1024
/** Error of a beginning above the limit. */
export const TOO_LONG = 'The stream exceeded its size limit before its first output.'

/** Beginning of a stream, which is held back until its first output. Until then another candidate can answer. */
export interface HeldBeginning {
  /** True until the first output. */
  isHeld(): boolean
  /**
   * Adds whole events.
   *
   * @returns the events to pass on: everything held, once there is output; null before
   * @throws when the events before the first output exceed the limit
   */
  add(events: Buffer, hasOutput: boolean): Buffer | null
  /** Sends the headers, and returns the events held back. */
  release(): Buffer
}

/** Holds back a stream with the given status and headers, which the client receives before its first output. */
export function holdBeginning(
  { receiver }: ReplyContext,
  status: number,
  headers: Record<string, string>,
  limitBytes = HELD_LIMIT_BYTES,
): HeldBeginning {
  let held: Buffer[] | null = []
  let heldBytes = 0
  receiver.hold?.(status, headers)

  function release(): Buffer {
    receiver.head(status, headers)
    const whole = Buffer.concat(held ?? [])
    held = null
    return whole
  }
  return {
    isHeld: () => held !== null,
    add(events, hasOutput) {
      if (held === null) return events
      held.push(events)
      if (hasOutput) return release()
      heldBytes += events.length
      if (heldBytes > limitBytes) throw new Error(TOO_LONG)
      return null
    },
    release,
  }
}

/**
 * Creates a filter that passes chunks on from the first output. It throws the error that the stream reports before.
 *
 * @param isOutput tells whether an event has output; by default, as chunks of a chat completion have it
 */
export const fromFirstOutput =
  (held: HeldBeginning, tap: SseTap, isOutput: (event: Buffer) => boolean = isChatOutput) =>
  (events: Buffer): Buffer | null => {
    if (!held.isHeld()) return events
    const reported = tap.failed()
    if (reported !== null) throw reported
    return held.add(events, splitEvents(events).some(isOutput))
  }

function isChatOutput(event: Buffer): boolean {
  return objectsOrNone(eventData(event)?.choices).some((choice) => {
    const { delta, finish_reason: finish } = fieldsOrNone(choice)
    return (
      Boolean(finish) ||
      (isObject(delta) && Object.entries(delta).some(([name, value]) => name !== 'role' && isSaid(value)))
    )
  })
}

const isSaid = (value: unknown): boolean =>
  typeof value === 'string' || Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined
