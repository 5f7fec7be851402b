import * as z from 'zod'
import { GazewayError } from '../../errors.ts'

type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/** A JSON Schema object, as far as values are made from it. Whether a made value is valid is zod's to judge. */
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

/** The error for a schema that the sandbox cannot use. */
export function schemaRefused(reason: string, cause?: unknown): GazewayError {
  return new GazewayError('invalid_request', `The sandbox cannot use this JSON Schema: ${reason}.`, { cause })
}

/**
 * The check of a JSON Schema, by zod.
 *
 * @throws GazewayError `invalid_request` for a schema that is malformed or uses a keyword that zod does not know
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
 * What a schema node says, with its local references followed and `allOf` merged into it.
 *
 * @throws GazewayError `invalid_request` for a reference that leads nowhere, or in a circle
 */
export function flattened(root: unknown, node: unknown, followed = 0): JsonSchema {
  if (typeof node !== 'object' || node === null) return {}
  const { $ref, allOf = [], ...own } = node as JsonSchema
  if (followed > 32) throw schemaRefused('its references lead in a circle')
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

/** What a local reference (`#`, `#/$defs/name`) points to: a JSON Pointer (RFC 6901, section 6). */
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

/** The values that `enum` and `const` leave; undefined when neither is there. */
export function choicesOf(schema: JsonSchema): unknown[] | undefined {
  return Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum
}

/** The types that a schema allows; one that does not say allows what its other keywords speak of. */
export function typesOf(schema: JsonSchema): TypeName[] {
  if (schema.type !== undefined) return [schema.type].flat()
  if (schema.properties || schema.required || schema.additionalProperties || schema.minProperties) return ['object']
  if (schema.items !== undefined || schema.prefixItems || schema.minItems) return ['array']
  const bounds = [schema.minimum, schema.maximum, schema.exclusiveMinimum, schema.exclusiveMaximum, schema.multipleOf]
  return bounds.some((bound) => bound !== undefined) ? ['number'] : ['string']
}

/** The schemas of an array's first items, and of those after them (2020-12, and draft 7's tuples). */
export function itemsOf({ items, prefixItems = [] }: JsonSchema): { prefix: JsonSchema[]; rest: unknown } {
  return Array.isArray(items) ? { prefix: items, rest: {} } : { prefix: prefixItems, rest: items }
}
