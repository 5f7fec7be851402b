import * as z from 'zod'
import { SCHEMA_NAMES } from './schema-names.ts'

/** A schema as JSON Schema. */
export type JsonSchema = z.core.JSONSchema.BaseSchema

/** Direction of a body: `input` is sent by clients, `output` by this service. */
export type Direction = 'input' | 'output'

/** Converts schemas to JSON Schema, and collects those that have a name. */
export interface NamedSchemas {
  /** Contents of `components.schemas`, by name; complete once everything has been converted. */
  components: Record<string, JsonSchema>
  /** Returns a reference to the schema of a body, which gets the name if it has none of its own. */
  refer(schema: z.ZodType, direction: Direction, name: string): JsonSchema
  /** Converts a schema in place. */
  convert(schema: z.ZodType, direction: Direction): JsonSchema
}

const refTo = (name: string): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

/**
 * Creates an empty collection. Schemas of {@link SCHEMA_NAMES} become components wherever they occur. Replies are open:
 * they may get more fields, so clients must not refuse unknown ones. Bodies of requests are as strict as the routes.
 */
export function namedSchemas(): NamedSchemas {
  const components: Record<string, JsonSchema> = {}
  const named = new Map<string, z.ZodType>()

  /** Names a shared schema; the input has a name of its own where it differs from the output. */
  function nameOf(schema: z.ZodType, direction: Direction): string | undefined {
    const name = SCHEMA_NAMES.get(schema)
    if (name === undefined) return undefined
    const differs = direction === 'input' && !name.startsWith('New')
    return differs ? `${name}Input` : name
  }

  function add(name: string, schema: z.ZodType, direction: Direction): JsonSchema {
    if (!named.has(name)) {
      named.set(name, schema)
      components[name] = convert(schema, direction)
    }
    if (named.get(name) !== schema) throw new Error(`Two schemas of the API have the name ${name}.`)
    return refTo(name)
  }

  function convert(schema: z.ZodType, direction: Direction): JsonSchema {
    const { $schema, ...described } = z.toJSONSchema(schema, {
      io: direction,
      unrepresentable: 'any',
      override({ zodSchema, jsonSchema }) {
        const inner = zodSchema as unknown as z.ZodType
        const name = inner === schema ? undefined : nameOf(inner, direction)
        if (name === undefined) return amend(jsonSchema, direction)
        replace(jsonSchema, add(name, inner, direction))
      },
    })
    return described
  }

  return {
    components,
    convert,
    refer: (schema, direction, name) => add(nameOf(schema, direction) ?? name, schema, direction),
  }
}

/** Control characters in a pattern, in the notation that JavaScript alone knows, and in that of every engine. */
const CONTROL = { own: '\\P{Cc}', common: '[^\\u0000-\\u001f\\u007f-\\u009f]' }

/** Changes what zod writes: the `accepted` text is a description, records of an enum list their fields, replies are open. */
function amend(jsonSchema: JsonSchema, direction: Direction): void {
  const { accepted, propertyNames, additionalProperties, required } = jsonSchema
  delete jsonSchema.accepted
  if (typeof accepted === 'string') jsonSchema.description ??= `Must be ${accepted}.`
  if (jsonSchema.pattern) jsonSchema.pattern = jsonSchema.pattern.replaceAll(CONTROL.own, CONTROL.common)
  if (jsonSchema.items === false) jsonSchema.items = { not: {} }
  if (direction === 'output' && additionalProperties === false) delete jsonSchema.additionalProperties
  const names = typeof propertyNames === 'object' ? propertyNames.enum : undefined
  if (!names || !required || typeof additionalProperties !== 'object') return
  jsonSchema.properties = Object.fromEntries(names.map((name) => [String(name), additionalProperties]))
  delete jsonSchema.propertyNames
  delete jsonSchema.additionalProperties
}

function replace(jsonSchema: JsonSchema, by: JsonSchema): void {
  for (const key of Object.keys(jsonSchema)) delete jsonSchema[key]
  Object.assign(jsonSchema, by)
}
