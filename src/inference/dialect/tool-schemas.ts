import { isObject } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { wording } from './error-wording.ts'
import { API_NAMES, type Api, type Mend } from './mend.ts'

/** Keywords of JSON Schema that say nothing a model needs, or that subsets of it lack. */
const LACKING: ReadonlySet<string> = new Set([
  ...['additionalProperties', '$schema', '$id', '$comment', 'patternProperties', 'propertyNames'],
  ...['unevaluatedProperties', 'exclusiveMinimum', 'exclusiveMaximum', 'contentEncoding', 'examples'],
])
const UNIONS = ['anyOf', 'oneOf', 'allOf'] as const

const SCHEMA = /schema|parameters|properties|tools?[.[]/i
const UNION = wording(
  /(?:any_?of|one_?of|all_?of).*top|top.*(?:any_?of|one_?of|all_?of)|must (?:be|have) (?:of )?type:? ['"]?object/is,
)
const KEYWORD = wording(
  /additional_?properties|\$schema|unknown (?:name|keyword|field)|(?:unsupported|unknown|unrecognized|invalid).*(?:schema|keyword)|not (?:permitted|supported).*schema/is,
)

/** Fields in which the tools of an API have their schema. */
type Place = { readonly holder: 'function' | null; readonly schema: 'parameters' | 'input_schema' }
const PLACES: Readonly<Record<Api, Place>> = {
  chat: { holder: 'function', schema: 'parameters' },
  messages: { holder: null, schema: 'input_schema' },
  responses: { holder: null, schema: 'parameters' },
}

/** Mends the schemas of tools in each API. */
const ofSchemas = (name: string, isRefused: Mend['isRefused'], change: (schema: Fields) => Fields): Mend[] =>
  API_NAMES.map((api) => ({
    name,
    apis: [api],
    isRefused,
    fields: ({ tools }, note) =>
      changedTools(tools, api, (tool, path) => {
        const { schema: place } = PLACES[api]
        const schema = tool[place]
        if (!isObject(schema)) return tool
        const changed = change(schema)
        if (changed === schema) return tool
        note(`${path}.${place}`, 'rewritten')
        return { ...tool, [place]: changed }
      }),
  }))

function changedTools(tools: unknown, api: Api, change: (tool: Fields, path: string) => Fields): Fields {
  const all = objectsOrNone(tools)
  const { holder } = PLACES[api]
  const changed = all.map((tool, index) => {
    if (holder === null) return change(tool, `tools.${index}`)
    const held = tool[holder]
    if (!isObject(held)) return tool
    const inner = change(held, `tools.${index}.${holder}`)
    return inner === held ? tool : { ...tool, [holder]: inner }
  })
  return changed.every((tool, index) => tool === all[index]) ? {} : { tools: changed }
}

/** Says that the arguments are an object, and which properties it has. */
function asObject(schema: Fields): Fields {
  const isUnion = UNIONS.some((name) => name in schema) || '$ref' in schema
  if (isUnion || (schema.type === 'object' && isObject(schema.properties))) return schema
  if (schema.type !== undefined && schema.type !== null && schema.type !== 'object') return schema
  return { ...schema, type: 'object', properties: isObject(schema.properties) ? schema.properties : {} }
}

/** One object with the properties of all alternatives; required is what all of them require. */
function flattened(schema: Fields): Fields {
  const kind = UNIONS.find((name) => Array.isArray(schema[name]))
  if (kind === undefined) return asObject(schema)
  const { [kind]: list, ...rest } = schema
  const all = objectsOrNone(list)
  const lists = all.map(({ required }) => (Array.isArray(required) ? required : []))
  const sets = lists.map((list) => new Set(list))
  const common =
    kind === 'allOf' ? lists.flat() : (lists[0] ?? []).filter((one) => sets.every((other) => other.has(one)))
  const own = Array.isArray(rest.required) ? rest.required : []
  const properties = Object.fromEntries(
    [...all.map((one) => one.properties), rest.properties].flatMap((one) => Object.entries(fieldsOrNone(one))),
  )
  const required = [...new Set([...own, ...common])]
  return flattened({ ...rest, type: 'object', properties, ...(required.length > 0 && { required }) })
}

/** A schema without the keywords that subsets lack. Names of properties are no keywords. */
function plain(schema: Fields): Fields {
  let isChanged = false
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (LACKING.has(key)) {
      isChanged = true
      return []
    }
    const inner = key === 'properties' || key === '$defs' || key === 'definitions' ? plainEach(value) : plainIn(value)
    isChanged ||= inner !== value
    return [[key, inner]]
  })
  return isChanged ? Object.fromEntries(entries) : schema
}

function plainEach(value: unknown): unknown {
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => [key, plainIn(one)])
  return entries.every(([key, one]) => value[key] === one) ? value : Object.fromEntries(entries)
}

function plainIn(value: unknown): unknown {
  if (Array.isArray(value)) {
    const list = value.map(plainIn)
    return list.every((one, index) => one === value[index]) ? value : list
  }
  return isRecord(value) ? plain(value) : value
}

/** Tells whether a value is a JSON object, and no number that JavaScript cannot represent. */
const isRecord = (value: unknown): value is Fields =>
  isObject(value) && Object.getPrototypeOf(value) === Object.prototype

const strict: Mend[] = API_NAMES.map((api) => ({
  name: 'no_strict',
  apis: [api],
  isRefused: ({ message }) => /strict|'additionalProperties' is required|supplied and to be false/i.test(message),
  fields: ({ tools }, note) =>
    changedTools(tools, api, (tool, path) => {
      if ((tool.strict ?? null) === null) return tool
      note(`${path}.strict`, 'dropped')
      const { strict: _, ...rest } = tool
      return rest
    }),
}))

/** Mends of the schemas of tools. */
export const TOOL_SCHEMAS: readonly Mend[] = [
  ...ofSchemas('object_schemas', ({ message }) => SCHEMA.test(message), asObject),
  ...ofSchemas('no_unions', ({ message }) => UNION.test(message), flattened),
  ...strict,
  ...ofSchemas('plain_schemas', ({ message }) => KEYWORD.test(message), plain),
]
