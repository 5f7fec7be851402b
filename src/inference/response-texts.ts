import type OpenAI from 'openai'
import type { GazewayError } from '../errors.ts'
import type { ResponseObject } from './convert/chat-to-response.ts'
import { badReply } from './failure.ts'
import { isUnfinished } from './finish-reason.ts'
import type { Provider } from './provider.ts'

type Part = OpenAI.Responses.ResponseOutputMessage['content'][number]

/**
 * The parts of what a Response says, refusals included; whatever else an upstream puts in their place is left out. Some
 * compatible ones send a text for the list of parts.
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

/** What a part says: also one of the type `text`, as chat completions have it. */
function textIn(part: Part): string {
  const { text, refusal }: { text?: unknown; refusal?: unknown } = part as object
  if (typeof text === 'string') return text
  return typeof refusal === 'string' ? refusal : ''
}

/** All the text that a Response says; where it has no parts, what the upstream gives as its `output_text`. */
export function outputText(response: ResponseObject): string {
  const said = partsOf(response).map(textIn).join('')
  const { output_text: summed }: { output_text?: unknown } = response
  return said === '' && typeof summed === 'string' ? summed : said
}

/**
 * Why a Response is no answer to whoever reads its text alone: it is not finished, or it says nothing, such as one that only
 * calls a function. Null where it is one, or was cut before its first text.
 */
export function lackOf(response: ResponseObject, provider: Provider): GazewayError | null {
  const { status } = response
  if (isUnfinished(status)) return badReply(provider, `the response is ${status}`)
  return status !== 'incomplete' && outputText(response) === '' ? badReply(provider, 'the response says nothing') : null
}

/** The pages that a Response's text is annotated with, in their order. */
export const citedPages = (response: ResponseObject): Array<{ url: string; title: string | null }> =>
  partsOf(response)
    .flatMap((part) => (part.type === 'output_text' ? listOf(part.annotations) : []))
    .flatMap((annotation) =>
      annotation.type === 'url_citation' && typeof annotation.url === 'string'
        ? [{ url: annotation.url, title: typeof annotation.title === 'string' ? annotation.title || null : null }]
        : [],
    )

/** The objects of what is promised to be a list of them. */
function listOf<T extends object>(list: readonly T[]): T[] {
  return Array.isArray(list) ? list.filter((item) => item !== null && typeof item === 'object') : []
}
