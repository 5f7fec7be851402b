import type { CallContext } from '../../src/calls/call-record.ts'
import { tagsIn } from '../../src/calls/call-tags.ts'
import { sessionOf } from '../../src/inference/session/session.ts'
import { serviceStopping } from '../../src/wire/service-stopping.ts'
import { addressOf } from '../web/client-address.ts'
import type { FrameContext } from '../web/frame-context.ts'
import { ownKeyOf, ownKeyUnused } from '../web/own-key.ts'
import { traceparentOf } from '../web/trace-parent.ts'

/**
 * Context of a model call for a platform request. The call ends when the client disconnects, or with
 * `service_stopping`.
 *
 * @param stopping aborted shortly before shutdown ends pending work
 */
export function callContext(c: FrameContext, callerId: string, stopping: AbortSignal): CallContext {
  const { incoming, outgoing } = c.env
  if (ownKeyOf(incoming) !== undefined) throw ownKeyUnused(`${incoming.method} ${c.req.path}`)
  const ending = new AbortController()
  const stop = () => ending.abort(serviceStopping())
  // Removed below. Combined with AbortSignal.any, `stopping` would retain memory of every finished call.
  stopping.addEventListener('abort', stop)
  outgoing.on('close', () => {
    stopping.removeEventListener('abort', stop)
    if (!outgoing.writableFinished) ending.abort()
  })
  if (outgoing.destroyed) ending.abort()
  if (stopping.aborted) stop()
  return {
    surface: 'platform',
    callerId,
    address: addressOf(incoming),
    signal: ending.signal,
    session: sessionOf(incoming.headers),
    tags: tagsIn(incoming.headers['x-gazeway-tags']),
    traceparent: traceparentOf(incoming),
  }
}
