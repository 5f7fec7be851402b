import type { Receiver } from '../relay/receiver.ts'
import { CLIENT_GONE, tooLarge, WHOLE_LIMIT_BYTES } from '../relay/send.ts'
import type { Provider } from '../upstreams/provider.ts'
import type { SignalClient } from './signal-client.ts'

/** Bytes buffered for a slow reader before the upstream is paused. */
const AHEAD_BYTES = 64 * 1024
/** Largest status that a Response accepts. */
const LAST_STATUS = 599

/**
 * Creates a receiver that presents a reply as a web `Response` in this process.
 *
 * @param client its reader: the call ends when it disconnects, and when a stream exceeds the limit
 * @param answer called with the Response once its headers are available
 */
export function webReceiver(client: SignalClient, provider: Provider, answer: (response: Response) => void): Receiver {
  let size = 0
  let resume: (() => void) | undefined
  let stream: ReadableStreamDefaultController<Uint8Array> | null = null

  const head = (status: number, headers: Record<string, string>) => ({
    status: Math.min(status, LAST_STATUS),
    headers: { 'content-type': headers['content-type'] ?? 'application/json' },
  })
  function write(bytes: Buffer | string): boolean {
    // The reader has cancelled, so the rest of the reply is dropped.
    if (stream === null) return true
    const piece = Buffer.from(bytes as Buffer)
    size += piece.length
    if (size > WHOLE_LIMIT_BYTES) client.leave(tooLarge(provider))
    else stream.enqueue(piece)
    return (stream?.desiredSize ?? 1) > 0
  }
  return {
    beat() {},
    isGone: client.isGone,
    onGone: client.onGone,
    reason: client.reason,
    whole: (status, headers, bytes) =>
      answer(new Response(typeof bytes === 'string' ? bytes : new Uint8Array(bytes), head(status, headers))),
    head(status, headers) {
      const body = new ReadableStream<Uint8Array>(
        {
          start(controller) {
            stream = controller
          },
          pull: () => resume?.(),
          cancel() {
            stream = null
            resume?.()
          },
        },
        new ByteLengthQueuingStrategy({ highWaterMark: AHEAD_BYTES }),
      )
      answer(new Response(body, head(status, headers)))
    },
    write,
    onDrain(listener) {
      resume = () => {
        resume = undefined
        listener()
      }
    },
    end(bytes) {
      if (bytes !== undefined) write(bytes)
      stream?.close()
      stream = null
    },
    drop() {
      stream?.error(CLIENT_GONE)
      stream = null
    },
  }
}
