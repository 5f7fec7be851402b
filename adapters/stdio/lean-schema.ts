import type * as z from 'zod'

type JsonSchema = z.core.JSONSchema.BaseSchema

/** Reductions of a schema. */
interface Cut {
  /** Replacement of a schema that accepts anything. */
  any: JsonSchema
  /** Keywords that are omitted. */
  leftOut: ReadonlySet<string>
  /** Keywords that are also omitted inside the tool's own fields. */
  leftOutInside: ReadonlySet<string>
  /** Keywords that are omitted when they accept anything. */
  leftOutOpen: ReadonlySet<string>
}

/** Parts of a schema that a model needs to write an argument; the server validates the rest. */
const INPUT: Cut = {
  // Each branch has one type, for clients that refuse a schema without a type.
  any: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'object' }] },
  leftOut: new Set(['$schema', 'minLength', 'maxLength', 'minItems', 'maxItems', 'propertyNames', 'pattern']),
  leftOutInside: new Set(['additionalProperties']),
  // Strict clients refuse a list without a schema of its items.
  leftOutOpen: new Set(),
}

/**
 * Parts of a schema that a model needs to read a result. Clients validate results against the reduced schema, which
 * accepts more.
 */
const OUTPUT: Cut = {
  // Spelled out, because schema checkers treat a schema without a type as a mistake.
  any: { anyOf: (['string', 'number', 'boolean', 'null', 'array', 'object'] as const).map((type) => ({ type })) },
  leftOut: new Set([
    ...INPUT.leftOut,
    'additionalProperties',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'format',
    'description',
    'default',
  ]),
  leftOutInside: new Set(['required']),
  leftOutOpen: new Set(['items']),
}

/**
 * Reduces the schema of a tool's input. Strict clients refuse empty subschemas and lists of types, so there are none.
 */
export const leanInput = (schema: JsonSchema): JsonSchema => lean(schema, INPUT, inside(INPUT))

/** Reduces the schema of a tool's output to names and types. */
export const leanOutput = (schema: JsonSchema): JsonSchema => lean(schema, OUTPUT, inside(OUTPUT))

const inside = (cut: Cut): Cut => ({ ...cut, leftOut: new Set([...cut.leftOut, ...cut.leftOutInside]) })

function lean(schema: JsonSchema, cut: Cut, inner: Cut): JsonSchema {
  const { type, description, ...narrow } = schema
  if (Array.isArray(type)) {
    const anyOf = type.map((one) => ({ ...(one === 'null' ? {} : narrow), type: one }))
    return lean({ ...(description === undefined ? {} : { description }), anyOf }, cut, inner)
  }
  const fields = Object.entries(schema).flatMap(([name, value]): [string, unknown][] =>
    cut.leftOut.has(name) || (cut.leftOutOpen.has(name) && isOpen(value)) || isImplied(name, value)
      ? []
      : [[name, leanValue(name, value, inner)]],
  )
  const kept = Object.fromEntries(fields)
  return isOpen(kept) ? { ...cut.any, ...kept } : kept
}

/** Tells whether a schema accepts anything. */
const isOpen = (schema: unknown): boolean =>
  Object.keys(Object(schema)).every((name) => name === 'description' || name === 'default')

function leanValue(name: string, value: unknown, cut: Cut): unknown {
  const each = (schema: unknown) => lean(schema as JsonSchema, cut, cut)
  if (name === 'properties' || name === '$defs')
    return Object.fromEntries(Object.entries(value as object).map(([key, schema]) => [key, each(schema)]))
  if (name === 'anyOf' || name === 'oneOf' || name === 'allOf') return (value as unknown[]).map(each)
  return name === 'items' || (name === 'additionalProperties' && typeof value === 'object') ? each(value) : value
}

/** Tells whether a keyword is implied: further fields of any kind, or the range of integers. */
function isImplied(name: string, value: unknown): boolean {
  if (name === 'additionalProperties')
    return typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return value === Number.MAX_SAFE_INTEGER || value === Number.MIN_SAFE_INTEGER
}
