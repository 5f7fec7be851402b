/** The header by which every reply of the sandbox says where it comes from. */
const UPSTREAM = { 'x-upstream': 'sandbox' }

/** A JSON reply. */
export function jsonReply(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers: { ...headers, ...UPSTREAM } })
}

/** The frame of a server-sent event (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function sseFrame(data: unknown, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/**
 * A reply that sends `frames` one by one, each when the reader asks for it. It breaks off with the reason of the
 * request's signal once that is aborted.
 */
export function sseReply(request: Request, frames: Generator<string>): Response {
  const encoder = new TextEncoder()
  const ended = new AbortController()
  const end = () => {
    ended.abort()
    frames.return(undefined)
  }

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const breakOff = () => controller.error(request.signal.reason)
        request.signal.addEventListener('abort', breakOff, { signal: ended.signal })
      },
      // The closure holds the request on purpose: where its signal follows another one, that ends with the request.
      pull(controller) {
        request.signal.throwIfAborted()
        const frame = frames.next()
        if (!frame.done) return controller.enqueue(encoder.encode(frame.value))
        end()
        controller.close()
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache', ...UPSTREAM },
  })
}
