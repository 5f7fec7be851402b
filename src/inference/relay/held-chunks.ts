import { isObject } from '../../text/json.ts'
import { splitEvents } from '../../wire/whole-events.ts'
import { record, records } from '../convert/loose.ts'
import type { SseTap } from './sse-tap.ts'
import { eventData } from './sse-tap.ts'

/** What may come before the first output: chunks with a role, comments, and what providers measure. */
const HELD_LIMIT_BYTES = 1024 * 1024

/** The beginning of a chat stream, which is held back until it holds output: before that another candidate can answer. */
export interface HeldChunks {
  /** @returns what may go on of whole events: all so far from the first output on; null before. @throws what the stream reports before it */
  filter(events: Buffer): Buffer | null
  /** What is held back; null once there was output. */
  rest(): Buffer | null
}

/** @param begin called at the first output, before anything goes on */
export function heldChunks(tap: SseTap, begin: () => void): HeldChunks {
  let held: Buffer[] | null = []
  let heldBytes = 0
  return {
    filter(events) {
      if (held === null) return events
      const reported = tap.failed()
      if (reported !== null) throw reported
      held.push(events)
      heldBytes += events.length
      if (heldBytes > HELD_LIMIT_BYTES) throw new Error('Too much came before its first output.')
      if (!splitEvents(events).some(isOutput)) return null
      begin()
      const whole = Buffer.concat(held)
      held = null
      return whole
    },
    rest: () => held && Buffer.concat(held),
  }
}

function isOutput(event: Buffer): boolean {
  return records(eventData(event)?.choices).some((choice) => {
    const { delta, finish_reason: finish } = record(choice)
    return (
      Boolean(finish) ||
      (isObject(delta) && Object.entries(delta).some(([name, value]) => name !== 'role' && isSaid(value)))
    )
  })
}

const isSaid = (value: unknown): boolean =>
  typeof value === 'string' || Array.isArray(value) ? value.length > 0 : value !== null && value !== undefined
