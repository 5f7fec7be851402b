import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { geminiMedia } from '../observe/gemini-media.ts'
import { limitsOf, type ModelChoice } from '../upstreams/provider.ts'

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

/** Input of a request to Gemini that may be as long as the context of its model. */
export interface LongInput {
  /** Field that refers to it. */
  field: string
  tokens: number
  /** True where all of it is read from the provider's cache. */
  isCached: boolean
}

/** Providers of Gemini. */
const GEMINI: ReadonlySet<unknown> = new Set(['gemini', 'vertex'])
/** Context of Gemini's models, which its list does not state. */
const GEMINI_CONTEXT = 1_048_576

/**
 * Finds what a request has Gemini read, whatever its length: a prompt that it has cached, or a recording, video or
 * document by its address. Images by their address have a size of their own, see {@link linkedMedia}.
 */
export function longInput(json: Fields, models: readonly ModelChoice[]): LongInput | null {
  const contexts = models
    .filter(({ vendor }) => GEMINI.has(vendor))
    .map((model) => limitsOf(model).context ?? GEMINI_CONTEXT)
  if (contexts.length === 0) return null
  const tokens = Math.max(...contexts)
  const isFile = geminiMedia(json).some(({ isLinked, mimeType }) => isLinked && !/^image\//i.test(mimeType))
  if (isFile) return { field: 'contents', tokens, isCached: false }
  const { google } = fieldsOrNone(json.extra_body)
  const { cached_content: cached } = fieldsOrNone(google)
  const named = { cachedContent: json.cachedContent, cached_content: json.cached_content }
  const fields = { ...named, 'extra_body.google.cached_content': cached }
  const field = Object.entries(fields).find(([, value]) => (value ?? null) !== null)?.[0]
  return field === undefined ? null : { field, tokens, isCached: true }
}
