import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/**
 * References in a request to content that the provider reads: files, earlier turns, what it has cached or spoken. Documents
 * may be referenced by URL.
 */
const NAMED_INPUT =
  /"(?:previous_response_id|conversation|file_id|file_url|vector_store_ids|mcp_servers|cached_?content|compound_custom|url_?context|file_?search|code_?execution)"\s*:|"prompt"\s*:\s*\{|"audio"\s*:\s*\{\s*"id"|"type"\s*:\s*"(?:document|item_reference)"/iu
/** Media and documents referenced by URL instead of embedded: `url`, `image_url`, `document_url`, `file_uri`, `fileUri` and the like. */
const LINKED_MEDIUM = /"(?:[a-z]+_|file)?ur[il]"\s*:\s*"(?:https?|gs):/gi

/** Bytes of the query, repeated per document: some providers count it with each document that they rank. */
export function repeatedQuery({ query, documents }: Fields): number {
  if (query === undefined || !Array.isArray(documents)) return 0
  return Buffer.byteLength(JSON.stringify(query)) * documents.length
}

/** Tells whether the provider reads more than the request contains. */
export function readsMore(text: string, { tools, web_search_options, search_parameters, input }: Fields): boolean {
  if (web_search_options || search_parameters || NAMED_INPUT.test(text)) return true
  if (objectsOrNone(input).some(isReference)) return true
  return objectsOrNone(tools).some(({ type }) => type !== undefined && type !== 'function' && type !== 'custom')
}

/** Tells whether an item of a Responses request is the id of a stored one alone. */
const isReference = ({ type, id, content }: Fields): boolean =>
  (type ?? null) === null && typeof id === 'string' && content === undefined

/** Number of media in a request that are referenced by URL. */
export const linkedMedia = (text: string): number =>
  /ur[il]"/i.test(text) ? (text.match(LINKED_MEDIUM)?.length ?? 0) : 0
