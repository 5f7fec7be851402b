const NEWLINE = 0x0a
const CARRIAGE_RETURN = 0x0d

/**
 * Yields the lines of a stream as bytes, without their line ends `\n` and `\r\n`. `node:readline` of Node 24 also ends
 * a line at U+2028 and U+2029, which JSON allows inside strings (RFC 8259).
 *
 * @param longest maximum length of a line in bytes. Of a longer line, null is yielded; it is not kept in memory
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>, longest: number): AsyncGenerator<Buffer | null> {
  let parts: Buffer[] = []
  let length = 0
  const keep = (part: Buffer) => {
    length += part.length
    if (length > longest) parts = []
    else parts.push(part)
  }
  const take = (): Buffer | null => {
    const line = length > longest ? null : Buffer.concat(parts)
    parts = []
    length = 0
    return line?.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line
  }
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      yield take()
      start = end + 1
    }
    keep(chunk.subarray(start))
  }
  if (length > 0) yield take()
}
