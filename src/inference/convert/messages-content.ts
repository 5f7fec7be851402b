import type OpenAI from 'openai'
import { asText, type Loose, record, records } from '../../text/loose.ts'
import { unsupported } from './unsupported.ts'

type Part = OpenAI.Chat.ChatCompletionContentPart

/** Content of a Messages request as blocks. A plain string becomes a text block. */
export const blocksOf = (content: unknown): Loose[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : records(content)

/**
 * Text of blocks that may contain nothing else.
 *
 * @throws GazewayError for any other block
 */
export function textOf(content: unknown, path: string, between: string): string {
  return blocksOf(content)
    .map(({ type, text }, index) => {
      if (type === 'text') return asText(text)
      throw unsupported(`${path}.${index}`, `chat completions does not allow a block of type ${asText(type)} here`)
    })
    .join(between)
}

/**
 * Converts the content of a user turn or tool result to chat parts.
 *
 * @param path location in the request, such as `messages.2.content`
 * @throws GazewayError `invalid_request` for content that chat completions cannot carry
 */
export const toParts = (content: unknown, path: string): Part[] =>
  blocksOf(content).flatMap((block, index) => toPart(block, `${path}.${index}`))

/** Joins text parts into a plain string, which every upstream accepts. Other parts stay a list. */
export const compact = (parts: Part[]): string | Part[] =>
  parts.every((part) => part.type === 'text') ? parts.map((part) => part.text).join('\n') : parts

/**
 * Converts one block.
 *
 * @throws GazewayError as {@link toParts}
 */
export function toPart(block: Loose, path: string): Part[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: asText(block.text) }]
    case 'image':
      return [toImage(record(block.source), `${path}.source`)]
    case 'document':
      return toDocument(block, path)
    case 'search_result':
      return [{ type: 'text', text: searchResult(block, path) }]
    default:
      throw unsupported(`${path}.type`, `chat completions has no counterpart of the block type ${asText(block.type)}`)
  }
}

function toImage(source: Loose, path: string): Part {
  const { type, media_type, data, url } = source
  if (type === 'base64')
    return { type: 'image_url', image_url: { url: `data:${asText(media_type)};base64,${asText(data)}` } }
  if (type === 'url') return { type: 'image_url', image_url: { url: asText(url) } }
  throw unsupported(path, `this upstream does not support ${asText(type)} images; send base64 or a URL`)
}

function toDocument({ source: given, title, context, citations }: Loose, path: string): Part[] {
  const source = record(given)
  if (record(citations).enabled === true)
    throw unsupported(`${path}.citations`, 'chat completions cannot cite documents; omit it')
  const about = [title, context].filter((text) => typeof text === 'string' && text !== '').map((text) => `${text}`)
  const head: Part[] = about.length === 0 ? [] : [{ type: 'text', text: about.join('\n') }]
  switch (source.type) {
    case 'text':
      return [...head, { type: 'text', text: asText(source.data) }]
    case 'content':
      return [...head, ...toParts(source.content, `${path}.source.content`)]
    case 'base64': {
      const filename = typeof title === 'string' && title !== '' ? title : 'document.pdf'
      const file_data = `data:${asText(source.media_type)};base64,${asText(source.data)}`
      const more: Part[] = typeof context === 'string' && context !== '' ? [{ type: 'text', text: context }] : []
      return [...more, { type: 'file', file: { filename, file_data } }]
    }
    default:
      throw unsupported(
        `${path}.source`,
        `chat completions does not accept documents by ${asText(source.type)}; send base64 or text`,
      )
  }
}

function searchResult({ title, source, content }: Loose, path: string): string {
  return [asText(title), asText(source), textOf(content, `${path}.content`, '\n')].join('\n')
}
