import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { CHAT_LIMIT, RESPONSES_LIMIT } from '../api/answer-limit.ts'
import { effortOfThinking } from './effort.ts'
import { withNumbers } from './gemini-numbers.ts'
import { toJsonSchema } from './gemini-schema.ts'
import { type Note, noteUnread } from './reported-changes.ts'
import { read, unsupported, wrongType } from './request-reader.ts'

const AT = 'generationConfig'
/** Members that are converted, refused, or set by Gazeway at the top of the request. */
const READ: ReadonlySet<string> = new Set([
  ...['maxOutputTokens', 'candidateCount', 'temperature', 'topP', 'topK', 'stopSequences', 'seed'],
  ...['presencePenalty', 'frequencyPenalty', 'responseMimeType', 'responseSchema', 'responseJsonSchema'],
  ...['responseModalities', 'thinkingConfig'],
])

/**
 * Fields of a chat request, from the `generationConfig` of a Gemini request
 * (https://ai.google.dev/api/generate-content#generationconfig).
 *
 * @param model id at the upstream: some take no reasoning effort
 * @param note notes what was dropped
 * @throws GazewayError `invalid_request` naming what chat completions cannot express
 */
export function chatSettings(request: Fields, model: string, note: Note): Fields {
  const config = withNumbers(read.fields(request.generationConfig, AT))
  noteUnread(config, READ, note, AT)
  requireText(config.responseModalities)
  const stop = read.list(config.stopSequences, `${AT}.stopSequences`)
  const thinking = withNumbers(read.fields(config.thinkingConfig, `${AT}.thinkingConfig`))
  const effort = effortOfThinking(thinking, model)
  for (const name of ['thinkingBudget', 'thinkingLevel'])
    if (effort === undefined && (thinking[name] ?? null) !== null) note(`${AT}.thinkingConfig.${name}`, 'dropped')
  return present({
    [CHAT_LIMIT]: request[RESPONSES_LIMIT],
    n: request.n,
    temperature: read.optionalNumber(config.temperature, `${AT}.temperature`),
    top_p: read.optionalNumber(config.topP, `${AT}.topP`),
    top_k: read.optionalNumber(config.topK, `${AT}.topK`),
    stop: stop.length === 0 ? undefined : stop,
    seed: config.seed,
    presence_penalty: config.presencePenalty,
    frequency_penalty: config.frequencyPenalty,
    response_format: responseFormat(config),
    reasoning_effort: effort,
  })
}

function requireText(given: unknown): void {
  const path = `${AT}.responseModalities`
  for (const [index, modality] of read.list(given, path).entries())
    if (modality !== 'TEXT') throw unsupported(`${path}.${index}`, 'chat completions answers with text')
}

function responseFormat({ responseMimeType, responseSchema, responseJsonSchema }: Fields): Fields | undefined {
  const type = read.optionalText(responseMimeType, `${AT}.responseMimeType`) ?? 'text/plain'
  const isGiven = (responseSchema ?? null) !== null
  if (type === 'text/plain' && (isGiven || (responseJsonSchema ?? null) !== null))
    throw wrongType(`${AT}.responseMimeType`, '"application/json" beside a schema')
  if (type === 'text/plain') return undefined
  if (type !== 'application/json')
    throw unsupported(`${AT}.responseMimeType`, `chat completions has no format ${type}; use application/json`)
  const schema = isGiven ? toJsonSchema(responseSchema, `${AT}.responseSchema`) : (responseJsonSchema ?? null)
  if (schema === null) return { type: 'json_object' }
  return { type: 'json_schema', json_schema: { name: 'response', schema } }
}
