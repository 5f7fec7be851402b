import { fieldsOrNone, objectsOrNone } from '../text/lenient-reader.ts'

/** Names of the field: a text without any of them is not parsed for its usage. */
export const USAGE_NAMES = ['usage', 'usageMetadata'] as const

/**
 * Finds the usage in a reply, or in an event of a stream. Most have it at the top. Events of Responses have it in
 * `response`, Google's own API in `usageMetadata`, Groq in `x_groq` (https://console.groq.com/docs/api-reference), Moonshot in a choice, others in the error.
 */
export function usageField(answer: unknown): unknown {
  const { usage, usageMetadata, response, x_groq, choices, error } = fieldsOrNone(answer)
  if (usage ?? usageMetadata) return usage ?? usageMetadata
  const places = [response, x_groq, ...objectsOrNone(choices), error]
  return places.map((place) => fieldsOrNone(place).usage).find(Boolean)
}
