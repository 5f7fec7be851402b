import { z } from 'zod'
import { GazewayError } from '../../errors.ts'
import { LIST_LIMIT } from '../../validation.ts'

const TypeName = z.enum(['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'])

/** The name of a JSON type, as a schema's `type` has it. */
export type TypeName = z.infer<typeof TypeName>

const size = z.int().min(0).optional()
const bound = z.number().optional()
const schemas = z.record(z.string(), z.unknown()).optional()

/**
 * One JSON Schema object (drafts 7 and 2020-12): the keywords that the sandbox honours. The schemas inside it stay
 * unread until they are needed; other keywords are kept and mean nothing.
 */
export const JsonSchema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([TypeName, z.array(TypeName).max(LIST_LIMIT).min(1)]).optional(),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  allOf: z.array(z.unknown()).optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
  not: z.unknown().optional(),
  properties: schemas,
  patternProperties: schemas,
  additionalProperties: z.unknown().optional(),
  propertyNames: z.unknown().optional(),
  required: z.array(z.string()).max(LIST_LIMIT).optional(),
  minProperties: size,
  maxProperties: size,
  items: z.unknown().optional(),
  prefixItems: z.array(z.unknown()).optional(),
  additionalItems: z.unknown().optional(),
  contains: z.unknown().optional(),
  minItems: size,
  maxItems: size,
  uniqueItems: z.boolean().optional(),
  minLength: size,
  maxLength: size,
  pattern: z.string().optional(),
  format: z.string().optional(),
  minimum: bound,
  maximum: bound,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  multipleOf: z.number().positive().optional(),
})

export type JsonSchema = z.infer<typeof JsonSchema>

/** Keywords that would narrow what is valid and that the sandbox cannot honour: better refused than ignored. */
const REFUSED = [
  'if',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'unevaluatedProperties',
  'unevaluatedItems',
  '$dynamicRef',
] as const

/** Schemas read for one value; alternatives of alternatives can be more than anyone would wait for. */
const MAX_READS = 100_000

/** A schema document: it reads the schemas inside, and follows their references. */
export interface SchemaDocument {
  /** The schema itself. */
  root: unknown
  /** The schema object that `node` is: `true` reads as `{}` and `false` as `{ not: {} }`. */
  read(node: unknown): JsonSchema
  /** What a local reference (`#`, `#/$defs/name`) points to. */
  resolve(ref: string): unknown
}

/** The error for a schema that the sandbox cannot use. */
export function schemaRefused(reason: string): GazewayError {
  return new GazewayError('invalid_request', `The sandbox cannot use this JSON Schema: ${reason}.`)
}

/**
 * Opens a JSON Schema document.
 *
 * @throws GazewayError `invalid_request` from `read` and `resolve`, when a schema is malformed, narrows by a keyword
 * that the sandbox does not know, or refers to what is not in the document,
 * and from `read` when it has been read very often
 */
export function openSchema(root: unknown): SchemaDocument {
  const known = new WeakMap<object, JsonSchema>()
  let reads = 0

  function read(node: unknown): JsonSchema {
    reads += 1
    if (reads > MAX_READS) throw schemaRefused('it has too many combinations')
    if (node === true || node === undefined) return {}
    if (node === false) return { not: {} }
    if (typeof node !== 'object' || node === null) throw schemaRefused(`${JSON.stringify(node)} is not a schema`)
    const earlier = known.get(node)
    if (earlier) return earlier

    const parsed = JsonSchema.safeParse(node)
    if (!parsed.success) {
      const issue = parsed.error.issues[0]
      throw schemaRefused(`${issue?.path.join('.') || 'schema'}: ${issue?.message}`)
    }
    const refused = REFUSED.find((keyword) => keyword in node)
    if (refused) throw schemaRefused(`it does not know the keyword ${refused}`)
    known.set(node, parsed.data)
    return parsed.data
  }

  function resolve(ref: string): unknown {
    if (ref !== '#' && !ref.startsWith('#/')) throw schemaRefused(`${ref} is not a local reference (#/…)`)
    let node = root
    for (const step of ref.split('/').slice(1)) {
      const key = decodePointer(step)
      if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key))
        throw schemaRefused(`${ref} leads nowhere`)
      node = (node as Record<string, unknown>)[key]
    }
    return node
  }

  return { root, read, resolve }
}

/** One step of a JSON Pointer in its URI fragment form (RFC 6901, sections 4 and 6). */
function decodePointer(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch (cause) {
    throw new GazewayError('invalid_request', `The sandbox cannot read the reference step ${step}.`, { cause })
  }
}

/** The types that `schema` allows by its `type`; nothing when it does not say. */
export function typesOf(schema: JsonSchema): TypeName[] | undefined {
  return typeof schema.type === 'string' ? [schema.type] : schema.type
}

/** The values that `enum` and `const` leave; nothing when neither is there. */
export function choicesOf(schema: JsonSchema): unknown[] | undefined {
  if (Object.hasOwn(schema, 'const')) return [schema.const]
  return schema.enum
}

/** The schemas of an array's first items, and of those after them. */
export function itemsOf(schema: JsonSchema): { prefix: unknown[]; rest: unknown } {
  if (Array.isArray(schema.items)) return { prefix: schema.items, rest: schema.additionalItems }
  return { prefix: schema.prefixItems ?? [], rest: schema.items }
}

/** The schemas that the property `name` has to satisfy. */
export function propertySchemas(schema: JsonSchema, name: string): unknown[] {
  const own = schema.properties && Object.hasOwn(schema.properties, name) ? [schema.properties[name]] : []
  const matching = Object.entries(schema.patternProperties ?? {}).filter(([pattern]) => regExp(pattern).test(name))
  const declared = [...own, ...matching.map(([, node]) => node)]
  return declared.length > 0 ? declared : [schema.additionalProperties]
}

/**
 * The regular expression of a schema's `pattern`.
 *
 * @throws GazewayError `invalid_request` when it is not one
 */
export function regExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch (cause) {
    throw new GazewayError('invalid_request', `The pattern ${pattern} is not a regular expression.`, { cause })
  }
}
