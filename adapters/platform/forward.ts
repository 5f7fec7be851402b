import type { ServerResponse } from 'node:http'
import { GazewayError } from '../../src/errors.ts'
import type { PoolRequest, RequestPool } from '../../src/upstream/relay/pool.ts'
import type { Exchange } from '../../src/upstream/relay/send.ts'
import { replyHeaders } from './proxy-headers.ts'

/**
 * Sends a request and writes its reply to a client as it arrives, at the client's pace. A client that goes away, or
 * leaves its reply unread for `stallMs`, ends the request.
 *
 * @returns when the reply is over, whole or not
 * @throws GazewayError `upstream_unreachable`, `upstream_timeout` or what the request's body failed with, as long as
 *   nothing was written
 */
export function forward(
  pool: RequestPool,
  request: PoolRequest,
  outgoing: ServerResponse,
  { requestId, stallMs, url }: { requestId: string; stallMs: number; url: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    let exchange: Exchange | undefined
    let stalled: NodeJS.Timeout | undefined
    const gone = () => {
      clearTimeout(stalled)
      if (!outgoing.writableFinished) exchange?.abort()
      resolve()
    }
    const resume = () => {
      clearTimeout(stalled)
      exchange?.resume()
    }
    outgoing.on('close', gone)
    outgoing.on('drain', resume)

    exchange = pool.send(request, {
      onHead(status, headers) {
        outgoing.writeHead(status, replyHeaders(headers, requestId))
        outgoing.flushHeaders()
      },
      onData(chunk) {
        if (outgoing.write(chunk)) return
        exchange?.pause()
        stalled = setTimeout(() => outgoing.destroy(), stallMs)
      },
      onEnd() {
        outgoing.end()
        resolve()
      },
      onError(error) {
        if (!outgoing.headersSent && !outgoing.destroyed) return reject(failure(error, url))
        // Too late for another status: the client sees that the reply is not whole.
        outgoing.destroy(error)
        resolve()
      },
    })
    if (outgoing.destroyed) gone()
  })
}

function failure(error: Error, url: string): GazewayError {
  if (error instanceof GazewayError) return error
  if ('code' in error && /^UND_ERR_\w*TIMEOUT$/.test(String(error.code)))
    return new GazewayError(
      'upstream_timeout',
      `The agent gateway at ${url} did not answer in time. Try again, or raise agent_gateway.timeout_ms.`,
      { cause: error },
    )
  return new GazewayError(
    'upstream_unreachable',
    `The agent gateway at ${url} could not be reached (${error.message}). Check that it runs, and agent_gateway.url.`,
    { cause: error },
  )
}
