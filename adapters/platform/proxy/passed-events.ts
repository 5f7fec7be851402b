import type { GazewayError } from '../../../src/errors.ts'
import { GENERATE_CONTENT, isGeminiPath } from '../../../src/inference/api/gemini-endpoints.ts'
import { readReported } from '../../../src/inference/api/reported-error.ts'
import { createSseTap } from '../../../src/inference/observe/sse-tap.ts'
import { errorEvent } from '../../../src/inference/passages/error-event.ts'
import type { Headers } from '../../../src/inference/relay/exchange.ts'

/** Longest end of an event, in bytes: two line ends. */
const END_BYTES = 4
const END = /(?:\n\n|\r\r|\r\n\r\n)$/
const NUMBER = /"sequence_number": ?(\d+)/g
/** Matches whole lines only, because a model may mention the event in its text. */
const ERROR_EVENT = /^event: ?error$/m

/** Stream of server-sent events that is forwarded as bytes. It is watched so that an error event can be added. */
export interface PassedEvents {
  /** Called with each forwarded chunk. */
  observe(chunk: Buffer): void
  /** Event that ends the stream with an error in the form of its API; null in the middle of another event. */
  errorEvent(error: GazewayError): Buffer | string | null
  /** Error that the completed stream itself reported. Null without one, and when errors are not watched. */
  reported(): Error | null
}

/**
 * Watches a reply.
 *
 * @param path path of its request; the Responses API has its own form of errors
 * @param paid whether errors in the stream must be found, for the payer; finding them takes time
 * @returns null for a reply to which no event can be added: not an event stream, compressed, or with a declared length
 */
export function watchEvents(
  { path, paid }: { path: string; paid: boolean },
  headers: Headers,
  requestId: string,
): PassedEvents | null {
  const { 'content-encoding': encoding, 'content-length': length } = headers
  if (!isEventStream(headers) || encoding !== undefined || length !== undefined) return null
  const [pathname = ''] = path.split('?')
  const endpoint = isGeminiPath(pathname) ? GENERATE_CONTENT : pathname.slice('/v1'.length)
  const isResponse = endpoint === '/responses'
  let tail = ''
  let numbered: Buffer | null = null
  const errors = paid ? watchErrors() : null
  return {
    observe(chunk) {
      errors?.observe(chunk)
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - END_BYTES))).slice(-END_BYTES)
      if (isResponse && chunk.includes('"sequence_number"')) numbered = chunk
    },
    errorEvent(error) {
      if (tail !== '' && !END.test(tail)) return null
      const last = [...String(numbered ?? '').matchAll(NUMBER)].at(-1)?.[1] ?? -1
      return errorEvent(endpoint, error, requestId, Number(last) + 1)
    },
    reported: () => errors?.reported() ?? null,
  }
}

/** Looks for a chunk with `error`, for `response.failed`, and for an `error` event with any content. */
function watchErrors(): Pick<PassedEvents, 'observe' | 'reported'> {
  const tap = createSseTap({ dropUsageChunk: false, secrets: [] })
  let [named, watched] = [false, true]
  const look = (events: Buffer | null) => {
    named ||= events !== null && ERROR_EVENT.test(events.toString('latin1'))
  }
  return {
    observe(chunk) {
      try {
        if (watched) look(tap.push(chunk))
      } catch {
        // Too long for an event of a model. It is still forwarded.
        watched = false
      }
    },
    reported() {
      look(tap.rest())
      return tap.failed() ?? (named ? readReported(null) : null)
    },
  }
}

/** Tells whether reply headers announce server-sent events. */
export const isEventStream = (headers: Headers): boolean =>
  /^text\/event-stream\b/i.test(String(headers['content-type']))
