import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { plainDataUrl } from './media.ts'
import { API_NAMES, type Api, type Mend } from './mend.ts'
import { mapParts, PLACES } from './message-parts.ts'

/**
 * Words of refusals: "Expected a base64-encoded data URL with an application/pdf MIME type" (OpenAI), "media_type: Input
 * should be 'application/pdf'" (Anthropic), "Unknown part type: file" and "unknown variant `file`" (other servers).
 */
const ABOUT_FILES = /\bfiles?\b|file_data|document|mime|media.?type|data.?ur[li]|part.?type|content.?type/i
const IMAGE = /^image\//i

/** URL of a file that is an image as data. Null for any other. */
const imageUrl = (data: unknown): string | null =>
  typeof data === 'string' && /^data:image\//i.test(data) ? plainDataUrl(data) : null

/** The image that a part sends as a file, as its API has images. Null for any other part. */
const IMAGES: Readonly<Record<Api, (part: Fields) => Fields | null>> = {
  chat({ type, file, cache_control }) {
    const url = type === 'file' ? imageUrl(fieldsOrNone(file).file_data) : null
    return url === null ? null : { type: 'image_url', image_url: { url }, ...present({ cache_control }) }
  },
  messages({ type, source, cache_control }) {
    const isImage = type === 'document' && IMAGE.test(String(fieldsOrNone(source).media_type))
    return isImage ? { type: 'image', source, ...present({ cache_control }) } : null
  },
  responses({ type, file_data }) {
    const url = type === 'input_file' ? imageUrl(file_data) : null
    return url === null ? null : { type: 'input_image', image_url: url, detail: 'auto' }
  },
}

/** Sends images as such that a client sends as files: providers take PDFs there, or no files at all. */
const imageFiles = (api: Api): Mend => ({
  name: 'image_files',
  apis: [api],
  isCertain: true,
  isRefused: ({ message }) => ABOUT_FILES.test(message),
  fields(body, note) {
    const { messages, parts } = PLACES[api]
    const all = objectsOrNone(body[messages])
    const rest = all.map((message, index) =>
      mapParts(message, parts, `${messages}.${index}`, (part, path) => {
        const image = IMAGES[api](part)
        if (image !== null) note(path, 'rewritten')
        return image ?? part
      }),
    )
    return rest.every((message, index) => message === all[index]) ? {} : { [messages]: rest }
  },
})

/** Mends of images that are sent as files. */
export const IMAGE_FILES: readonly Mend[] = API_NAMES.map(imageFiles)
