import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'

/** Beginning of a file that is a recording. */
const RECORDING = /^data:audio\//i

/** Tells whether a chat completion, a Response, a Message or a Gemini reply is asked with recordings. */
export function carriesAudio(request: unknown): boolean {
  const { messages, input, contents } = fieldsOrNone(request)
  if (objectsOrNone(contents).some(({ parts }) => objectsOrNone(parts).some(isRecording))) return true
  return [...objectsOrNone(messages), ...objectsOrNone(input)].some(({ content }) =>
    objectsOrNone(content).some(({ type, ...part }) => {
      if (type === 'input_audio' || type === 'audio_url') return true
      const data = fieldsOrNone(part.file).file_data ?? part.file_data
      return typeof data === 'string' && RECORDING.test(data)
    }),
  )
}

/** Tells whether a part of a Gemini request is a recording, or the result of a function with one. */
function isRecording({ inlineData, inline_data, fileData, file_data, ...part }: Fields): boolean {
  const { parts } = fieldsOrNone(part.functionResponse ?? part.function_response)
  if (objectsOrNone(parts).some(isRecording)) return true
  const { mimeType, mime_type = mimeType } = fieldsOrNone(inlineData ?? inline_data ?? fileData ?? file_data)
  return typeof mime_type === 'string' && /^audio\//i.test(mime_type)
}
