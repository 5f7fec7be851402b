import type * as z from 'zod'
import { acceptedAt } from '../../src/text/schema-in-words.ts'

/** The part of JSON Schema that tools' schemas are written in. */
export interface JsonSchema {
  $ref?: string
  definitions?: Record<string, JsonSchema>
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  default?: unknown
  description?: string
}

/** One field of a schema, however deep: `records[].cog.focus`. */
export interface Field {
  name: string
  /** Type and accepted values, in words. */
  holds: string
  required: boolean
  default: unknown
  description: string
}

/**
 * The fields of a schema in its own order, each with those inside it. An object of which there is nothing to say stands
 * only in the names of its fields; a schema that contains itself is entered once.
 *
 * @param json the schema as JSON Schema draft 7
 * @param schema the same as zod has it
 */
export function fieldsOf(json: JsonSchema, schema: z.ZodType): Field[] {
  const fields: Field[] = []
  visit(json, '', [], [])
  return fields

  function visit(node: JsonSchema, name: string, path: readonly PropertyKey[], inside: readonly string[]): void {
    if (node.$ref !== undefined) {
      const target = json.definitions?.[node.$ref.split('/').at(-1) ?? '']
      if (target && !inside.includes(node.$ref)) visit(target, name, path, [...inside, node.$ref])
      return
    }
    for (const branch of node.anyOf ?? []) visit(branch, name, path, inside)
    if (node.items) visit(node.items, `${name}[]`, [...path, 0], inside)
    for (const [key, child] of Object.entries(node.properties ?? {})) {
      const field = name === '' ? key : `${name}.${key}`
      if (!child.properties || child.description !== undefined)
        fields.push({
          name: field,
          holds: acceptedAt(schema, [...path, key]) || 'any JSON value',
          required: node.required?.includes(key) ?? false,
          default: child.default,
          description: child.description ?? '',
        })
      visit(child, field, [...path, key], inside)
    }
  }
}
