import { isObject } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import type { SseTap } from '../observe/sse-tap.ts'
import { eventData } from '../observe/sse-tap.ts'

/** Maximum number of bytes before the first output: chunks with a role, comments, and metrics of providers. */
const HELD_LIMIT_BYTES = 1024 * 1024

/** Holds back the beginning of a chat stream until the first output. Until then another candidate can answer. */
export interface HeldChunks {
  /**
   * Filters whole events.
   *
   * @returns the events to pass on: everything held, once there is output; null before
   * @throws the error that the stream reports before its first output
   */
  filter(events: Buffer): Buffer | null
  /** Events held back. Null once there was output. */
  rest(): Buffer | null
}

/**
 * Creates the filter.
 *
 * @param begin called at the first output, before it is passed on
 * @param isOutput tells whether an event has output; by default, as chunks of a chat completion have it
 */
export function heldChunks(
  tap: SseTap,
  begin: () => void,
  isOutput: (event: Buffer) => boolean = isChatOutput,
): HeldChunks {
  let held: Buffer[] | null = []
  let heldBytes = 0
  return {
    filter(events) {
      if (held === null) return events
      const reported = tap.failed()
      if (reported !== null) throw reported
      held.push(events)
      heldBytes += events.length
      if (heldBytes > HELD_LIMIT_BYTES) throw new Error('The stream exceeded its size limit before its first output.')
      if (!splitEvents(events).some(isOutput)) return null
      begin()
      const whole = Buffer.concat(held)
      held = null
      return whole
    },
    rest: () => held && Buffer.concat(held),
  }
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
