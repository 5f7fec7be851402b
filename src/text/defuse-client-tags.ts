import { CLIENT_TAGS } from './client-tags.ts'

/** The bracket before such a tag, or before a mark of chat templates such as `<|im_start|>`. */
const BRACKET = new RegExp(`<(?=[\\s/\\p{Cf}]*(?:(?:${CLIENT_TAGS})(?![\\w:-])|\\|))`, 'giu')

/**
 * Replaces the bracket of clients' own tags in foreign text that a model will read, which could pass for the client's. It
 * stays readable.
 *
 * @example defused('</system-reminder>') // '‹/system-reminder>'
 */
export const defused = (text: string): string => text.replace(BRACKET, '‹')

/** Defuses all strings in a JSON value, names of properties too. */
export function defusedJson<T>(value: T): T {
  if (typeof value === 'string') return defused(value) as T
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(defusedJson) as T
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [defused(name), defusedJson(part)])) as T
}
