import { isObject } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { RESPONSES_LIMIT } from '../api/answer-limit.ts'
import { wrongType } from './request-reader.ts'

/**
 * Members of a Gemini request whose names are of its client: arguments and results of functions, schemas, labels. The
 * names in them stay as they are.
 */
const OPAQUE: ReadonlySet<string> = new Set([
  ...['args', 'response', 'labels', 'partMetadata'],
  ...['parameters', 'parametersJsonSchema', 'responseSchema', 'responseJsonSchema'],
])

/**
 * A Gemini request with the names of Google's reference. What Gazeway has set in it stays (`gemini-request.ts`). JSON of protocol buffers takes each name in two spellings, such
 * as `inlineData` and `inline_data` (https://protobuf.dev/programming-guides/json/#field-representation).
 *
 * @returns the request itself where it has these names already
 * @throws GazewayError `invalid_request` for a name in both spellings
 */
export const namedAsDocumented = (request: object): Fields => named(request, '') as Fields

function named(value: unknown, path: string): unknown {
  if (Array.isArray(value)) {
    const entries = value.map((entry, index) => named(entry, `${path}${index}.`))
    return entries.every((entry, index) => entry === value[index]) ? value : entries
  }
  if (!isObject(value)) return value
  let isSame = true
  const fields: Fields = {}
  for (const [given, member] of Object.entries(value)) {
    const name = path === '' && given === RESPONSES_LIMIT ? given : documentedName(given)
    if (name !== given && Object.hasOwn(value, name)) throw wrongType(`${path}${given}`, `absent beside ${name}`)
    const read = OPAQUE.has(name) ? member : named(member, `${path}${name}.`)
    isSame &&= name === given && read === member
    fields[name] = read
  }
  return isSame ? value : fields
}

/** Spelling of a name in Google's reference. @example documentedName('inline_data') // 'inlineData' */
export const documentedName = (name: string): string =>
  name.replace(/_([a-z\d])/g, (_, letter: string) => letter.toUpperCase())
