import type * as z from 'zod'
import type { KeyOfConfig } from '../../../../platform/routes/config-keys-routes.ts'

/** Form control that edits a setting. */
export type Kind = 'switch' | 'choice' | 'number' | 'text' | 'json'

/** Selects the control of a setting by its schema. */
export function kindOf({ schema }: KeyOfConfig): Kind {
  const types = new Set(partsOf(schema).map(({ type }) => type))
  if (choicesOf(schema).length > 0) return 'choice'
  if (types.has('boolean')) return 'switch'
  if (types.has('object') || types.has('array')) return 'json'
  if (types.has('integer') || types.has('number')) return 'number'
  return 'text'
}

/** Words that a setting accepts. Empty when it accepts other values. */
export const choicesOf = (schema: KeyOfConfig['schema']): string[] =>
  partsOf(schema)
    .flatMap((part) => part.enum ?? [])
    .map(String)

/** Alternatives of a schema. A value must match one of them. */
const partsOf = (schema: z.core.JSONSchema.BaseSchema) => schema.anyOf ?? [schema]

/** Returns the value at a dotted key. */
export function valueAt(config: Record<string, unknown>, key: string): unknown {
  return key.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], config)
}

/** Converts a value for editing; unset is empty. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}

/**
 * Parses edited text. Empty text is null, which resets a setting to its default.
 *
 * @throws Error for invalid JSON or numbers
 */
export function readValue(text: string, kind: Kind): unknown {
  if (text.trim() === '') return null
  if (kind === 'switch') return text === 'true'
  if (kind === 'number') {
    const number = Number(text)
    if (!Number.isFinite(number)) throw new Error('This is not a number.')
    return number
  }
  if (kind !== 'json') return text.trim()
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('This is not JSON; lists look like ["a", "b"], entries like {"name": "value"}.')
  }
}
