import { inReplyTurn } from './large-reply-queue.ts'

/**
 * Streams a body as fast as the client takes it. A piece is made only when it is needed, and few pieces of all replies
 * at once.
 */
export function streamed(pieces: AsyncGenerator<string | Buffer, void>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await inReplyTurn(() => pieces.next())
        if (done) return controller.close()
        controller.enqueue(typeof value === 'string' ? Buffer.from(value) : value)
      },
      cancel: () => void pieces.return(),
    },
    { highWaterMark: 0 },
  )
}
