import { fieldsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Note } from '../convert/reported-changes.ts'
import { wording } from './error-wording.ts'
import type { Api, Mend, Refusal } from './mend.ts'

/** Fields of each API that say how much to think, as dotted paths. */
const EFFORTS: Readonly<Record<Api, readonly string[]>> = {
  chat: ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking'],
  messages: ['output_config.effort'],
  responses: ['reasoning.effort'],
}

/** Anthropic about a budget for a model that takes none. */
const ADAPTIVE = wording(/thinking\.type\.enabled.*(?:not supported|adaptive)|use.*thinking\.type\.adaptive/is)

/** Newer Claude models think as much as their effort says, and take no budget. */
const adaptive: Mend = {
  name: 'adaptive_thinking',
  apis: ['messages'],
  isRefused: ({ message }) => ADAPTIVE.test(message),
  fields({ thinking }, note) {
    if (fieldsOrNone(thinking).type !== 'enabled') return {}
    note('thinking', 'rewritten')
    return { thinking: { type: 'adaptive' } }
  },
}

const noEffort = (api: Api): Mend => ({
  name: 'no_effort',
  apis: [api],
  isRefused: (refusal) =>
    isAbout(refusal, /\b(?:reasoning_?)?effort\b|(?<!_)\breasoning\b(?!_)/i) || isAboutThinking(api, refusal),
  fields: (body, note) => Object.assign({}, ...EFFORTS[api].map((path) => withoutField(body, path, note))),
})

/** A model of chat completions that does not think refuses an effort in these words, too. */
const isAboutThinking = (api: Api, refusal: Refusal): boolean => api === 'chat' && isAbout(refusal, THINKING)

/** A model that does not think, or not so. What is asked about earlier thinking goes with it. */
const noThinking: Mend = {
  name: 'no_thinking',
  apis: ['messages'],
  // Beside a chosen tool no model thinks.
  isRefused: (refusal) => isAbout(refusal, THINKING) && !/tool_choice/.test(refusal.message),
  fields(body, note) {
    if ((body.thinking ?? null) === null) return {}
    return { ...withoutField(body, 'thinking', note), ...withoutField(body, 'context_management', note) }
  },
}

const THINKING = /\bthinking\b/i

/** Mends of how much a model is to think. */
export const EFFORT: readonly Mend[] = [
  adaptive,
  noEffort('chat'),
  noEffort('messages'),
  noEffort('responses'),
  noThinking,
]

const isAbout = (refusal: Refusal, words: RegExp): boolean =>
  refusal.isAsSuch && (words.test(refusal.message) || words.test(refusal.field ?? ''))

/** Takes out a field, or one of an object. */
function withoutField(body: Fields, path: string, note: Note): Fields {
  const [name = '', inner] = path.split('.')
  const value = inner === undefined ? body[name] : fieldsOrNone(body[name])[inner]
  if ((value ?? null) === null) return {}
  note(path, 'dropped')
  if (inner === undefined) return { [name]: undefined }
  const { [inner]: _, ...rest } = fieldsOrNone(body[name])
  return { [name]: Object.keys(rest).length === 0 ? undefined : rest }
}
