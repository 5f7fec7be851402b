/** Header that marks every reply of the sandbox. */
const UPSTREAM = { 'x-upstream': 'sandbox' }

/** Builds a JSON reply. */
export function jsonReply(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers: { ...headers, ...UPSTREAM } })
}

/** Builds a server-sent event frame (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export function sseFrame(data: unknown, event?: string): string {
  const name = event === undefined ? '' : `event: ${event}\n`
  return `${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
}

/**
 * Builds a reply that sends `frames` one by one, on demand. It is aborted with the abort reason of the request's
 * signal.
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
      // The closure keeps the request alive on purpose: a signal that follows another one ends when its request is
      // collected.
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
