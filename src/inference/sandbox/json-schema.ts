import { GazewayError } from '../../errors.ts'

export type TypeName = 'null' | 'boolean' | 'integer' | 'number' | 'string' | 'array' | 'object'

/**
 * The keywords that values are generated from: OpenAI's subset for structured output
 * (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas), and `oneOf` and `maxLength`, which tools
 * use often. zod decides whether a value is valid, so a schema that needs other keywords is refused.
 */
export interface JsonSchema {
  $ref?: string
  type?: TypeName | TypeName[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  minItems?: number
  maxItems?: number
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
  return new GazewayError(
    'invalid_request',
    `The sandbox cannot use this JSON Schema: ${reason}. It knows OpenAI's subset for structured output.`,
    { cause },
  )
}

/**
 * Resolves the local reference (`#`, `#/$defs/name`) of a schema node: a JSON Pointer (RFC 6901, section 6).
 *
 * @throws GazewayError `invalid_request` for a dangling or circular reference
 */
export function resolved(root: unknown, node: unknown, followed = 0): JsonSchema {
  if (typeof node !== 'object' || node === null) return {}
  const { $ref, ...own } = node as JsonSchema
  if ($ref === undefined) return own
  if (followed > 32) throw schemaRefused('its references are circular')
  const target = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((parent, step) => {
      const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
      if (typeof parent !== 'object' || parent === null || !Object.hasOwn(parent, key))
        throw schemaRefused(`${$ref} leads nowhere`)
      return (parent as Record<string, unknown>)[key]
    }, root)
  return { ...own, ...resolved(root, target, followed + 1) }
}

/** Values allowed by `enum` and `const`. Undefined without either. */
export function choicesOf(schema: JsonSchema): unknown[] | undefined {
  return Object.hasOwn(schema, 'const') ? [schema.const] : schema.enum
}

/** Types that a schema allows. Without `type`: an object or an array by its keywords, otherwise a string. */
export function typesOf({ type, properties, required, items }: JsonSchema): TypeName[] {
  if (type !== undefined) return [type].flat()
  if (properties || required) return ['object']
  return [items === undefined ? 'string' : 'array']
}
