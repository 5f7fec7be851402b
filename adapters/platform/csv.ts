import { yieldToEventLoop } from '../../src/wire/yield-to-event-loop.ts'
import type { FrameContext } from '../web/frame-context.ts'
import { streamed } from '../web/stream-body.ts'

const LINES_PER_PIECE = 200

/** Tells whether a client accepts CSV rather than JSON. */
export const wantsCsv = (c: FrameContext): boolean => /^\s*text\/csv\b/i.test(c.req.header('accept') ?? '')

/**
 * Creates a CSV reply. Lines are made as fast as the client reads them; the first piece is made before the reply
 * begins.
 *
 * @param name name of the downloaded file, without extension
 * @throws any error before the first piece
 */
export async function csvReply(name: string, lines: AsyncIterable<string>): Promise<Response> {
  const made = pieces(lines)
  const first = await made.next()
  return new Response(streamed(resumed(first, made)), {
    headers: { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${name}.csv"` },
  })
}

async function* resumed(
  first: IteratorResult<string, void>,
  rest: AsyncGenerator<string, void>,
): AsyncGenerator<string, void> {
  if (first.done) return
  yield first.value
  yield* rest
}

async function* pieces(lines: AsyncIterable<string>): AsyncGenerator<string, void> {
  let piece: string[] = []
  for await (const line of lines) {
    piece.push(line)
    if (piece.length < LINES_PER_PIECE) continue
    yield piece.join('')
    piece = []
    await yieldToEventLoop()
  }
  if (piece.length > 0) yield piece.join('')
}
