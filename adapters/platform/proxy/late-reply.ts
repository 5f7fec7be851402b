import { GazewayError } from '../../../src/errors.ts'
import { errorEvent } from '../../../src/inference/passages/error-event.ts'
import { lateEvents } from '../../../src/inference/passages/late-events.ts'
import type { Headers } from '../../../src/inference/relay/exchange.ts'
import { noReply } from './no-reply.ts'
import { isEventStream } from './passed-events.ts'

/** Reply to a request whose stream has begun before: a whole one ends the stream as events. */
export interface LateReply {
  /** Notes the head of the reply. @returns true for one that is no event stream */
  isWhole(status: number, headers: Headers): boolean
  /** Takes a part of a whole reply. @returns false for any other */
  take(chunk: Buffer): boolean
  /** Events of a whole reply. Undefined for any other. */
  end(): Buffer | string | undefined
  /** Event of a reply that did not come. */
  fail(error: GazewayError): Buffer | string
  /** Error that the client is told of. Null without one. */
  reported(): GazewayError | null
}

/** Creates the reply. @param path path of the request */
export function lateReply(path: string, requestId: string): LateReply {
  const [pathname = ''] = path.split('?')
  const endpoint = pathname.slice('/v1'.length)
  let whole: { status: number; parts: Buffer[] } | null = null
  let reported: GazewayError | null = null

  function fail(error: GazewayError): Buffer | string {
    reported = error
    return errorEvent(endpoint, error, requestId)
  }

  return {
    isWhole(status, headers) {
      if (status < 400 && isEventStream(headers)) return false
      whole = { status, parts: [] }
      if (status >= 400) reported = new GazewayError('upstream_error', 'The request was refused.', { status })
      return true
    },
    take: (chunk) => whole !== null && whole.parts.push(chunk) > 0,
    end() {
      if (whole === null) return undefined
      try {
        return lateEvents(endpoint, { status: whole.status, body: Buffer.concat(whole.parts) }, requestId)
      } catch (error) {
        return fail(noReply(error as Error))
      }
    },
    fail,
    reported: () => reported,
  }
}
