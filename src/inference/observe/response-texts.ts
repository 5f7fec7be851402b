import type OpenAI from 'openai'
import type { GazewayError } from '../../errors.ts'
import { isUnfinished } from '../api/finish-reason.ts'
import type { ResponseObject } from '../convert/chat-to-response.ts'
import { badReply } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'

type Part = OpenAI.Responses.ResponseOutputMessage['content'][number]

/**
 * Content parts of a Response, refusals included. Malformed ones are dropped: some compatible upstreams send a text
 * instead of the list.
 */
function partsOf(response: ResponseObject): Part[] {
  return listOf(response.output).flatMap((item) => {
    if (item.type !== 'message') return []
    const content: unknown = item.content
    return typeof content === 'string'
      ? [{ type: 'output_text', text: content, annotations: [] }]
      : listOf(item.content)
  })
}

/** Text of a part, also of the type `text`, as in chat completions. */
function textIn(part: Part): string {
  const { text, refusal }: { text?: unknown; refusal?: unknown } = part as object
  if (typeof text === 'string') return text
  return typeof refusal === 'string' ? refusal : ''
}

/** Text of a Response. Without parts, the upstream's `output_text`. */
export function outputText(response: ResponseObject): string {
  const text = partsOf(response).map(textIn).join('')
  const { output_text: summed }: { output_text?: unknown } = response
  return text === '' && typeof summed === 'string' ? summed : text
}

/**
 * Error of a Response that is no answer for a reader of text: it is unfinished, or empty, such as one that only calls a
 * function. Null for an answer, and for one truncated before its first text.
 */
export function lackOf(response: ResponseObject, provider: Provider): GazewayError | null {
  const { status } = response
  if (isUnfinished(status)) return badReply(provider, `the response is ${status}`)
  return status !== 'incomplete' && outputText(response) === '' ? badReply(provider, 'the response has no text') : null
}

/** Pages cited in a Response, in order. */
export const citedPages = (response: ResponseObject): Array<{ url: string; title: string | null }> =>
  partsOf(response)
    .flatMap((part) => (part.type === 'output_text' ? listOf(part.annotations) : []))
    .flatMap((annotation) =>
      annotation.type === 'url_citation' && typeof annotation.url === 'string'
        ? [{ url: annotation.url, title: typeof annotation.title === 'string' ? annotation.title || null : null }]
        : [],
    )

/** Objects in a value that should be a list of them. */
function listOf<T extends object>(list: readonly T[]): T[] {
  return Array.isArray(list) ? list.filter((item) => item !== null && typeof item === 'object') : []
}
