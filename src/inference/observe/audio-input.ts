import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'

/** Beginning of a file that is a recording. */
const RECORDING = /^data:audio\//i

/** Tells whether a chat completion, a Response or a Message is asked with recordings. */
export function carriesAudio(request: unknown): boolean {
  const { messages, input } = fieldsOrNone(request)
  return [...objectsOrNone(messages), ...objectsOrNone(input)].some(({ content }) =>
    objectsOrNone(content).some(({ type, ...part }) => {
      if (type === 'input_audio' || type === 'audio_url') return true
      const data = fieldsOrNone(part.file).file_data ?? part.file_data
      return typeof data === 'string' && RECORDING.test(data)
    }),
  )
}
