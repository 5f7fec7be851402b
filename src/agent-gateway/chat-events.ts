import { GazewayError } from '../errors.ts'
import { parseJson } from '../text/json.ts'

/** Longest event that is accepted, in characters. */
const LONGEST_EVENT = 4 * 1024 * 1024

/** A server-sent event with a name. */
export interface ChatEvent {
  name: string
  data: Record<string, unknown>
}

/**
 * Parses the events of a stream with their JSON. Skips comments and events without JSON.
 *
 * @throws GazewayError `upstream_bad_reply` when an event has no end; and the errors of the stream
 */
export async function* chatEvents(stream: AsyncIterable<Uint8Array>): AsyncGenerator<ChatEvent, void> {
  const decoder = new TextDecoder()
  let held = ''
  for await (const chunk of stream) {
    held += decoder.decode(chunk, { stream: true })
    const parts = held.split(/\r?\n\r?\n/)
    held = parts.pop() ?? ''
    if (held.length > LONGEST_EVENT)
      throw new GazewayError('upstream_bad_reply', 'The agent gateway sent an incomplete event.')
    for (const part of parts) {
      const event = eventOf(part)
      if (event) yield event
    }
  }
}

function eventOf(text: string): ChatEvent | null {
  const lines = text.split(/\r?\n/)
  const name = lines
    .find((line) => line.startsWith('event:'))
    ?.slice('event:'.length)
    .trim()
  const json = lines
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length))
    .join('\n')
  const data = parseJson(json)
  return name === undefined || typeof data !== 'object' || data === null
    ? null
    : { name, data: data as Record<string, unknown> }
}
