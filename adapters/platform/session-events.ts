import { type GazewayError, linkedErrorBody } from '../../src/errors.ts'
import type { FrameContext } from '../web/frame-context.ts'

/** Interval of keep-alive comments on a silent stream, in milliseconds, because proxies end silent streams. */
const KEEPALIVE_MS = 15_000

/** Reply of named server-sent events, in the format that frontends of agent gateways read. */
export interface SessionEvents {
  /** Sends the head of the reply. Any later error must be an event. */
  open(sessionId: string): void
  isOpen(): boolean
  send(name: string, payload: Record<string, unknown>): void
  /** Sends an error event. */
  fail(error: GazewayError): void
  /** Ends the reply with `done`, if it was opened. */
  end(): void
}

/**
 * Creates events as the reply to a request. Besides its own fields, each event has its session, its run (the request's
 * id), its number and the time in Unix seconds.
 *
 * @param stallMs how long a client may leave its connection full before it counts as disconnected, in milliseconds
 */
export function createSessionEvents(c: FrameContext, stallMs: number): SessionEvents {
  const { outgoing } = c.env
  const runId = c.get('requestId')
  let seq = 0
  let session: string | null = null
  let alive: NodeJS.Timeout | undefined
  let stalled: NodeJS.Timeout | undefined

  function write(text: string): void {
    if (outgoing.destroyed || outgoing.write(text) || stalled !== undefined) return
    stalled = setTimeout(() => outgoing.destroy(), stallMs)
    outgoing.once('drain', () => {
      clearTimeout(stalled)
      stalled = undefined
    })
  }

  function send(name: string, payload: Record<string, unknown>): void {
    const data = { session_id: session, run_id: runId, seq: ++seq, ts: Date.now() / 1000, ...payload }
    write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  return {
    open(sessionId) {
      session = sessionId
      outgoing.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-cache',
        'x-accel-buffering': 'no',
        'x-request-id': runId,
      })
      alive = setInterval(() => write(': keepalive\n\n'), KEEPALIVE_MS).unref()
    },
    isOpen: () => session !== null,
    send,
    fail(error) {
      const body = linkedErrorBody(error, runId)
      send('error', { message: body.message, code: body.code, error: body })
    },
    end() {
      clearInterval(alive)
      clearTimeout(stalled)
      if (session === null) return
      send('done', {})
      outgoing.end()
    },
  }
}
