import { GazewayError } from '../../../src/errors.ts'
import { earlyHeaders } from '../../../src/inference/attempt/hold-client.ts'
import { errorEvent } from '../../../src/inference/passages/error-event.ts'
import { mayBeginEarly } from '../../../src/inference/passages/late-events.ts'
import { beatOf } from '../../../src/inference/relay/heartbeats.ts'
import { parseJson } from '../../../src/text/json.ts'
import { fieldsOrNone } from '../../../src/text/lenient-reader.ts'
import type { SilenceWatch } from '../../../src/wire/idle-watch.ts'
import type { FrameContext } from '../../web/frame-context.ts'
import { replyHeaders } from '../proxy/proxy-headers.ts'

/** Stream of a request whose payment is being settled. Its client hears something meanwhile. */
export interface EarlyStream {
  /** True once the client has the head of its stream. */
  isBegun(): boolean
  /** Ends the heartbeats: the payment is settled, or refused. */
  release(): void
  /** Ends a stream that has begun with an error. @returns false for one that has not begun, or has ended */
  fail(error: unknown): boolean
}

const NO_STREAM: EarlyStream = { isBegun: () => false, release() {}, fail: () => false }

/**
 * Opens the stream of a request that asks for one. The first heartbeat begins it.
 *
 * @param heartbeat schedules the heartbeats
 */
export function earlyStream(c: FrameContext, heartbeat: SilenceWatch): EarlyStream {
  const { outgoing } = c.env
  const endpoint = c.req.path.slice('/v1'.length)
  const body = c.get('body')
  if (body === undefined || !mayBeginEarly(endpoint, fieldsOrNone(parseJson(body.toString('utf8'))))) return NO_STREAM
  const requestId = c.get('requestId')
  let isBegun = false
  const wait = heartbeat.begin(() => {
    heartbeat.heard(wait)
    if (outgoing.destroyed) return
    if (!isBegun) outgoing.writeHead(200, replyHeaders(earlyHeaders(endpoint, requestId), requestId))
    isBegun = true
    outgoing.write(beatOf(endpoint))
  })
  return {
    isBegun: () => isBegun,
    release: () => heartbeat.end(wait),
    fail(error) {
      if (!isBegun || outgoing.writableEnded) return false
      const known = error instanceof GazewayError ? error : new GazewayError('internal_error', 'Internal error.')
      outgoing.end(errorEvent(endpoint, known, requestId))
      return true
    },
  }
}
