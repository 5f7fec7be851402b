/** A key of the configuration, as `/api/config/keys` describes it. */
export interface Setting {
  key: string
  description: string
  accepts: string
  schema: JsonSchema
  default: unknown
  has_entries: boolean
  secret: boolean
  restart: boolean
  environment_only: boolean
}

interface JsonSchema {
  type?: string
  enum?: unknown[]
  anyOf?: JsonSchema[]
}

/** What `/api/config` shows, and what it says of a change. */
export interface ConfigShown {
  config: Record<string, unknown>
  env: Record<string, { path: string; value: unknown }>
  flags: Record<string, { path: string; value: unknown }>
  restart_required: string[]
}

/** The configuration after a change: what changed, and which keys something else is over. */
export interface ConfigChanged extends ConfigShown {
  changed: string[]
  overridden: string[]
}

/** How a setting is edited. */
export type Kind = 'switch' | 'choice' | 'number' | 'text' | 'json'

/** How a setting is edited, by its schema. */
export function kindOf({ schema }: Setting): Kind {
  const parts = schema.anyOf ?? [schema]
  const types = new Set(parts.map(({ type }) => type))
  if (choicesOf(schema).length > 0) return 'choice'
  if (types.has('boolean')) return 'switch'
  if (types.has('object') || types.has('array')) return 'json'
  if (types.has('integer') || types.has('number')) return 'number'
  return 'text'
}

/** The words that a setting accepts; none where it accepts others. */
export function choicesOf(schema: JsonSchema): string[] {
  const parts = schema.anyOf ?? [schema]
  return parts.flatMap((part) => part.enum ?? []).map(String)
}

/** The value at a dotted key. */
export function valueAt(config: Record<string, unknown>, key: string): unknown {
  return key.split('.').reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], config)
}

/** A value as it is edited; unset is empty. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}

/**
 * What was typed, as a value. Empty is null, which resets a setting to its default.
 *
 * @throws Error where it is no JSON, or no number, and should be
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
