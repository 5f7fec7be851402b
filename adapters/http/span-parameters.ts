import type { Attributes } from '@opentelemetry/api'
import { fieldsOrNone } from '../../src/text/lenient-reader.ts'

/** Parameters of a request as numbers, in each API → their attributes. */
const NUMBERS: Readonly<Record<string, string>> = {
  max_tokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
  max_output_tokens: 'max_tokens',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  frequency_penalty: 'frequency_penalty',
  presence_penalty: 'presence_penalty',
  seed: 'seed',
}
/** Levels of reasoning that APIs have. Another text may be of a person. */
const LEVELS: ReadonlySet<unknown> = new Set(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])

/** Builds the attributes of a request that hold no text of a person: numbers, and the level of reasoning. */
export function parameterAttributes(body: unknown): Attributes {
  const request = fieldsOrNone(body)
  const found: Attributes = {}
  for (const [field, name] of Object.entries(NUMBERS))
    if (typeof request[field] === 'number') found[`gen_ai.request.${name}`] = request[field]
  const { n, reasoning, reasoning_effort } = request
  if (typeof n === 'number' && n !== 1) found['gen_ai.request.choice.count'] = n
  const level = reasoning_effort ?? fieldsOrNone(reasoning).effort
  if (LEVELS.has(level)) found['gen_ai.request.reasoning.level'] = String(level)
  return found
}
