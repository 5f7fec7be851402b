import * as z from 'zod'
import { isObject } from './json.ts'

const MAX_LENGTH = 480

type JsonSchema = z.core.JSONSchema.BaseSchema

/**
 * Describes in words the values that a schema accepts: `a whole number from 0 to 65535`. The schema's `accepted`
 * metadata takes precedence.
 */
export function accepts(schema: z.ZodType): string {
  return acceptedAt(schema, [])
}

/**
 * Describes the values that a schema accepts at `path` inside it. Empty when `path` leads out of the schema.
 *
 * @example
 * import * as z from 'zod'
 * acceptedAt(z.object({ port: z.int().min(0).max(65535) }), ['port']) // 'a whole number from 0 to 65535'
 */
export function acceptedAt(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const words = new Set(nodesAt(jsonSchema(schema), path).map(describe))
  return [...words].filter(Boolean).join(' or ').slice(0, MAX_LENGTH)
}

/** Lists the fields of the objects at `path`, comma-separated. */
export function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const fields = nodesAt(jsonSchema(schema), path).flatMap((node) => Object.keys(node.properties ?? {}))
  return [...new Set(fields)].join(', ').slice(0, MAX_LENGTH)
}

/** Describes the entry names that the record around `path` accepts. */
export function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string {
  const nodes = nodesAt(jsonSchema(schema), path.slice(0, -1)).map((node) => node.propertyNames)
  return nodes.filter(isSchema).map(describe).join(' or ')
}

// Derived from JSON Schema, which is flat and documented, unlike zod's internals. Cached per schema: the conversion
// costs more than a failed check.
const derived = new WeakMap<z.ZodType, JsonSchema>()

function jsonSchema(schema: z.ZodType): JsonSchema {
  const known = derived.get(schema)
  if (known) return known
  const made = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  derived.set(schema, made)
  return made
}

function nodesAt(root: JsonSchema, path: readonly PropertyKey[]): JsonSchema[] {
  return path.reduce<JsonSchema[]>(
    (nodes, key) =>
      nodes
        .map((node) =>
          typeof key === 'number'
            ? (node.prefixItems?.[key] ?? node.items)
            : (ownProperty(node.properties, key) ?? node.additionalProperties),
        )
        .filter(isSchema)
        .flatMap((node) => alternatives(root, node)),
    alternatives(root, root),
  )
}

function ownProperty(properties: JsonSchema['properties'], key: PropertyKey) {
  return properties && Object.hasOwn(properties, key) ? properties[String(key)] : undefined
}

function alternatives(root: JsonSchema, node: JsonSchema): JsonSchema[] {
  if (typeof node.accepted === 'string') return [node]
  if (node.$ref) {
    const target = node.$ref === '#' ? root : root.$defs?.[node.$ref.split('/').at(-1) ?? '']
    return isSchema(target) ? alternatives(root, target) : []
  }
  const branches = node.anyOf ?? node.oneOf ?? node.allOf
  return branches ? branches.filter(isSchema).flatMap((branch) => alternatives(root, branch)) : [node]
}

const isSchema = (value: unknown): value is JsonSchema => isObject(value)

function describe(node: JsonSchema): string {
  if (typeof node.accepted === 'string') return node.accepted
  if (node.enum) return `one of ${node.enum.map((choice) => JSON.stringify(choice)).join(', ')}`
  if (node.const !== undefined) return JSON.stringify(node.const)
  const types = Array.isArray(node.type) ? node.type : [node.type]
  return types.map((type) => describeType(type, node)).join(' or ')
}

function describeType(type: unknown, node: JsonSchema): string {
  switch (type) {
    case 'integer':
      return `a whole number${range(node.minimum, node.maximum)}`
    case 'number': {
      const above = node.exclusiveMinimum === undefined ? '' : ` above ${node.exclusiveMinimum}`
      const steps = node.multipleOf === undefined ? '' : ` in steps of ${node.multipleOf.toFixed(6).replace(/0+$/, '')}`
      return `a number${above}${range(node.minimum, node.maximum)}${steps}`
    }
    case 'string':
      return describeString(node)
    case 'array':
      return `a list${range(node.minItems, node.maxItems, ' items')}`
    case 'object':
      return 'an object'
    case 'boolean':
      return 'true or false'
    case 'null':
      return 'null'
    default:
      return ''
  }
}

function describeString(node: JsonSchema): string {
  if (node.format === 'date-time') return 'an RFC 3339 time such as "2026-11-21T07:17:52.000Z"'
  if (node.format === 'uri') return 'a URL'
  if (node.pattern !== undefined) return `text that matches ${node.pattern}`
  return `text${range(node.minLength, node.maxLength, ' characters')}`
}

function range(least: number | undefined, most: number | undefined, unit = ''): string {
  // zod bounds every integer by the safe integers; such a bound is not worth mentioning.
  const min = least === undefined || least <= Number.MIN_SAFE_INTEGER ? undefined : least
  const max = most === undefined || most >= Number.MAX_SAFE_INTEGER ? undefined : most
  if (min !== undefined && max !== undefined) return unit ? ` of ${min} to ${max}${unit}` : ` from ${min} to ${max}`
  if (min !== undefined) return ` of at least ${min}${unit}`
  if (max !== undefined) return ` of at most ${max}${unit}`
  return ''
}
