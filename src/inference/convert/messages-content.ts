import type OpenAI from 'openai'
import type { Fields } from '../../text/typed-reader.ts'
import { textOfFile } from '../dialect/media.ts'
import { read, readContent, unsupported } from './request-reader.ts'

type Part = OpenAI.Chat.ChatCompletionContentPart

/** Content of a Messages request as blocks. A plain string becomes a text block. */
export function blocksOf(content: unknown, path: string): Fields[] {
  const blocks = readContent(content, path)
  return typeof blocks === 'string' ? [{ type: 'text', text: blocks }] : blocks
}

/**
 * Text of blocks that may contain nothing else.
 *
 * @throws GazewayError for any other block
 */
export function textOf(content: unknown, path: string, between: string): string {
  return blocksOf(content, path)
    .map((block, index) => {
      const type = read.text(block.type, `${path}.${index}.type`)
      if (type === 'text') return read.text(block.text, `${path}.${index}.text`)
      throw unsupported(`${path}.${index}`, `chat completions does not allow a block of type ${type} here`)
    })
    .join(between)
}

/**
 * Converts the content of a user turn or tool result to chat parts.
 *
 * @param path location in the request, such as `messages.2.content`
 * @param takesUrls true where the upstream takes documents by their address
 * @throws GazewayError `invalid_request` for content that chat completions cannot carry
 */
export const toParts = (content: unknown, path: string, takesUrls: boolean): Part[] =>
  blocksOf(content, path).flatMap((block, index) => toPart(block, `${path}.${index}`, takesUrls))

/** Joins text parts into a plain string, which every upstream accepts. Other parts stay a list. */
export const compact = (parts: Part[]): string | Part[] =>
  parts.every((part) => part.type === 'text') ? parts.map((part) => part.text).join('\n') : parts

/**
 * Converts one block.
 *
 * @throws GazewayError as {@link toParts}
 */
export function toPart(block: Fields, path: string, takesUrls: boolean): Part[] {
  const type = read.text(block.type, `${path}.type`)
  switch (type) {
    case 'text':
      return [{ type: 'text', text: read.text(block.text, `${path}.text`) }]
    case 'image':
      return [toImage(read.object(block.source, `${path}.source`), `${path}.source`)]
    case 'document':
      return toDocument(block, path, takesUrls)
    case 'tool_reference':
      // The tool itself is among those of the request.
      return [{ type: 'text', text: `Tool available: ${read.text(block.tool_name, `${path}.tool_name`)}` }]
    case 'search_result':
      return [{ type: 'text', text: searchResult(block, path) }]
    default:
      throw unsupported(`${path}.type`, `chat completions has no counterpart of the block type ${type}`)
  }
}

function toImage(source: Fields, path: string): Part {
  const type = read.text(source.type, `${path}.type`)
  if (type === 'base64') return { type: 'image_url', image_url: { url: dataUrl(source, path) } }
  if (type === 'url') return { type: 'image_url', image_url: { url: read.text(source.url, `${path}.url`) } }
  throw unsupported(path, `this upstream does not support ${type} images; send base64 or a URL`)
}

const dataUrl = ({ media_type, data }: Fields, path: string): string =>
  `data:${read.text(media_type, `${path}.media_type`)};base64,${read.text(data, `${path}.data`)}`

function toDocument(document: Fields, path: string, takesUrls: boolean): Part[] {
  const source = read.object(document.source, `${path}.source`)
  const title = read.optionalText(document.title, `${path}.title`) ?? ''
  const context = read.optionalText(document.context, `${path}.context`) ?? ''
  const { enabled } = read.fields(document.citations, `${path}.citations`)
  if (read.optionalBoolean(enabled, `${path}.citations.enabled`) === true)
    throw unsupported(`${path}.citations`, 'chat completions cannot cite documents; omit it')
  const about = [title, context].filter((text) => text !== '')
  const head: Part[] = about.length === 0 ? [] : [{ type: 'text', text: about.join('\n') }]
  const more: Part[] = context === '' ? [] : [{ type: 'text', text: context }]
  const toFile = (file_data: string): Part => ({
    type: 'file',
    file: { filename: title === '' ? 'document.pdf' : title, file_data },
  })
  const type = read.text(source.type, `${path}.source.type`)
  switch (type) {
    case 'text':
      return [...head, { type: 'text', text: read.text(source.data, `${path}.source.data`) }]
    case 'content':
      return [...head, ...toParts(source.content, `${path}.source.content`, takesUrls)]
    case 'base64': {
      const file_data = dataUrl(source, `${path}.source`)
      const text = textOfFile(file_data)
      return text === null ? [...more, toFile(file_data)] : [...head, { type: 'text', text }]
    }
    case 'url': {
      const url = read.text(source.url, `${path}.source.url`)
      if (takesUrls) return [...more, toFile(url)]
      throw unsupported(`${path}.source`, 'this upstream does not take documents by url; send base64 or text')
    }
    default:
      throw unsupported(`${path}.source`, `chat completions does not accept documents by ${type}; send base64 or text`)
  }
}

function searchResult({ title, source, content }: Fields, path: string): string {
  const about = [read.text(title, `${path}.title`), read.text(source, `${path}.source`)]
  return [...about, textOf(content, `${path}.content`, '\n')].join('\n')
}
