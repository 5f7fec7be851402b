import { isObject } from '../../text/json.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { API_NAMES, type Api, type Mend } from './mend.ts'
import { wording } from './wording.ts'

/**
 * Wordings of refusals by models that read no images: DeepSeek, OpenRouter, Ollama, LM Studio, llama.cpp, OpenAI, vLLM,
 * Groq (https://github.com/Gitlawb/openclaude/issues/1071, https://github.com/anomalyco/opencode/issues/1741,
 * https://github.com/ollama/ollama/issues/17301, https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/362,
 * https://github.com/claraverse-space/ClaraVerse/issues/234).
 */
const UNREAD = wording(
  /unknown variant [`'"]?(?:image|input_image|image_url)\b.*expected [`'"]?text|that support image input|not support (?:image|vision|multi-?modal)|(?:image|vision|multi-?modal)(?: content| inputs?)? (?:is|are) not (?:supported|enabled)|image_url is (?:not supported|only supported by)|not a (?:multi-?modal|vision) model|at most 0 image|only ['"]?text['"]? content type is supported/i,
)
/** Words about one image, which another form, place or number of it mends. */
const ABOUT_FORM =
  /format|media.?type|mime|\b(?:webp|gif|bmp|svg|tiff|heic|url|urls|size|dimensions?|base64|roles?|tool|system|assistant|generation|more than)\b/i

/** Tells whether a refusal says that a model reads no images at all. */
export const readsNoImages = (message: string): boolean => UNREAD.test(message) && !ABOUT_FORM.test(message)

/** Words of an API for a text in place of an image, and the places of the parts of a message. */
interface Form {
  messages: 'messages' | 'input'
  image: string
  text: string
  /** Fields of a message that hold parts. */
  parts: readonly string[]
}

const FORMS: Readonly<Record<Api, Form>> = {
  chat: { messages: 'messages', image: 'image_url', text: 'text', parts: ['content'] },
  messages: { messages: 'messages', image: 'image', text: 'text', parts: ['content'] },
  responses: { messages: 'input', image: 'input_image', text: 'input_text', parts: ['content', 'output'] },
}

const INSTEAD = 'There is an image here, which this model cannot see. Say so where it matters, and go on without it.'

/**
 * Puts a text in place of each image. An agent that has read an image from a file would otherwise be refused at every later
 * turn. A request without tools whose last message has an image does not change, so its client gets the refusal.
 */
const noImages = (api: Api): Mend => ({
  name: 'no_images',
  apis: [api],
  isRefused: ({ message }) => readsNoImages(message),
  fields(body, note) {
    const form = FORMS[api]
    const all = objectsOrNone(body[form.messages])
    const changed: string[] = []
    const rest = all.map((message, index) =>
      withoutImages(message, form, `${form.messages}.${index}`, (field) => changed.push(field)),
    )
    const isAsked = objectsOrNone(body.tools).length === 0 && rest.at(-1) !== all.at(-1)
    if (changed.length === 0 || isAsked) return {}
    for (const field of changed) note(field, 'rewritten')
    return { [form.messages]: rest }
  },
})

/** A message, or a result inside of one, with texts in place of its images. */
function withoutImages(message: Fields, form: Form, path: string, found: (field: string) => void): Fields {
  let changed = message
  for (const name of form.parts) {
    const parts = message[name]
    if (!Array.isArray(parts)) continue
    const rest = parts.map((part, at) => {
      if (!isObject(part)) return part
      const where = `${path}.${name}.${at}`
      if (part.type === 'tool_result') return withoutImages(part, form, where, found)
      if (part.type !== form.image) return part
      found(where)
      return { type: form.text, text: INSTEAD, ...('cache_control' in part && { cache_control: part.cache_control }) }
    })
    if (rest.some((part, at) => part !== parts[at])) changed = { ...changed, [name]: rest }
  }
  return changed
}

/** Mends of images that a model cannot read. */
export const UNREAD_IMAGES: readonly Mend[] = API_NAMES.map(noImages)
