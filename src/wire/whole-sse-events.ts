/** Largest event. Models do not send longer ones. */
const EVENT_LIMIT_BYTES = 16 * 1024 * 1024
/**
 * Longest part of a blank line (with the line end before it) that can be split between two chunks: `\n\r`.
 */
const SEAM_BYTES = 2
const BLANK_LINE = Buffer.from('\n\n')
const [LF, CR] = [0x0a, 0x0d]
const CRLF_BLANK_LINE = Buffer.from('\n\r\n')
const CR_BLANK_LINE = Buffer.from('\r\r')

/** Regroups the chunks of a stream of server-sent events so that each holds whole events. */
export interface WholeEvents {
  /**
   * Adds a chunk.
   *
   * @returns the events that are complete; null while there is none
   */
  push(chunk: Buffer): Buffer | null
  /** Takes the unfinished event at the end of the stream and adds the missing blank line. Null when nothing is left. */
  rest(): Buffer | null
}

/**
 * Creates a regrouper. Takes linear time, however the stream is chunked.
 *
 * @throws from `push` when an event is longer than 16 MiB
 */
export function wholeEvents(): WholeEvents {
  /** Buffer with the start of an event in its first `heldBytes`; the rest is spare room. */
  let held: Buffer | null = null
  let heldBytes = 0

  /** Doubles the buffer when it is full, so that a large event takes linear time. */
  function hold(piece: Buffer): void {
    const bytes = held ? heldBytes + piece.length : piece.length
    if (bytes > EVENT_LIMIT_BYTES) throw new Error('An event of the stream has no end.')
    if (held && bytes > held.length) {
      const larger = Buffer.allocUnsafe(Math.max(bytes, 2 * held.length))
      held.copy(larger, 0, 0, heldBytes)
      held = larger
    }
    if (held) piece.copy(held, heldBytes)
    else held = piece
    heldBytes = bytes
  }

  /** End of the last event in `chunk` when its blank line starts in the held bytes; 0 otherwise. */
  function seamBoundary(chunk: Buffer): number {
    if (!held) return 0
    const before = held.subarray(Math.max(0, heldBytes - SEAM_BYTES), heldBytes)
    const seam = Buffer.concat([before, chunk.subarray(0, SEAM_BYTES)])
    return Math.max(0, lastBoundary(seam) - before.length)
  }

  return {
    push(chunk) {
      const end = held ? Math.max(lastBoundary(chunk), seamBoundary(chunk)) : lastBoundary(chunk)
      if (end === 0) {
        hold(chunk)
        return null
      }
      const ended = chunk.subarray(0, end)
      const whole = held ? Buffer.concat([held.subarray(0, heldBytes), ended]) : ended
      held = null
      if (end < chunk.length) hold(chunk.subarray(end))
      return whole
    },
    rest() {
      const left = held && Buffer.concat([held.subarray(0, heldBytes), BLANK_LINE])
      held = null
      return left
    },
  }
}

/** Splits a chunk into its events, each with its blank line. Line ends may be LF, CRLF or CR. */
export function splitEvents(bytes: Buffer): Buffer[] {
  const events: Buffer[] = []
  // Most streams have no CR at all, which one search for a byte tells.
  const other = bytes.includes(CR) ? 0 : bytes.length
  let [lf, crlf, cr] = [0, other, other]
  for (let start = 0; start < bytes.length; ) {
    // Search again only past the last hit: most streams use one kind of line end.
    if (lf <= start) lf = endAfter(bytes, BLANK_LINE, start)
    if (crlf <= start) crlf = endAfter(bytes, CRLF_BLANK_LINE, start)
    if (cr <= start) cr = endAfter(bytes, CR_BLANK_LINE, start)
    const end = Math.min(lf, crlf, cr)
    events.push(bytes.subarray(start, end))
    start = end
  }
  return events
}

function lastBoundary(bytes: Buffer): number {
  if (endsWithBlankLine(bytes)) return bytes.length
  const lf = bytes.lastIndexOf('\n\n')
  const crlf = bytes.lastIndexOf('\n\r\n')
  const cr = bytes.lastIndexOf('\r\r')
  return Math.max(lf === -1 ? 0 : lf + 2, crlf === -1 ? 0 : crlf + 3, cr === -1 ? 0 : cr + 2)
}

/** Fast path: most chunks of upstreams end with a whole event. */
function endsWithBlankLine(bytes: Buffer): boolean {
  const { length } = bytes
  const [before, last] = [bytes[length - 2], bytes[length - 1]]
  if (last !== LF) return last === CR && before === CR
  return before === LF || (before === CR && bytes[length - 3] === LF)
}

/** End of the first `mark` at or after `start`; the end of the bytes when there is none. */
function endAfter(bytes: Buffer, mark: Buffer, start: number): number {
  const at = bytes.indexOf(mark, start)
  return at === -1 ? bytes.length : at + mark.length
}
