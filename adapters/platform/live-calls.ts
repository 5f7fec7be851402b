import { setTimeout as pause } from 'node:timers/promises'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { GazewayError } from '../../src/errors.ts'

/** Interval at which a stream looks for calls that any process of the store has recorded, in milliseconds. */
const LOOK_MS = 1000
/** Interval of comments on a silent stream, in milliseconds, because proxies end silent streams. */
const KEEPALIVE_MS = 15_000
/** Maximum number of streams of one process. */
const MAX_STREAMS = 64

let open = 0

/**
 * Replies with calls as server-sent events while they are recorded: `event: calls`, `data: {"items": […]}`, newest
 * first, without their content.
 *
 * @param newest reads the newest calls; those of the first read are not sent
 * @param stopping ends the stream
 * @throws GazewayError `too_many_requests` beyond 64 streams of this process
 */
export async function liveCalls(newest: () => Promise<CallRecord[]>, stopping: AbortSignal): Promise<Response> {
  if (open >= MAX_STREAMS)
    throw new GazewayError('too_many_requests', `${MAX_STREAMS} streams of calls are open. Close one, then retry.`)
  const leaving = new AbortController()
  const ended = AbortSignal.any([stopping, leaving.signal])
  let seen = idsOf(await newest())
  let sentAt = Date.now()
  open += 1
  ended.addEventListener('abort', () => {
    open -= 1
  })

  async function next(): Promise<string> {
    for (;;) {
      await pause(LOOK_MS, undefined, { signal: ended })
      const items = await newest()
      const fresh = items.filter(({ call_id }) => !seen.has(call_id))
      seen = idsOf(items)
      if (fresh.length > 0) return eventOf(fresh)
      if (Date.now() - sentAt >= KEEPALIVE_MS) return ': keepalive\n\n'
    }
  }
  const body = new ReadableStream<Uint8Array>({
    // The head is sent with the first bytes.
    start: (controller) => controller.enqueue(Buffer.from(': live\n\n')),
    async pull(controller) {
      try {
        controller.enqueue(Buffer.from(await next()))
        sentAt = Date.now()
      } catch (error) {
        leaving.abort()
        if ((error as Error).name === 'AbortError') controller.close()
        else controller.error(error)
      }
    },
    cancel: () => leaving.abort(),
  })
  return new Response(body, { headers: HEADERS })
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

const idsOf = (calls: readonly CallRecord[]) => new Set(calls.map(({ call_id }) => call_id))

function eventOf(calls: readonly CallRecord[]): string {
  const items = calls.map(({ content: _, ...call }) => call)
  return `event: calls\ndata: ${JSON.stringify({ items })}\n\n`
}
