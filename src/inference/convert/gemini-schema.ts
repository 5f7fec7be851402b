import { isObject } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { documentedName } from './gemini-names.ts'
import { read, wrongType } from './request-reader.ts'

/** Types of Google's schemas, which are those of JSON Schema in upper case. */
const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'])
const NO_TYPE = 'type_unspecified'
/** Counts, which JSON of protocol buffers writes as text: they have 64 bits. */
const COUNTS: ReadonlySet<string> = new Set([
  ...['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'],
])
/** Order of the properties in an answer, which JSON Schema does not have: models follow that of `properties`. */
const ORDER = 'propertyOrdering'

/**
 * Converts a schema of Google's API, a subset of OpenAPI 3.0, to JSON Schema (https://ai.google.dev/api/caching#Schema).
 * Keywords that both have stay in their order.
 *
 * @param path location in the request, for errors
 * @throws GazewayError `invalid_request` for a schema in another form
 */
export function toJsonSchema(schema: unknown, path: string): Fields {
  const given = read.object(schema, path)
  const converted: Fields = {}
  for (const [spelled, value] of Object.entries(given)) {
    const name = documentedName(spelled)
    if (name !== 'nullable' && name !== ORDER) converted[name] = keyword(name, value, `${path}.${spelled}`)
  }
  if (converted.type === undefined) delete converted.type
  return given.nullable === true ? nullable(converted) : converted
}

function keyword(name: string, value: unknown, path: string): unknown {
  if (value === null || value === undefined) return value
  if (name === 'type') return typeOf(value, path)
  if (name === 'items') return toJsonSchema(value, path)
  if (name === 'anyOf') return read.objects(value, path).map((one, index) => toJsonSchema(one, `${path}.${index}`))
  if (name === 'properties')
    return Object.fromEntries(
      Object.entries(read.object(value, path)).map(([key, one]) => [key, toJsonSchema(one, `${path}.${key}`)]),
    )
  return COUNTS.has(name) && typeof value === 'string' ? count(value, path) : value
}

/** Reads a type. JSON Schema also has lists of them, which some clients send. */
function typeOf(given: unknown, path: string): unknown {
  if (Array.isArray(given)) return given.map((one, index) => typeOf(one, `${path}.${index}`))
  const type = read.text(given, path).toLowerCase()
  if (type === NO_TYPE) return undefined
  if (TYPES.has(type)) return type
  throw wrongType(path, 'a type, such as "STRING" or "OBJECT"')
}

function count(text: string, path: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw wrongType(path, 'a whole number')
}

/** A schema that also takes null. */
function nullable(schema: Fields): Fields {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return isObject(schema) ? { anyOf: [schema, { type: 'null' }] } : schema
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
  }
}
