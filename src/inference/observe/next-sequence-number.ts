import { splitEvents } from '../../wire/whole-sse-events.ts'
import { eventData } from './event-data.ts'

/** Sequence number after the last of some events of a Response; 0 without events. */
export function nextNumber(events: Buffer | null): number {
  const last =
    events &&
    splitEvents(events)
      .map(eventData)
      .findLast((data) => data !== null)
  return (last?.sequence_number ?? -1) + 1
}
