import type OpenAI from 'openai'
import type { Fields } from '../../text/typed-reader.ts'
import { isFileUrl, textOfFile } from '../dialect/media.ts'
import { type Note, noteUnread } from './reported-changes.ts'
import { read, unsupported, wrongType } from './request-reader.ts'

type Part = OpenAI.Chat.ChatCompletionContentPart

/** Members of a part that say what it is. Each part has one. */
const KINDS = [
  ...['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
  ...['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'],
] as const
export type PartKind = (typeof KINDS)[number]

/** Members of a part that are read. */
export const PART: ReadonlySet<string> = new Set([...KINDS, 'thought', 'thoughtSignature'])
/** Members of data and of a link, and the name of those that have one in chat completions. */
const MEDIA: ReadonlySet<string> = new Set(['mimeType', 'data', 'fileUri'])
const NAMED_MEDIA: ReadonlySet<string> = new Set([...MEDIA, 'displayName'])

/** Formats of recordings in chat completions, by media type. */
const RECORDINGS: Readonly<Record<string, 'wav' | 'mp3'>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mp3': 'mp3',
  'audio/mpeg': 'mp3',
}
const IMAGE = /^image\//i
const DOCUMENT = 'application/pdf'
/** Files in Google's own store, which it alone can read. */
const GOOGLE_FILE = /^(?:https:\/\/generativelanguage\.googleapis\.com\/|gs:)/i

/**
 * Tells what a part is.
 *
 * @throws GazewayError `invalid_request` for a part of no kind, or of several
 */
export function kindOf(part: Fields, path: string): PartKind {
  const kinds = KINDS.filter((kind) => (part[kind] ?? null) !== null)
  const [kind, another] = kinds
  if (kind === undefined) throw wrongType(path, `a part with one of ${KINDS.slice(0, 5).join(', ')}`)
  if (another !== undefined) throw wrongType(path, `a part with either ${kind} or ${another}`)
  return kind
}

/**
 * Converts a part of a user turn, or of the result of a function.
 *
 * @param terms.note notes what was dropped
 * @param terms.takesUrls true where the upstream takes documents by their address
 * @throws GazewayError `invalid_request` for content that chat completions cannot carry
 */
export function toPart(part: Fields, path: string, terms: { note: Note; takesUrls: boolean }): Part {
  const kind = kindOf(part, path)
  noteUnread(part, PART, terms.note, path)
  if (kind === 'text') return { type: 'text', text: read.text(part.text, `${path}.text`) }
  if (kind === 'inlineData')
    return toInline(read.object(part.inlineData, `${path}.inlineData`), `${path}.inlineData`, terms.note)
  if (kind === 'fileData') return toLinked(read.object(part.fileData, `${path}.fileData`), `${path}.fileData`, terms)
  throw unsupported(`${path}.${kind}`, `chat completions has no counterpart of ${kind} here`)
}

function toInline(blob: Fields, path: string, note: Note): Part {
  const type = read.text(blob.mimeType, `${path}.mimeType`)
  // Clients encode data for addresses, too. Chat completions takes the usual alphabet alone.
  const data = read.text(blob.data, `${path}.data`).replaceAll('-', '+').replaceAll('_', '/')
  const url = `data:${type};base64,${data}`
  const format = RECORDINGS[type.toLowerCase().split(';')[0] ?? '']
  const isImage = IMAGE.test(type)
  noteUnread(blob, isImage || format !== undefined ? MEDIA : NAMED_MEDIA, note, path)
  if (isImage) return { type: 'image_url', image_url: { url } }
  if (format !== undefined) return { type: 'input_audio', input_audio: { data, format } }
  const name = read.optionalText(blob.displayName, `${path}.displayName`)
  const text = textOfFile(url)
  if (text !== null) return { type: 'text', text: name === undefined ? text : `${name}\n${text}` }
  if (!type.toLowerCase().startsWith(DOCUMENT))
    throw unsupported(`${path}.mimeType`, `chat completions does not take data of the type ${type}`)
  return { type: 'file', file: { filename: name ?? 'document.pdf', file_data: url } }
}

function toLinked(link: Fields, path: string, { note, takesUrls }: { note: Note; takesUrls: boolean }): Part {
  const { fileUri, mimeType, displayName } = link
  const url = read.text(fileUri, `${path}.fileUri`)
  const type = read.optionalText(mimeType, `${path}.mimeType`) ?? ''
  if (GOOGLE_FILE.test(url) || !isFileUrl(url))
    throw unsupported(`${path}.fileUri`, 'this upstream cannot read files that are stored at Google; send inlineData')
  const isImage = IMAGE.test(type)
  noteUnread(link, isImage ? MEDIA : NAMED_MEDIA, note, path)
  if (isImage) return { type: 'image_url', image_url: { url } }
  if (type.toLowerCase() !== DOCUMENT || !takesUrls)
    throw unsupported(path, 'this upstream does not take such files by their address; send inlineData')
  const filename = read.optionalText(displayName, `${path}.displayName`) ?? 'document.pdf'
  return { type: 'file', file: { filename, file_data: url } }
}
