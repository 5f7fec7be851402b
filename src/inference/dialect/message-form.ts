import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { LISTS, TEXTS } from '../reasoning/reasoning-state.ts'
import { wording } from './error-wording.ts'
import type { Mend } from './mend.ts'
import { contentText } from './system-messages.ts'

/** DeepSeek ("invalid type: sequence, expected a string"), Groq ("value must be a string"), and others. */
const PLAIN_ALONE = wording(
  /sequence, expected a string|must be (?:a )?string|should be a valid string|expected (?:a )?string.*(?:array|list)|content.*only.*string/is,
)
/** LM Studio ("field must be a string or an array"), Ollama ("invalid message content type: <nil>"), and others. */
const NO_NULL = wording(
  /content.*(?:must be a string|string or (?:an )?array|type: <nil>|received null|not (?:be )?null|cannot be null|field required)|(?:null|missing field).*content/is,
)
/** Groq ("property 'annotations' is unsupported"), Mistral and Cerebras ("extra_forbidden"). */
const UNKNOWN_FIELD = wording(
  /messages?\b.*(?:property '\w+' is unsupported|extra inputs|extra_forbidden|additional propert|unknown (?:field|name)|unrecogni[sz]ed)/is,
)

/** Fields of messages in the reference of chat completions, and those that other mends are about. */
const KNOWN: ReadonlySet<string> = new Set([
  ...['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'extra_content', 'cache_control', 'prefix'],
  ...TEXTS,
  ...LISTS,
])
/** Fields that say something where they are not null. */
const SAYING: ReadonlySet<string> = new Set(['refusal', 'audio', 'function_call'])

/** Writes parts that are texts alone as one text. */
const plainContent: Mend = {
  name: 'plain_content',
  apis: ['chat'],
  isRefused: ({ message }) => PLAIN_ALONE.test(message),
  fields: ({ messages }, note) =>
    changed(messages, (message, path) => {
      const { content } = message
      const isPlain = Array.isArray(content) && content.length > 0 && objectsOrNone(content).every(isText)
      if (!isPlain) return message
      note(`${path}.content`, 'rewritten')
      return { ...message, content: contentText(content) }
    }),
}

const isText = ({ type, text }: Fields): boolean => type === 'text' && typeof text === 'string'

/** Says nothing as an empty text, beside the calls of an answer. */
const emptyContent: Mend = {
  name: 'empty_content',
  apis: ['chat'],
  isRefused: ({ message }) => NO_NULL.test(message),
  fields: ({ messages }, note) =>
    changed(messages, (message, path) => {
      if (message.role !== 'assistant' || (message.content ?? null) !== null) return message
      note(`${path}.content`, 'added')
      return { ...message, content: '' }
    }),
}

/** Takes out fields of messages that clients bring back, or invent, and that say nothing to a model. */
const knownFields: Mend = {
  name: 'known_message_fields',
  apis: ['chat'],
  isRefused: ({ message }) => UNKNOWN_FIELD.test(message),
  fields: ({ messages }, note) =>
    changed(messages, (message, path) => {
      const odd = new Set(
        Object.keys(message).filter(
          (name) => !KNOWN.has(name) && !(SAYING.has(name) && (message[name] ?? null) !== null),
        ),
      )
      if (odd.size === 0) return message
      for (const name of odd) note(`${path}.${name}`, 'dropped')
      return Object.fromEntries(Object.entries(message).filter(([name]) => !odd.has(name)))
    }),
}

/** Mends of the form of messages. */
export const MESSAGE_FORM: readonly Mend[] = [plainContent, emptyContent, knownFields]

/** Changes messages. Empty when none is changed. */
function changed(messages: unknown, change: (message: Fields, path: string) => Fields): Fields {
  const all = objectsOrNone(messages)
  const rest = all.map((message, index) => change(message, `messages.${index}`))
  return rest.every((message, index) => message === all[index]) ? {} : { messages: rest }
}
