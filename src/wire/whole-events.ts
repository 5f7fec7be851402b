/** An event longer than this is not one that a model sends. */
const EVENT_LIMIT_BYTES = 16 * 1024 * 1024
/** As much of a blank line, with the end of the line before it, as can be in one of two pieces: `\n\r` or `\r\n`. */
const SEAM_BYTES = 2
const BLANK_LINE = Buffer.from('\n\n')
const [LF, CR] = [0x0a, 0x0d]

/** Puts the pieces of a stream of server-sent events together so that each holds whole events. */
export interface WholeEvents {
  /** @returns what has arrived of whole events; null while there is none: an unfinished one waits for its rest */
  push(chunk: Buffer): Buffer | null
  /** What is left at the end of the stream, with the blank line that it lacks; null when nothing is. */
  rest(): Buffer | null
}

/**
 * It takes time by the length of the stream, whatever pieces it comes in.
 *
 * @throws from `push` when an event is longer than 16 MiB
 */
export function wholeEvents(): WholeEvents {
  /** The beginning of an event: the first `heldBytes` of it, the rest is room for more. */
  let held: Buffer | null = null
  let heldBytes = 0

  /** Room is doubled, so that a large event costs time by its size whatever pieces it comes in. */
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

  /** Where the last event ends in `chunk` if its blank line began in what is held; 0 when it did not. */
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

/** The events of a piece of a stream, each with its blank line; line ends may be LF or CRLF. */
export function splitEvents(bytes: Buffer): Buffer[] {
  const events: Buffer[] = []
  let [lf, crlf] = [0, 0]
  for (let start = 0; start < bytes.length; ) {
    // What was found further on is not looked for again: most streams have one of the two only.
    if (lf <= start) lf = endAfter(bytes, '\n\n', start)
    if (crlf <= start) crlf = endAfter(bytes, '\n\r\n', start)
    const end = Math.min(lf, crlf)
    events.push(bytes.subarray(start, end))
    start = end
  }
  return events
}

function lastBoundary(bytes: Buffer): number {
  if (endsWithBlankLine(bytes)) return bytes.length
  const lf = bytes.lastIndexOf('\n\n')
  const crlf = bytes.lastIndexOf('\n\r\n')
  return Math.max(lf === -1 ? 0 : lf + 2, crlf === -1 ? 0 : crlf + 3)
}

/** What most pieces of a stream do: upstreams write whole events. */
function endsWithBlankLine(bytes: Buffer): boolean {
  if (bytes.at(-1) !== LF) return false
  return bytes.at(-2) === LF || (bytes.at(-2) === CR && bytes.at(-3) === LF)
}

/** Where the first `mark` from `start` on ends; the end of the bytes when there is none. */
function endAfter(bytes: Buffer, mark: string, start: number): number {
  const at = bytes.indexOf(mark, start)
  return at === -1 ? bytes.length : at + mark.length
}
