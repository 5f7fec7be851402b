import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { geminiMedia } from './gemini-media.ts'

/** Beginning of a file that is a recording. */
const RECORDING = /^data:audio\//i
/** Type of a medium of Google's API that is one. */
const AUDIO = /^audio\//i
/** Type of one that has sound, which is charged as a recording. */
const SOUNDS = /^(?:audio|video)\//i

/** Tells whether a chat completion, a Response, a Message or a Gemini reply is asked with recordings. */
export function carriesAudio(request: unknown): boolean {
  const fields = fieldsOrNone(request)
  const { messages, input } = fields
  if (geminiMedia(fields).some(({ mimeType }) => AUDIO.test(mimeType))) return true
  return [...objectsOrNone(messages), ...objectsOrNone(input)].some(({ content }) =>
    objectsOrNone(content).some(({ type, ...part }) => {
      if (type === 'input_audio' || type === 'audio_url') return true
      const data = fieldsOrNone(part.file).file_data ?? part.file_data
      return typeof data === 'string' && RECORDING.test(data)
    }),
  )
}

/** Tells whether a part of a prompt may be charged as a recording: the sound of a video is, too. */
export const mayHaveSound = (request: Fields): boolean =>
  carriesAudio(request) || geminiMedia(request).some(({ mimeType }) => SOUNDS.test(mimeType))
