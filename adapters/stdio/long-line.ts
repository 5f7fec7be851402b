import type { RequestId } from '@modelcontextprotocol/server'
import { parseJson } from '../../src/text/json.ts'

/** Bytes at each end of a line that are searched for an id. */
const END = 512

/** Pattern of an id. Clients write it before long fields, or after them, as the SDK does. */
const ID = '"id"\\s*:\\s*("[^"\\\\]*"|-?\\d+)\\s*'
const ID_FIRST = new RegExp(`^\\{\\s*(?:"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*,\\s*)*${ID},`)
const ID_LAST = new RegExp(`,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*${ID}\\}$`)
/** A response also has an id, but of one of our requests. */
const REQUEST = /^\{[^[{]*"method"\s*:/

/** Keeps the first and the last bytes of a line that is too long. Also takes a line that was already cut. */
export function endsOf(parts: readonly Buffer[]): Buffer[] {
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
