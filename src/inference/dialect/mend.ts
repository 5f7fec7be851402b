import type { Fields } from '../../text/typed-reader.ts'
import type { Note } from '../convert/reported-changes.ts'

/** APIs of requests as they are sent. */
export const API_NAMES = ['chat', 'messages', 'responses'] as const
export type Api = (typeof API_NAMES)[number]

/** An upstream's refusal of a request. */
export interface Refusal {
  status: number
  /** Its reason, or the body: the beginning and the end of a long one. */
  message: string
  /** True when it is about a field as such, and not about its value's range. */
  isAsSuch: boolean
  /** Field that it names as the fault. Null when it names none. */
  field: string | null
}

/** A form of a request that some upstreams accept alone. */
export interface Mend {
  /** Name of the fact that an upstream's model needs it. */
  name: string
  /** True for one that is about a conversation and not about the model: it is tried, and never remembered. */
  isOfCall?: true
  apis: readonly Api[]
  /** True to mend each converted request: its client's bytes are not kept anyway, and it loses nothing. */
  isCertain?: true
  /** True or false when it has the upstream answer with a stream, or without one. */
  stream?: boolean
  /** Tells whether a refusal may be about what this mends. */
  isRefused(refusal: Refusal): boolean
  /**
   * Fields of the mended request; undefined removes one. Empty when there is nothing to mend.
   *
   * @param body request in the upstream's API
   * @param note notes what is changed
   * @param own the same request without what Gazeway has added to it
   */
  fields(body: Fields, note: Note, own: Fields): Fields
}

const APIS: Readonly<Record<string, Api>> = {
  '/chat/completions': 'chat',
  '/messages': 'messages',
  '/responses': 'responses',
}

/** API of an endpoint, as records name it. Null for one whose requests are passed on verbatim. */
export const apiOf = (path: string): Api | null => APIS[path] ?? null

/** Applies mends one after the other. @returns the fields to set, by name */
export function mendedFields(mends: readonly Mend[], body: Fields, note: Note, own = body): Fields {
  let fields: Fields = {}
  let mended = body
  for (const mend of mends) {
    const changed = mend.fields(mended, note, own)
    if (Object.keys(changed).length === 0) continue
    fields = { ...fields, ...changed }
    mended = { ...mended, ...changed }
  }
  return fields
}
