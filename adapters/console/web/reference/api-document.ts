import type { OpenApi, Operation } from '../../../platform/openapi.ts'

/** A JSON Schema, as far as it is shown. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: unknown[]
  const?: unknown
  default?: unknown
  format?: string
  pattern?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

/** An operation at its place. */
export interface PlacedOperation extends Operation {
  method: string
  path: string
}

/** Description of an API, with its operations in order. */
export interface ApiDocument extends OpenApi {
  operations: readonly PlacedOperation[]
}

/** Lists the operations of a description. */
export function documentOf(description: OpenApi): ApiDocument {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  )
  return { ...description, operations }
}

/** Finds the operations that hold all words of a search, in their names, paths, groups or texts. */
export function found(operations: readonly PlacedOperation[], search: string): readonly PlacedOperation[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return operations
  return operations.filter(({ operationId, method, path, tags, summary, description }) => {
    const text = [operationId, method, path, ...tags, summary, description].join(' ').toLowerCase()
    return words.every((word) => text.includes(word))
  })
}

/** Name of the schema that a reference leads to; null for a schema in place. */
const nameOf = ({ $ref }: Schema): string | null => $ref?.split('/').at(-1) ?? null

/** Finds the schema that a reference leads to. */
export function resolved(schema: Schema, document: OpenApi): Schema {
  const name = nameOf(schema)
  return name === null ? schema : ((document.components.schemas[name] as Schema | undefined) ?? {})
}

/** Type of a value in the notation of TypeScript: `Task[] | null`. */
export function typeText(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== null) return name
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((one) => JSON.stringify(one)).join(' | ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return [...new Set(choices.map(typeText))].join(' | ')
  const types = [schema.type ?? []].flat()
  if (types.length === 0) return schema.properties ? 'object' : 'any'
  return types.map((type) => (type === 'array' ? listText(schema.items) : type)).join(' | ')
}

function listText(items: Schema | undefined): string {
  const text = items === undefined ? 'any' : typeText(items)
  return text.includes(' ') ? `(${text})[]` : `${text}[]`
}

/** Limits of a value in words: `1 to 100 characters, default 20`. */
export function limitsText(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, format, pattern } = schema
  return [
    between(minimum, maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum, ''),
    between(minLength, maxLength, ' characters'),
    between(minItems, maxItems, ' entries'),
    format ?? '',
    pattern === undefined ? '' : `pattern ${pattern}`,
    schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`,
  ]
    .filter(Boolean)
    .join(', ')
}

function between(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined || least === Number.MIN_SAFE_INTEGER)
    return most === undefined ? '' : `at most ${most}${unit}`
  return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`
}
