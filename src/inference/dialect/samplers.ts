import type { Fields } from '../../text/typed-reader.ts'
import type { Note } from '../convert/reported-changes.ts'
import { wording } from './error-wording.ts'
import { API_NAMES, type Mend, type Refusal } from './mend.ts'

/** Anthropic about both at once. */
const BOTH = wording(/temperature.*top_p.*(?:both|only one|together|not allowed)/is)

/** Fields without which the same question is asked: samplers, and hints to the provider. */
const OPTIONAL = [
  ...['temperature', 'top_p', 'top_k', 'min_p', 'top_a', 'presence_penalty', 'frequency_penalty', 'repetition_penalty'],
  ...['seed', 'user', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options'],
  ...['metadata', 'store', 'verbosity', 'parallel_tool_calls', 'context_management', 'cache_control', 'include'],
] as const

/** Tells whether a refusal is about a field as such. */
function isFieldRefused(refusal: Refusal, name: string): boolean {
  if (!refusal.isAsSuch) return false
  return refusal.field === name || new RegExp(`(?<![\\w.])${name}(?![\\w])`).test(refusal.message)
}

const without = (name: string): Mend => ({
  name: `no_${name}`,
  apis: API_NAMES,
  isRefused: (refusal) => isFieldRefused(refusal, name),
  fields: (body, note) => removed(body, [name], note),
})

/** Newer Claude models take one of the two. */
const temperatureAlone: Mend = {
  name: 'temperature_alone',
  apis: API_NAMES,
  isRefused: ({ message }) => BOTH.test(message),
  fields: (body, note) => ((body.temperature ?? null) === null ? {} : removed(body, ['top_p'], note)),
}

/** One answer is what every model gives. */
const oneAnswer: Mend = {
  name: 'no_n',
  apis: ['chat'],
  isRefused: (refusal) => isFieldRefused(refusal, 'n'),
  fields: (body, note) => (body.n === 1 ? removed(body, ['n'], note) : {}),
}

/** Servers that know schemas alone get one of any object. */
const objectSchema: Mend = {
  name: 'json_schema_alone',
  apis: ['chat'],
  isRefused: ({ message }) => /response_format|json_object/i.test(message),
  fields({ response_format }, note) {
    const { type } = (response_format ?? {}) as { type?: unknown }
    if (type !== 'json_object') return {}
    note('response_format', 'rewritten')
    return { response_format: { type: 'json_schema', json_schema: { name: 'response', schema: { type: 'object' } } } }
  },
}

/** Mends of samplers and hints. */
export const SAMPLERS: readonly Mend[] = [temperatureAlone, ...OPTIONAL.map(without), oneAnswer, objectSchema]

function removed(body: Fields, names: readonly string[], note: Note): Fields {
  const given = names.filter((name) => (body[name] ?? null) !== null)
  for (const name of given) note(name, 'dropped')
  return Object.fromEntries(given.map((name) => [name, undefined]))
}
