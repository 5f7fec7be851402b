import type { GazewayError } from '../../../src/errors.ts'
import { errorEvent } from '../../../src/inference/relay/error-event.ts'
import type { Headers } from '../../../src/inference/relay/send.ts'
import { createSseTap } from '../../../src/inference/relay/sse-tap.ts'
import { ReportedError } from '../../../src/inference/reported-error.ts'

/** The longest end of an event, in bytes: two line ends. */
const END_BYTES = 4
const END = /(?:\n\n|\r\r|\r\n\r\n)$/
const NUMBER = /"sequence_number": ?(\d+)/g
/** Only as a line: a model may speak of it. */
const ERROR_EVENT = /^event: ?error\r?$/m

/** A stream of server-sent events that is passed on as bytes, watched so that an error can be told in it. */
export interface PassedEvents {
  /** Some of it was passed on. */
  saw(chunk: Buffer): void
  /** Event that ends the stream with an error in the form of its API; null in the middle of another event. */
  errorEvent(error: GazewayError): Buffer | string | null
  /** Error that the finished stream reported itself; null without one, or when not watched. */
  reported(): Error | null
}

/**
 * Watches a reply.
 *
 * @param path the path of its request: Responses have errors of their own form
 * @param paid whether its errors matter to someone, who has paid for it; finding them takes time
 * @returns null for a reply to which nothing can be added: no events, or compressed, or of a length that was told
 */
export function watchEvents(
  { path, paid }: { path: string; paid: boolean },
  headers: Headers,
  requestId: string,
): PassedEvents | null {
  const { 'content-encoding': encoding, 'content-length': length } = headers
  if (!isEventStream(headers) || encoding !== undefined || length !== undefined) return null
  const endpoint = (path.split('?')[0] ?? '').slice('/v1'.length)
  const isResponse = endpoint === '/responses'
  let tail = ''
  let numbered: Buffer | null = null
  const errors = paid ? watchErrors() : null
  return {
    saw(chunk) {
      errors?.saw(chunk)
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

/** Looks for a chunk with `error`, for `response.failed`, and for the event `error`, whatever is in it. */
function watchErrors(): Pick<PassedEvents, 'saw' | 'reported'> {
  const tap = createSseTap({ dropUsageChunk: false, secrets: [] })
  let [named, watched] = [false, true]
  const look = (events: Buffer | null) => {
    named ||= events !== null && ERROR_EVENT.test(events.toString('latin1'))
  }
  return {
    saw(chunk) {
      try {
        if (watched) look(tap.push(chunk))
      } catch {
        // Too long an event to be one of a model's: it is passed on all the same.
        watched = false
      }
    },
    reported() {
      look(tap.rest())
      return tap.failed() ?? (named ? new ReportedError('no reason given', null) : null)
    },
  }
}

/** Tells whether reply headers announce server-sent events. */
export const isEventStream = (headers: Headers): boolean =>
  /^text\/event-stream\b/i.test(String(headers['content-type']))
