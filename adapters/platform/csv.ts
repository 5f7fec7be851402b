import { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { FrameContext } from '../web/frame.ts'

/** Lines that are sent at once. */
const LINES_PER_PIECE = 200

/** Whether a client asked for a table rather than JSON. */
export const wantsCsv = (c: FrameContext): boolean => /^\s*text\/csv\b/i.test(c.req.header('accept') ?? '')

/**
 * A reply with lines of CSV, which are made as fast as the client reads them; the first of them before it is answered.
 *
 * @param name of the file that it is saved as
 * @throws whatever fails before there is a first piece of it
 */
export async function csvReply(name: string, lines: AsyncIterable<string>): Promise<Response> {
  const made = pieces(lines)
  const first = await made.next()
  const body = Readable.toWeb(Readable.from(resumed(first, made))) as ReadableStream
  return new Response(body, {
    headers: { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${name}.csv"` },
  })
}

async function* resumed(
  first: IteratorResult<Buffer, void>,
  rest: AsyncGenerator<Buffer, void>,
): AsyncGenerator<Buffer, void> {
  if (first.done) return
  yield first.value
  yield* rest
}

async function* pieces(lines: AsyncIterable<string>): AsyncGenerator<Buffer, void> {
  let piece: string[] = []
  for await (const line of lines) {
    piece.push(line)
    if (piece.length < LINES_PER_PIECE) continue
    yield Buffer.from(piece.join(''))
    piece = []
    // SQLite answers in this process, without a pause: others get their turn between pieces.
    await turn()
  }
  if (piece.length > 0) yield Buffer.from(piece.join(''))
}
