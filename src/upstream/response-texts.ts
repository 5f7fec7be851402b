import type OpenAI from 'openai'
import type { ResponseObject } from './convert/chat-to-response.ts'

type Part = OpenAI.Responses.ResponseOutputMessage['content'][number]

/** The parts of what a Response says, refusals included; whatever else an upstream puts in their place is left out. */
function partsOf(response: ResponseObject): Part[] {
  return listOf(response.output).flatMap((item) => (item.type === 'message' ? listOf<Part>(item.content) : []))
}

/** All the text that a Response says. */
export const outputText = (response: ResponseObject): string =>
  partsOf(response)
    .map((part) => (part.type === 'output_text' ? part.text : part.refusal))
    .join('')

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
