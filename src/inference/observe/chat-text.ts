import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'

/** Text of a chat message or delta, as far as it can be read. Some upstreams send it as parts. */
export function chatText(content: unknown): string {
  if (typeof content === 'string') return content
  return objectsOrNone(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('')
}

/** Tells whether a chat delta has reasoning, under one of its names or among the parts of the content. */
export function isThinking(delta: unknown): boolean {
  const { reasoning_content, reasoning, content } = fieldsOrNone(delta)
  const isThought = objectsOrNone(content).some((part) => part.type === 'thinking' && chatText(part.thinking) !== '')
  return isThought || chatText(reasoning_content) !== '' || chatText(reasoning) !== ''
}
