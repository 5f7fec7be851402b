import { objectsOrNone } from '../../text/lenient-reader.ts'
import { wording } from './error-wording.ts'
import { API_NAMES, type Api, type Mend } from './mend.ts'
import { mapParts, PLACES } from './message-parts.ts'

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

/** Types of a part that is an image, and of the text in its place. */
const TYPES: Readonly<Record<Api, { image: string; text: string }>> = {
  chat: { image: 'image_url', text: 'text' },
  messages: { image: 'image', text: 'text' },
  responses: { image: 'input_image', text: 'input_text' },
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
    const { messages, parts } = PLACES[api]
    const { image, text } = TYPES[api]
    const all = objectsOrNone(body[messages])
    const changed: string[] = []
    const rest = all.map((message, index) =>
      mapParts(message, parts, `${messages}.${index}`, (part, path) => {
        if (part.type !== image) return part
        changed.push(path)
        return { type: text, text: INSTEAD, ...('cache_control' in part && { cache_control: part.cache_control }) }
      }),
    )
    const isAsked = objectsOrNone(body.tools).length === 0 && rest.at(-1) !== all.at(-1)
    if (changed.length === 0 || isAsked) return {}
    for (const field of changed) note(field, 'rewritten')
    return { [messages]: rest }
  },
})

/** Mends of images that a model cannot read. */
export const UNREAD_IMAGES: readonly Mend[] = API_NAMES.map(noImages)
