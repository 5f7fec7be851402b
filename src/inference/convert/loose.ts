import { isObject } from '../../text/json.ts'

/** An object of a request or a reply whose kind this version may not know: every field is to be checked when read. */
export type Loose = Record<string, unknown>

/** `value` as an object, or an empty one where it is none. */
export function record(value: unknown): Loose {
  return isObject(value) ? value : {}
}

/** The objects in a list, without what else is in it; none where `value` is no list. */
export function records(value: unknown): Loose[] {
  return Array.isArray(value) ? value.filter((entry) => entry !== null && typeof entry === 'object') : []
}

/** `fields` without those that have no value. */
export function present<Fields extends object>(fields: Fields): Partial<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(given) as Partial<Fields>
}

/** `value` as text: a string as it is, anything else as its JSON, nothing as ''. Unlike `String` it never throws. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : (JSON.stringify(value) ?? '')
}
