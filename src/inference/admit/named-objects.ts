import { GazewayError } from '../../errors.ts'
import type { JsonOutline } from '../../text/json-members.ts'

/** The part of a request in which it can name objects. */
export interface NamingRequest {
  /** Endpoint below `/v1`. */
  endpoint: string
  /** The body, unparsed: if a field occurs twice, parsing would hide one of the two. */
  text: string
  /** Outlines the text. Without it, the text itself is searched. */
  outline?: (() => JsonOutline) | undefined
}

/** Id of an object in a request. */
export interface NamedObject {
  field: string
  kind: string
}

/** Fields of any request that refer to an object of an earlier call, with the kind of the object. */
const FIELDS: ReadonlyMap<string, string> = new Map([
  ['previous_response_id', 'response'],
  ['conversation', 'conversation'],
  ['file_id', 'file'],
  ['input_file_id', 'file'],
  ['batch_id', 'batch'],
  ['container', 'container'],
  ['container_id', 'container'],
  ['skill_id', 'skill'],
])
/** Fields with a list of ids. */
const LISTS: ReadonlyMap<string, string> = new Map([
  ['file_ids', 'file'],
  ['vector_store_ids', 'vector store'],
])
/** Fields of a request about stored state. `id` is that of an item, a reference, a prompt, a conversation or a container. */
const STATE_FIELDS: ReadonlyMap<string, string> = new Map([
  ['id', 'object'],
  ['item_id', 'item'],
  ['response_id', 'response'],
])
/** Endpoints about stored state. Every value in their requests that looks like an id is one. */
const OF_STATE: ReadonlySet<string> = new Set(['/responses', '/responses/compact', '/files', '/batches'])
/** Fields whose text is for the model, or is a name that the client has chosen. */
const NO_OBJECT: ReadonlySet<string> = new Set([
  ...['text', 'content', 'input', 'prompt', 'instructions', 'arguments', 'output'],
  ...['call_id', 'tool_call_id', 'custom_id', 'model', 'name', 'type'],
])

const ID = String.raw`"(\w[\w.:-]{0,199})"`
const NAMED = new RegExp(`"(${[...FIELDS.keys()].join('|')})"\\s*:\\s*${ID}`, 'giu')
/** A quoted value that may be an id. In JSON, a quote before a letter always begins a string. */
const QUOTED = new RegExp(`${ID}(?!\\s*:)`, 'g')
const LIST = new RegExp(`"(${[...LISTS.keys()].join('|')})"\\s*:\\s*\\[([^\\]]*)`, 'giu')
const LISTED = /^"([\w.:-]{1,200})"$/
/** An id whose field is not known to have ids. */
const LOOKS_LIKE_ID = /^(?=.*\d).{8}/
/** Objects that refer to stored state by their `id`. */
const STATE_OBJECT = /"(?:conversation|container|prompt)"\s*:\s*\{/iu
/** Names in any case: some servers ignore it. Ids of tool calls are in each turn of an agent, and name no object. */
const MAY_NAME = new RegExp(`"(?:${[...FIELDS.keys(), ...LISTS.keys()].join('|')})"|"prompt"\\s*:\\s*\\{|\\\\u`, 'iu')

/** Names of fields that may refer to objects. */
const NAMING: ReadonlySet<string> = new Set([...FIELDS.keys(), ...LISTS.keys(), 'prompt'])

/** Tells whether a request may refer to an object of an earlier call, without looking closely. */
export function mayNameObjects({ endpoint, text, outline }: NamingRequest): boolean {
  if (OF_STATE.has(endpoint)) return true
  const names = outline?.().names ?? null
  if (names === null) return MAY_NAME.test(text)
  for (const name of names) if (mayBeNaming(name)) return MAY_NAME.test(text)
  return false
}

/** Tells whether a field may refer to an object, as far as its name tells. @param name as a JSON text writes it */
const mayBeNaming = (name: string): boolean => NAMING.has(folded(name)) || name.includes('\\')

/**
 * Finds the ids of objects in a request.
 *
 * @throws GazewayError `validation_failed` for a list of ids that contains anything else
 */
export function namedObjects({ endpoint, text }: NamingRequest): Map<string, NamedObject> {
  const plain = withoutEscapes(text)
  const named = new Map<string, NamedObject>()
  const isOfState = OF_STATE.has(endpoint) || STATE_OBJECT.test(plain)
  for (const [, field = '', id = ''] of isOfState ? quotedIn(plain) : plain.matchAll(NAMED)) {
    const kind = kindOf(id, field)
    if (kind !== null && !named.has(id)) named.set(id, { field, kind })
  }
  for (const [, field = '', list = ''] of plain.matchAll(LIST)) {
    const kind = LISTS.get(folded(field)) ?? 'object'
    for (const id of idsIn(list, field, kind)) named.set(id, { field, kind })
  }
  return named
}

/** Finds the values that may be ids, each after its field, which is empty in a list. */
function* quotedIn(text: string): Generator<[string, string, string]> {
  for (const { 0: value, 1: id = '', index } of text.matchAll(QUOTED)) yield [value, fieldBefore(text, index), id]
}

function fieldBefore(text: string, index: number): string {
  const colon = lastBefore(text, index)
  const end = text[colon] === ':' ? lastBefore(text, colon) : -1
  return text[end] === '"' ? text.slice(text.lastIndexOf('"', end - 1) + 1, end) : ''
}

/** Position of the last character before another that is no white space. */
function lastBefore(text: string, index: number): number {
  let at = index - 1
  while (/\s/.test(text[at] ?? '')) at--
  return at
}

function kindOf(id: string, field: string): string | null {
  const name = folded(field)
  const kind = FIELDS.get(name) ?? STATE_FIELDS.get(name)
  if (kind !== undefined) return kind
  return LOOKS_LIKE_ID.test(id) && !NO_OBJECT.has(field) ? 'object' : null
}

/** Lower case, also of the letters `ſ` and `K`, which some servers take for `s` and `k`. */
const folded = (name: string): string => name.toUpperCase().toLowerCase()

function idsIn(list: string, field: string, kind: string): string[] {
  if (list.trim() === '') return []
  return list.split(',').map((item) => {
    const id = LISTED.exec(item.trim())?.[1]
    if (id !== undefined) return id
    throw new GazewayError('validation_failed', `${field}: must contain only ${kind} ids.`, { param: field })
  })
}

/** Removes the escapes from a JSON text, which could disguise names and ids. */
const withoutEscapes = (text: string): string =>
  text.includes('\\u') ? text.replace(/\\(?:u([\da-f]{4})|.)/gi, unescaped) : text

/** Quotes stay escaped, so that they do not end a string. */
function unescaped(written: string, code: string | undefined): string {
  if (code === undefined) return written
  const letter = String.fromCharCode(Number.parseInt(code, 16))
  return letter === '"' || letter === '\\' ? `\\${letter}` : letter
}
