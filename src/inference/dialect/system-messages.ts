import { isObject } from '../../text/json.ts'
import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { wording } from './error-wording.ts'
import type { Mend } from './mend.ts'

/** Wordings of chat templates and servers that allow one system message, at the beginning. */
const ONE_ALLOWED = wording(
  /system (?:message|prompt|role)s?\b.*(?:must|should|can|only|allowed)\b.*(?:begin|first|start|one|single)|(?:only one|single|multiple) system message|roles must alternate|unexpected role ['"]?system|messages?[.[]\d+[\]]?\.role|role ['"]?system['"]? (?:is )?not/is,
)
const NONE_ALLOWED = wording(
  /system (?:role|message|prompt|instruction)s?\b.*not (?:supported|enabled|allowed)|developer instruction/is,
)
const DEVELOPER = /developer/i

const isSystem = ({ role }: Fields): boolean => role === 'system' || role === 'developer'

/** Text that an instruction becomes where only a user may speak. */
export const asUserText = (text: string): string => `<system_instruction>\n${text}\n</system_instruction>`

/** Text of a message's content: a string, or its text parts. */
export const contentText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : objectsOrNone(content)
        .flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
        .join('\n')

/** Joins system messages at the head; later ones become user text marked as such. */
export const systemFirst: Mend = {
  name: 'system_first',
  apis: ['chat'],
  isCertain: true,
  isRefused: ({ message }) => ONE_ALLOWED.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    const end = all.findIndex((message) => !isSystem(message))
    const head = end < 0 ? all : all.slice(0, end)
    const later = all.slice(head.length)
    if (head.length < 2 && !later.some(isSystem)) return {}
    for (const index of head.keys()) if (index > 0) note(`messages.${index}`, 'moved')
    const joined = head.length < 2 ? head : [{ ...head[0], content: head.map(textOf).join('\n\n') }]
    const rest = later.map((message, index) => {
      if (!isSystem(message)) return message
      note(`messages.${head.length + index}`, 'rewritten')
      return toUser(message)
    })
    return { messages: [...joined, ...rest] }
  },
}

/** Turns all system messages into user text, for models without a system role. */
export const noSystem: Mend = {
  name: 'no_system',
  apis: ['chat'],
  isRefused: ({ message }) => NONE_ALLOWED.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    if (!all.some(isSystem)) return {}
    const rest: Fields[] = []
    for (const [index, message] of all.entries()) {
      const last = rest.at(-1)
      const changed = isSystem(message) ? toUser(message) : message
      if (isSystem(message)) note(`messages.${index}`, 'rewritten')
      if (last?.role === 'user' && changed.role === 'user' && typeof last.content === 'string')
        rest[rest.length - 1] = merged(last, changed)
      else rest.push(changed)
    }
    return { messages: rest }
  },
}

/** Gives the role `system` to messages of developers, which only OpenAI's newer models know. */
export const noDeveloper: Mend = {
  name: 'no_developer',
  apis: ['chat'],
  isRefused: ({ message }) => DEVELOPER.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    if (!all.some(({ role }) => role === 'developer')) return {}
    return {
      messages: all.map((message, index) => {
        if (message.role !== 'developer') return message
        note(`messages.${index}.role`, 'rewritten')
        return { ...message, role: 'system' }
      }),
    }
  },
}

/** The same for Messages, where few models take an instruction between turns. */
export const systemBetween: Mend = {
  name: 'system_apart',
  apis: ['messages'],
  isRefused: ({ message }) => ONE_ALLOWED.test(message) || NONE_ALLOWED.test(message),
  fields({ messages }, note) {
    const all = objectsOrNone(messages)
    if (!all.some(isSystem)) return {}
    return {
      messages: all.map((message, index) => {
        if (!isSystem(message)) return message
        note(`messages.${index}`, 'rewritten')
        return toUser(message)
      }),
    }
  },
}

const textOf = ({ content }: Fields): string => contentText(content)

const toUser = ({ content }: Fields): Fields => ({ role: 'user', content: asUserText(contentText(content)) })

/** Two user messages as one: models without a system role want the roles to alternate. */
function merged(first: Fields, second: Fields): Fields {
  if (typeof second.content === 'string') return { ...first, content: `${first.content}\n\n${second.content}` }
  const parts = Array.isArray(second.content) ? second.content.filter(isObject) : []
  return { ...first, content: [{ type: 'text', text: first.content }, ...parts] }
}
