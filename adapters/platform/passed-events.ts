import type { GazewayError } from '../../src/errors.ts'
import { chatErrorEvent, responseErrorEvent } from '../../src/upstream/relay/reply.ts'
import type { Headers } from '../../src/upstream/relay/send.ts'

/** The longest end of an event, in bytes: two line ends. */
const END_BYTES = 4
const END = /(?:\n\n|\r\r|\r\n\r\n)$/
const NUMBER = /"sequence_number": ?(\d+)/g

/** A stream of server-sent events that is passed on as bytes, watched so that an error can be told in it. */
export interface PassedEvents {
  /** Some of it was passed on. */
  saw(chunk: Buffer): void
  /** What ends it with an error, in the form of its API; null in the middle of an event, which would be spoilt. */
  errorEvent(error: GazewayError): Buffer | string | null
}

/**
 * Watches a reply.
 *
 * @param path the path of its request: Responses have errors of their own form
 * @returns null for a reply to which nothing can be added: no events, or compressed, or of a length that was told
 */
export function watchEvents(path: string, headers: Headers, requestId: string): PassedEvents | null {
  const { 'content-encoding': encoding, 'content-length': length } = headers
  if (!isEventStream(headers) || encoding !== undefined || length !== undefined) return null
  const isResponse = path.startsWith('/v1/responses')
  let tail = ''
  let numbered: Buffer | null = null
  return {
    saw(chunk) {
      tail = (tail + chunk.toString('latin1', Math.max(0, chunk.length - END_BYTES))).slice(-END_BYTES)
      if (isResponse && chunk.includes('"sequence_number"')) numbered = chunk
    },
    errorEvent(error) {
      if (tail !== '' && !END.test(tail)) return null
      if (!isResponse) return chatErrorEvent(error, requestId)
      const last = [...String(numbered ?? '').matchAll(NUMBER)].at(-1)?.[1] ?? -1
      return responseErrorEvent(error, requestId, Number(last) + 1)
    },
  }
}

/** Whether the headers of a reply announce server-sent events. */
export const isEventStream = (headers: Headers): boolean =>
  /^text\/event-stream\b/i.test(String(headers['content-type']))
