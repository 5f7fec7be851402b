import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Receiver } from '../../src/upstream/relay/receiver.ts'
import type { FrameContext } from './frame.ts'

/**
 * The client of a request as the receiver of a relayed reply, which is written straight to its connection. The route
 * returns `ALREADY_SENT` when the relay is done.
 */
export function receiverOf(c: FrameContext): Receiver {
  const { outgoing } = c.env
  const requestId = c.get('requestId')
  const gone = new AbortController()
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) gone.abort()
  })
  if (outgoing.destroyed) gone.abort()
  return {
    signal: gone.signal,
    whole(status, headers, bytes) {
      outgoing.writeHead(status, { ...headers, 'x-request-id': requestId, 'content-length': Buffer.byteLength(bytes) })
      outgoing.end(bytes)
    },
    head(status, headers) {
      outgoing.writeHead(status, { ...headers, 'x-request-id': requestId, 'cache-control': 'no-cache' })
      outgoing.flushHeaders()
    },
    write: (bytes) => outgoing.write(bytes),
    onDrain: (resume) => void outgoing.once('drain', resume),
    drop: () => void outgoing.destroy(),
    end: (bytes) => void (bytes === undefined ? outgoing.end() : outgoing.end(bytes)),
  }
}

/** What a route returns whose reply has been written already. */
export const ALREADY_SENT = RESPONSE_ALREADY_SENT
