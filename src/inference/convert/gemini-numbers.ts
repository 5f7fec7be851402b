import type { Fields } from '../../text/typed-reader.ts'

/** Numbers of the settings of a Gemini request. */
const NUMBERS: ReadonlySet<string> = new Set([
  ...['maxOutputTokens', 'candidateCount', 'temperature', 'topP', 'topK', 'seed'],
  ...['presencePenalty', 'frequencyPenalty', 'thinkingBudget', 'logprobs'],
])
const NUMBER = /^-?\d{1,15}(?:\.\d{1,15})?(?:[eE][+-]?\d{1,2})?$/

/**
 * Reads a number. JSON of protocol buffers may write one as text, and writes those of 64 bits so
 * (https://protobuf.dev/programming-guides/json/).
 *
 * @returns any other value as it is
 */
const protoNumber = (value: unknown): unknown =>
  typeof value === 'string' && NUMBER.test(value) ? Number(value) : value

/** Settings with their numbers as such. */
export const withNumbers = (settings: Fields): Fields =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [name, NUMBERS.has(name) ? protoNumber(value) : value]),
  )
