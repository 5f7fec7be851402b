import type { RequestId } from '@modelcontextprotocol/server'
import { parseJson } from '../../src/text/json.ts'

/** Bytes at either end of a line that are searched for an id. */
const END = 512

/** Clients write the id before what is long, or, as the SDK does, behind it. */
const ID = '"id"\\s*:\\s*("[^"\\\\]*"|-?\\d+)\\s*'
const ID_FIRST = new RegExp(`^\\{\\s*(?:"(?:jsonrpc|method)"\\s*:\\s*"[^"\\\\]*"\\s*,\\s*)*${ID},`)
const ID_LAST = new RegExp(`,\\s*"jsonrpc"\\s*:\\s*"2\\.0"\\s*,\\s*${ID}\\}$`)
/** An answer has an id too, but of a request of ours. */
const REQUEST = /^\{[^[{]*"method"\s*:/

/** The first and the last bytes of a line that is too long to be kept; also of one that was cut so before. */
export function endsOf(parts: readonly Buffer[]): Buffer[] {
  const line = Buffer.concat(parts)
  // Copies, so that the line itself is let go.
  return [Buffer.from(line.subarray(0, END)), Buffer.from(line.subarray(-END))]
}

/** The id of the request whose ends `text` is, where it is plain to see. */
export function idAtEnds(text: string): RequestId | undefined {
  if (!REQUEST.test(text)) return undefined
  const [, id] = ID_FIRST.exec(text) ?? ID_LAST.exec(text) ?? []
  return id === undefined ? undefined : (parseJson(id) as RequestId | undefined)
}
