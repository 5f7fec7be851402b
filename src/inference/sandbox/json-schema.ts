import * as z from 'zod'
import { GazewayError } from '../../errors.ts'

type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** The parts of a JSON Schema that values are generated from. zod decides whether a value is valid. */
export interface JsonSchema {
  $ref?: string
  type?: TypeName | TypeName[]
  enum?: unknown[]
  const?: unknown
  allOf?: JsonSchema[]
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  additionalProperties?: JsonSchema | boolean
  required?: string[]
  minProperties?: number
  items?: JsonSchema | JsonSchema[] | boolean
  prefixItems?: JsonSchema[]
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minLength?: number
  maxLength?: number
  pattern?: string
  format?: string
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
  description?: string
}

/** Error for a schema that the sandbox cannot use. */
export function schemaRefused(reason: string, cause?: unknown): GazewayError {
  return new GazewayError('invalid_request', `The sandbox cannot use this JSON Schema: ${reason}.`, { cause })
}

/**
 * Creates a validator for a JSON Schema, by zod.
 *
 * @throws GazewayError `invalid_request` for a schema that is malformed or uses a keyword that zod does not support
 */
export function validatorOf(root: unknown): (value: unknown) => boolean {
  try {
    const schema = z.fromJSONSchema(root as Parameters<typeof z.fromJSONSchema>[0])
    return (value) => schema.safeParse(value).success
  } catch (cause) {
    throw schemaRefused(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

/**
 * Resolves the local references of a schema node and merges `allOf` into it.
 *
 * @throws GazewayError `invalid_request` for a dangling or circular reference
 */
export function flattened(root: unknown, node: unknown, followed = 0): JsonSchema {
  if (typeof node !== 'object' || node === null) return {}
  const { $ref, allOf = [], ...own } = node as JsonSchema
  if (followed > 32) throw schemaRefused('its references are circular')
  const parts = $ref === undefined ? allOf : [target(root, $ref), ...allOf]
  return parts.map((part) => flattened(root, part, followed + 1)).reduce(merged, own)
}

function merged(a: JsonSchema, b: JsonSchema): JsonSchema {
  return {
    ...a,
    ...b,
    ...((a.properties || b.properties) && { properties: { ...a.properties, ...b.properties } }),
    ...((a.required || b.required) && { required: [...(a.required ?? []), ...(b.required ?? [])] }),
  }
}

/** Resolves a local reference (`#`, `#/$defs/name`), a JSON Pointer (RFC 6901, section 6). */
function target(root: unknown, ref: string): unknown {
  let node = root
  for (const step of ref.split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key))
      throw schemaRefused(`${ref} leads nowhere`)
    node = (node as Record<string, unknown>)[key]
  }
  return node
}

/** Values allowed by `enum` and `const`. Undefined without either. */
export function choicesOf(schema: JsonSchema): unknown[] | undefined {
  return Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum
}

/** Types that a schema allows. Without `type`, inferred from its other keywords. */
export function typesOf(schema: JsonSchema): TypeName[] {
  if (schema.type !== undefined) return [schema.type].flat()
  if (schema.properties || schema.required || schema.additionalProperties || schema.minProperties) return ['object']
  if (schema.items !== undefined || schema.prefixItems || schema.minItems) return ['array']
  const bounds = [schema.minimum, schema.maximum, schema.exclusiveMinimum, schema.exclusiveMaximum, schema.multipleOf]
  return bounds.some((bound) => bound !== undefined) ? ['number'] : ['string']
}

/** Schemas of an array's first items, and of the rest (2020-12, and draft 7's tuples). */
export function itemsOf({ items, prefixItems = [] }: JsonSchema): { prefix: JsonSchema[]; rest: unknown } {
  return Array.isArray(items) ? { prefix: items, rest: {} } : { prefix: prefixItems, rest: items }
}
