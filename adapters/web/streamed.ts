/** A body whose pieces are made as fast as the client takes them, and no sooner. */
export function streamed(pieces: AsyncGenerator<string | Buffer, void>): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await pieces.next()
        if (done) return controller.close()
        controller.enqueue(typeof value === 'string' ? Buffer.from(value) : value)
      },
      cancel: () => void pieces.return(),
    },
    { highWaterMark: 0 },
  )
}
