import { isObject } from './json.ts'

/** An object of a request or reply that may be of an unknown kind. Check every field before use. */
export type Loose = Record<string, unknown>

/** `value` as an object; an empty one otherwise. */
export function record(value: unknown): Loose {
  return isObject(value) ? value : {}
}

/** Objects in a list; other entries are dropped. Empty when `value` is no list. */
export function records(value: unknown): Loose[] {
  return Array.isArray(value) ? value.filter((entry) => entry !== null && typeof entry === 'object') : []
}

/** `fields` without undefined and null values. */
export function present<Fields extends object>(fields: Fields): Partial<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(given) as Partial<Fields>
}

/**
 * Converts `value` to text: strings unchanged, other values as JSON, undefined and null as ''. Unlike `String` it never
 * throws.
 */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : (JSON.stringify(value) ?? '')
}
