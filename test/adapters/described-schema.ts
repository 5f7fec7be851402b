import type { OpenApi } from '../../adapters/platform/openapi.ts'

/**
 * A schema of a description by itself: its references are replaced by what they lead to.
 *
 * @param options.closed refuses fields that are not described, which clients must not
 */
export function describedSchema(document: OpenApi, schema: object, { closed = false } = {}): Record<string, unknown> {
  const { schemas } = document.components
  const inline = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inline)
    if (typeof part !== 'object' || part === null) return part
    const { $ref, ...rest } = part as Record<string, unknown>
    const named = typeof $ref === 'string' ? schemas[$ref.split('/').at(-1) ?? ''] : {}
    if (named === undefined) throw new Error(`${$ref} leads nowhere.`)
    const whole = Object.fromEntries(Object.entries({ ...named, ...rest }).map(([key, value]) => [key, inline(value)]))
    const isOpen = whole.type === 'object' && 'properties' in whole && !('additionalProperties' in whole)
    return closed && isOpen ? { ...whole, additionalProperties: false } : whole
  }
  return inline(schema) as Record<string, unknown>
}
