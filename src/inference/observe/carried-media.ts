import { MEDIA, type Medium } from '../../providers/preset.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { geminiMedia } from './gemini-media.ts'

/** Medium of the parts of a chat completion, a Response or a Message, by their type. */
const PART_TYPES: Readonly<Record<string, Medium>> = {
  input_audio: 'audio',
  audio_url: 'audio',
  image: 'image',
  image_url: 'image',
  input_image: 'image',
  input_video: 'video',
  video_url: 'video',
}
const DATA_URL = /^data:(audio|image|video)\//i
const MIME_TYPE = /^(audio|image|video)\//i

/**
 * Finds the media that a chat completion, a Response, a Message or a Gemini request has in its prompt.
 *
 * @param path endpoint below `/v1`
 */
export function carriedMedia(path: string, request: unknown): ReadonlySet<Medium> {
  const fields = fieldsOrNone(request)
  const carried = new Set<Medium>()
  if (path.startsWith('/audio/')) carried.add('audio')
  for (const { mimeType } of geminiMedia(fields)) add(carried, mediumIn(MIME_TYPE, mimeType))
  for (const { content } of [...objectsOrNone(fields.messages), ...objectsOrNone(fields.input)])
    for (const part of objectsOrNone(content)) {
      const data = fieldsOrNone(part.file).file_data ?? part.file_data
      add(carried, Object.hasOwn(PART_TYPES, String(part.type)) ? PART_TYPES[String(part.type)] : undefined)
      add(carried, typeof data === 'string' ? mediumIn(DATA_URL, data) : undefined)
    }
  return carried
}

/** Finds the media that a prompt may have: a video has speech, and a file may be anything where its type is not stated. */
export function possibleMedia(path: string, request: Fields): readonly Medium[] {
  if (geminiMedia(request).some(({ mimeType, isLinked }) => isLinked && mimeType === '')) return MEDIA
  const carried = carriedMedia(path, request)
  return carried.has('video') ? [...new Set<Medium>([...carried, 'audio'])] : [...carried]
}

function add(carried: Set<Medium>, medium: Medium | undefined): void {
  if (medium !== undefined) carried.add(medium)
}

const mediumIn = (form: RegExp, text: string): Medium | undefined =>
  form.exec(text)?.[1]?.toLowerCase() as Medium | undefined
