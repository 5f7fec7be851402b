import type { ResponseOutputText } from 'openai/resources/responses/responses'
import { type Fields, WrongTypeError } from '../../text/typed-reader.ts'
import { extraOf, reasoningFields } from '../reasoning/reasoning-state.ts'
import { read } from './answer-reader.ts'

/** Log probability of a token (natural logarithm), with its likely alternatives. */
export type Logprob = ResponseOutputText.Logprob
/** A cited page, and the range of the text that it supports (characters, from 0). */
export type Citation = ResponseOutputText.URLCitation

/** Content of a chat message, or of a delta of one. Texts are empty where it has none. */
export interface ChatAnswer {
  text: string
  refusal: string
  reasoning: string
  citations: Citation[]
  calls: ChatCall[]
  /** Reasoning fields, as the provider wants them back. */
  state: Fields
}

/** A tool call of a message, or a piece of one. */
export interface ChatCall {
  /** Position among the calls of a stream. */
  index: number | undefined
  /** Empty when it has none, or came with an earlier piece. */
  id: string
  /** As `id`. */
  name: string
  /** JSON that the model has written. */
  arguments: string
  /** Fields with reasoning state, as the provider wants them back. Null when it has none. */
  extra: Fields | null
}

/**
 * Reads a chat message or delta.
 *
 * @param path of it in the reply
 * @throws WrongTypeError
 */
export function readChatAnswer(message: unknown, path: string): ChatAnswer {
  const given = read.fields(message, path)
  return {
    text: textOf(given.content, `${path}.content`),
    refusal: textOf(given.refusal, `${path}.refusal`),
    reasoning: reasoningOf(given, path),
    citations: citationsOf(given.annotations, `${path}.annotations`),
    calls: callsOf(given.tool_calls, `${path}.tool_calls`),
    state: reasoningFields(given),
  }
}

/** Reads a text. Some upstreams send it as parts. */
function textOf(content: unknown, path: string): string {
  if (!Array.isArray(content)) return read.optionalText(content, path) ?? ''
  return read
    .objects(content, path)
    .map(({ text }, index) => read.optionalText(text, `${path}.${index}.text`) ?? '')
    .join('')
}

/**
 * Reads reasoning. Upstreams name the field `reasoning_content` or `reasoning`, or put it among the parts of the
 * content, as Mistral does.
 */
function reasoningOf({ reasoning_content, reasoning, reasoning_details, content }: Fields, path: string): string {
  const thought =
    textOf(reasoning_content, `${path}.reasoning_content`) ||
    textOf(reasoning, `${path}.reasoning`) ||
    detailsText(reasoning_details, `${path}.reasoning_details`)
  if (thought !== '' || !Array.isArray(content)) return thought
  return read
    .objects(content, `${path}.content`)
    .map((part, index) => (part.type === 'thinking' ? textOf(part.thinking, `${path}.content.${index}.thinking`) : ''))
    .join('')
}

/** Text of OpenRouter's details, of the types `reasoning.text` and `reasoning.summary`. */
const detailsText = (details: unknown, path: string): string =>
  read
    .objects(details, path)
    .map(({ text, summary }, index) => read.optionalText(text ?? summary, `${path}.${index}`) ?? '')
    .join('')

function citationsOf(annotations: unknown, path: string): Citation[] {
  return read.objects(annotations, path).flatMap(({ type, url_citation }, index) => {
    if (read.optionalText(type, `${path}.${index}.type`) !== 'url_citation') return []
    const at = `${path}.${index}.url_citation`
    const { url, title, start_index, end_index } = read.fields(url_citation, at)
    const address = read.optionalText(url, `${at}.url`)
    if (address === undefined) return []
    return [
      {
        type: 'url_citation',
        url: address,
        title: read.optionalText(title, `${at}.title`) ?? '',
        start_index: read.optionalNumber(start_index, `${at}.start_index`) ?? 0,
        end_index: read.optionalNumber(end_index, `${at}.end_index`) ?? 0,
      },
    ]
  })
}

function callsOf(calls: unknown, path: string): ChatCall[] {
  return read.objects(calls, path).map((call, position) => {
    const at = `${path}.${position}`
    const type = read.optionalText(call.type, `${at}.type`) || 'function'
    const { name, arguments: args } = read.fields(call.function, `${at}.function`)
    if (type !== 'function' && call.function === undefined) throw new WrongTypeError(`${at}.type`, '"function"')
    return {
      index: read.optionalNumber(call.index, `${at}.index`),
      id: read.optionalText(call.id, `${at}.id`) ?? '',
      name: read.optionalText(name, `${at}.function.name`) ?? '',
      arguments: argumentsOf(args, `${at}.function.arguments`),
      extra: extraOf(call),
    }
  })
}

/** Reads arguments. Some upstreams send them parsed. */
const argumentsOf = (args: unknown, path: string): string =>
  typeof args === 'object' && args !== null
    ? JSON.stringify(read.object(args, path))
    : (read.optionalText(args, path) ?? '')

/** Reads the log probabilities of a choice as those of a Response, which requires every field. */
export function readLogprobs(logprobs: unknown, path: string): Logprob[] {
  const at = `${path}.content`
  return read.objects(read.fields(logprobs, path).content, at).map((entry, index) => ({
    ...logprob(entry, `${at}.${index}`),
    top_logprobs: read
      .objects(entry.top_logprobs, `${at}.${index}.top_logprobs`)
      .map((other, order) => logprob(other, `${at}.${index}.top_logprobs.${order}`)),
  }))
}

function logprob({ token, logprob: value, bytes }: Fields, path: string) {
  return {
    token: read.optionalText(token, `${path}.token`) ?? '',
    logprob: read.optionalNumber(value, `${path}.logprob`) ?? 0,
    bytes: read.list(bytes, `${path}.bytes`) as number[],
  }
}

/** Finds the first choice of a chunk. A chunk with the usage alone has none. */
export function firstChoice(chunk: Fields): Fields | undefined {
  return read
    .objects(chunk.choices, 'choices')
    .find(({ index }, position) => (read.optionalNumber(index, `choices.${position}.index`) ?? 0) === 0)
}
