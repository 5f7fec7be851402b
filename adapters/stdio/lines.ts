import type { RequestId } from '@modelcontextprotocol/server'
import { parseJson } from '../../src/text/json.ts'

const NEWLINE = 0x0a
/** Bytes at each end of a line that are searched for an id. */
const END = 512

/** Pattern of an id. Clients write it before long fields, or after them, as the SDK does. */
const ID = '"id"\\s*:\\s*("[^"\\\\]*"|-?\\d+)\\s*'
const ID_FIRST = new RegExp(`^\\{\\s*(?:"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*,\\s*)*${ID},`)
const ID_LAST = new RegExp(`,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*${ID}\\}$`)
/** A response also has an id, but of one of our requests. */
const REQUEST = /^\{[^[{]*"method"\s*:/

/** Splits a stream of bytes into lines of bounded size. */
export interface Lines {
  add(chunk: Buffer): void
  /** Reads what follows the last line break. */
  end(): void
}

/**
 * Creates the splitter. A line that is too long takes a limited amount of memory.
 *
 * @param options.onLine called with the text of each line that is not blank
 * @param options.onTooLong called with the first and the last bytes of a line above the limit
 */
export function createLines(options: {
  limitBytes: number
  onLine: (text: string) => void
  onTooLong: (ends: string) => void
}): Lines {
  const { limitBytes, onLine, onTooLong } = options
  let line: Buffer[] = []
  let length = 0

  function keep(part: Buffer): void {
    length += part.length
    line.push(part)
    if (length > limitBytes) line = endsOf(line)
  }
  function close(): void {
    const text = Buffer.concat(line).toString('utf8').trim()
    const isTooLong = length > limitBytes
    line = []
    length = 0
    if (isTooLong) onTooLong(text)
    else if (text !== '') onLine(text)
  }
  return {
    add(chunk) {
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        keep(chunk.subarray(start, end))
        close()
        start = end + 1
      }
      keep(chunk.subarray(start))
    },
    end() {
      if (length > 0) close()
    },
  }
}

/** The first and the last bytes of a line that is too long. Also takes a line that was already cut. */
function endsOf(parts: readonly Buffer[]): Buffer[] {
  const line = Buffer.concat(parts)
  // Copies, so that the memory of the whole line is freed.
  return [Buffer.from(line.subarray(0, END)), Buffer.from(line.subarray(-END))]
}

/** Finds the id of a request in the ends of its line. Undefined when it is not certain. */
export function idAtEnds(text: string): RequestId | undefined {
  if (!REQUEST.test(text)) return undefined
  const [, id] = ID_FIRST.exec(text) ?? ID_LAST.exec(text) ?? []
  return id === undefined ? undefined : (parseJson(id) as RequestId | undefined)
}
