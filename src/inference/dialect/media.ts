import { isObject } from '../../text/json.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Mend } from './mend.ts'

const ABOUT_MEDIA = /image|media.?type|mime|data.?ur[li]|base64|dict|object|struct/i
const DATA_URL = /^data:([^;,]*)((?:;[^;,]*)*);base64,/i

/** Media type of data, in the spelling that providers know. */
const mediaType = (type: string): string => {
  const plain = type.split(';')[0]?.trim().toLowerCase() ?? ''
  return plain === 'image/jpg' ? 'image/jpeg' : plain
}

/** A data URL with the media type alone: providers do not expect parameters such as a charset. */
export function plainDataUrl(url: string): string {
  const found = DATA_URL.exec(url)
  if (found === null) return url
  const [head, type = ''] = found
  const plain = `data:${mediaType(type)};base64,`
  return head === plain ? url : plain + url.slice(head.length)
}

/** Media types of files that are texts, whatever their names say. */
const TEXTUAL =
  /^(?:text\/.*|application\/(?:json|xml|x?yaml|x-yaml|toml|javascript|typescript|x-sh|sql|csv|.*\+(?:json|xml)))$/

/** Text of a file as a data URL. Null for a file that is no text. */
export function textOfFile(url: string): string | null {
  const found = DATA_URL.exec(url)
  if (found === null || !TEXTUAL.test(mediaType(found[1] ?? ''))) return null
  return Buffer.from(url.slice(found[0].length), 'base64').toString('utf8')
}

/** Tells whether a file is given by its address. */
export const isFileUrl = (url: string): boolean => /^https?:\/\//i.test(url)

/** Writes images as objects with a URL, and their data in the usual form. */
export const images: Mend = {
  name: 'plain_images',
  apis: ['chat'],
  isCertain: true,
  isRefused: ({ message }) => ABOUT_MEDIA.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    let isChanged = false
    const rest = all.map((message, index) => {
      if (!Array.isArray(message.content)) return message
      const parts = message.content.map((part, at) => {
        const changed = isObject(part) && part.type === 'image_url' ? plainImage(part) : part
        if (changed !== part) note(`messages.${index}.content.${at}.image_url`, 'rewritten')
        isChanged ||= changed !== part
        return changed
      })
      return parts.every((part, at) => part === (message.content as unknown[])[at])
        ? message
        : { ...message, content: parts }
    })
    return isChanged ? { messages: rest } : {}
  },
}

/** The same for the images of Messages, whose API reads the media type strictly. */
export const imageTypes: Mend = {
  name: 'plain_images',
  apis: ['messages'],
  isCertain: true,
  isRefused: ({ message }) => ABOUT_MEDIA.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    const rest = all.map((message, index) => {
      if (!Array.isArray(message.content)) return message
      const content = message.content.map((block, at) => {
        const changed = isObject(block) && block.type === 'image' ? plainSource(block) : block
        if (changed !== block) note(`messages.${index}.content.${at}.source.media_type`, 'rewritten')
        return changed
      })
      return content.every((block, at) => block === (message.content as unknown[])[at])
        ? message
        : { ...message, content }
    })
    return rest.every((message, index) => message === all[index]) ? {} : { messages: rest }
  },
}

function plainSource(block: Fields): Fields {
  const { source } = block
  if (!isObject(source) || typeof source.media_type !== 'string') return block
  const media_type = mediaType(source.media_type)
  return media_type === source.media_type ? block : { ...block, source: { ...source, media_type } }
}

function plainImage(part: Fields): Fields {
  const { image_url: image } = part
  if (typeof image === 'string') return { ...part, image_url: { url: plainDataUrl(image) } }
  if (!isObject(image) || typeof image.url !== 'string') return part
  const url = plainDataUrl(image.url)
  return url === image.url ? part : { ...part, image_url: { ...image, url } }
}
