import { isObject } from './json.ts'
import type { Fields } from './typed-reader.ts'

/**
 * Reads foreign data that is only observed: what passes through unchanged, and optional fields that providers fill in
 * different ways. A value of a wrong type counts as absent, so conversions use a `TypedReader` instead.
 */

/** Fields of an object; none when `value` is no object. */
export const fieldsOrNone = (value: unknown): Fields => (isObject(value) ? value : {})

/** Objects in a list, without its other entries; none when `value` is no list. */
export function objectsOrNone(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter((entry) => entry !== null && typeof entry === 'object') : []
}

/** Tells whether a value is a text that is not empty. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/**
 * Converts `value` to text: strings unchanged, other values as JSON, undefined and null as ''. Unlike `String` it never
 * throws.
 */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value
  return value === undefined || value === null ? '' : (JSON.stringify(value) ?? '')
}
