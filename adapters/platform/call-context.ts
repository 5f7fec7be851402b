import type { CallContext } from '../../src/upstream/call-record.ts'
import type { FrameContext } from '../web/frame.ts'

/** What a model call knows of the platform's request that it serves; it ends when the client goes away. */
export function callContext(c: FrameContext, callerId: string): CallContext {
  const { incoming, outgoing } = c.env
  const { traceparent } = incoming.headers
  const gone = new AbortController()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  if (outgoing.destroyed) gone.abort()
  return {
    surface: 'platform',
    callerId,
    signal: gone.signal,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  }
}
