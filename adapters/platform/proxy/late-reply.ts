import { TOO_LARGE } from '../../../src/calls/call-errors.ts'
import { GazewayError } from '../../../src/errors.ts'
import { errorEvent } from '../../../src/inference/passages/error-event.ts'
import { lateEvents } from '../../../src/inference/passages/late-events.ts'
import type { Headers } from '../../../src/inference/relay/exchange.ts'
import { WHOLE_LIMIT_BYTES } from '../../../src/inference/relay/send.ts'
import { type GatheredBytes, gatherBytes } from '../../../src/wire/gathered-bytes.ts'
import { noReply } from './no-reply.ts'
import { isEventStream } from './passed-events.ts'

/** Reply to a request whose stream has begun before: a whole one ends the stream as events. */
export interface LateReply {
  /** Notes the head of the reply. @returns true for one that is no event stream */
  isWhole(status: number, headers: Headers): boolean
  /**
   * Takes a part of a whole reply.
   *
   * @returns false for any other
   * @throws GazewayError `upstream_bad_reply` for a reply that is too large to keep
   */
  take(chunk: Buffer): boolean
  /** Events of a whole reply. Undefined for any other. */
  end(): Buffer | string | undefined
  /** Event of a reply that did not come. */
  fail(error: GazewayError): Buffer | string
  /** Error that the client gets. Null without one. */
  reported(): GazewayError | null
}

/** Creates the reply. @param path path of the request */
export function lateReply(path: string, requestId: string): LateReply {
  const [pathname = ''] = path.split('?')
  const endpoint = pathname.slice('/v1'.length)
  let whole: { status: number; received: GatheredBytes; size: number } | null = null
  let reported: GazewayError | null = null

  function fail(error: GazewayError): Buffer | string {
    reported = error
    whole = null
    return errorEvent(endpoint, error, requestId)
  }

  return {
    isWhole(status, headers) {
      if (status < 400 && isEventStream(headers)) return false
      whole = { status, received: gatherBytes(), size: 0 }
      if (status >= 400) reported = new GazewayError('upstream_error', 'The request was refused.', { status })
      return true
    },
    take(chunk) {
      if (whole === null) return false
      whole.size += chunk.length
      if (whole.size > WHOLE_LIMIT_BYTES) throw tooLarge()
      whole.received.push(chunk)
      return true
    },
    end() {
      if (whole === null) return undefined
      try {
        return lateEvents(endpoint, { status: whole.status, body: Buffer.concat(whole.received.take()) }, requestId)
      } catch (error) {
        return fail(noReply(error as Error))
      }
    },
    fail,
    reported: () => reported,
  }
}

const tooLarge = (): GazewayError =>
  new GazewayError('upstream_bad_reply', `The agent gateway sent too much: ${TOO_LARGE} ${WHOLE_LIMIT_BYTES} bytes.`)
