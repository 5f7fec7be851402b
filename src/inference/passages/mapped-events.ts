import { splitEvents } from '../../wire/whole-sse-events.ts'

/**
 * Replaces events of a stream.
 *
 * @param replace returns what to pass on for an event: itself, others, or none
 * @returns the given bytes when each event stays as it is
 */
export function mapEvents(events: Buffer, replace: (event: Buffer) => Buffer[]): Buffer {
  const all = splitEvents(events)
  const passed = all.map(replace)
  const isSame = passed.every((replaced, at) => replaced.length === 1 && replaced[0] === all[at])
  return isSame ? events : Buffer.concat(passed.flat())
}
