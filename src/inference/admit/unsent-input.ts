import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** References in a request to content that the provider reads, such as files. Documents may be referenced by URL. */
const NAMED_INPUT =
  /"(?:previous_response_id|conversation|file_id|file_url|vector_store_ids|mcp_servers)"\s*:|"prompt"\s*:\s*\{|"type"\s*:\s*"document"/iu
/** Media referenced by URL instead of embedded. */
const LINKED_MEDIUM = /"(?:image_url|url|file_url)"\s*:\s*"https?:|"url"\s*:\s*"https?:/g

/** Bytes of the query, repeated per document: some providers count it with each document that they rank. */
export function repeatedQuery({ query, documents }: Fields): number {
  if (query === undefined || !Array.isArray(documents)) return 0
  return Buffer.byteLength(JSON.stringify(query)) * documents.length
}

/** Tells whether the provider reads more than the request contains. */
export function readsMore(text: string, { tools, web_search_options, search_parameters }: Fields): boolean {
  if (web_search_options || search_parameters || NAMED_INPUT.test(text)) return true
  return objectsOrNone(tools).some(({ type }) => type !== undefined && type !== 'function' && type !== 'custom')
}

/** Number of media in a request that are referenced by URL. */
export const linkedMedia = (text: string): number =>
  text.includes('url"') ? (text.match(LINKED_MEDIUM)?.length ?? 0) : 0
