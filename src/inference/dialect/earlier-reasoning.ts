import { fieldsOrNone, isText, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Note } from '../convert/reported-changes.ts'
import { withoutBlocks, withoutThinking } from '../convert/without-reasoning.ts'
import { LISTS, PLAIN, SKIPPED, TEXTS } from '../reasoning/reasoning-state.ts'
import { wording } from './error-wording.ts'
import type { Mend } from './mend.ts'
import { isWithoutItem } from './refusal.ts'

/** Anthropic about thinking that it did not make, that was changed, or that is missing at the start of an open turn. */
const FOREIGN_THINKING = wording(
  /invalid.{0,3}signature|signature.*thinking.*block|thinking.*blocks?.*cannot be (?:modified|changed)|expected.{0,3}(?:redacted_)?thinking|cannot contain.{0,3}thinking/is,
)
/** OpenAI about sealed reasoning of another account or model, and about reasoning apart from the item that it led to. */
const FOREIGN_ITEM = wording(
  /encrypted[ _]content.*(?:could not be|cannot be|not) (?:verified|decrypted|parsed)|invalid_encrypted_content|provided without its required.*(?:reasoning|following)|of type '?reasoning'? was provided/is,
)
/** DeepSeek and Kimi want reasoning in each answer of a conversation with tools. */
const WANTS_PLAIN = wording(
  /reasoning_content.*(?:must be passed|is missing|required)|missing.{0,3}reasoning_content/is,
)
/** DeepSeek's first reasoning models, Groq and Mistral refuse to get it back. */
const REFUSES_PLAIN = wording(
  /remove.*reasoning_content|reasoning_content.*(?:must not|not (?:be|supported|permitted|allowed)|unsupported)|(?:unsupported|unexpected|unrecogni[sz]ed|unknown|extra inputs).*(?:reasoning_content|reasoning_details)/is,
)
/** Gemini 3 about calls that another model has made, and about signatures of another. */
const UNSIGNED = wording(/missing.*thought_?signature|thought_?signature.*(?:missing|required)/is)
const WRONGLY_SIGNED = wording(
  /(?:corrupt|invalid).*thought.?signature|thought.?signature.*(?:not valid|invalid|corrupt|not match)/is,
)

const BLOCKS: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking'])

/** Takes all thinking out of a Messages conversation. It knows nothing of the model: another conversation may go on. */
const noThinkingBlocks: Mend = {
  name: 'no_earlier_thinking',
  apis: ['messages'],
  isOfCall: true,
  isRefused: ({ message }) => FOREIGN_THINKING.test(message),
  fields(body, note) {
    const rest = withoutBlocks(body, ({ type }) => BLOCKS.has(type), note)
    return differing(body, (rest === body ? withoutThinking(body, note) : rest) as Fields)
  },
}

/**
 * Takes all reasoning out of a Responses conversation, and the ids by which OpenAI would look for the reasoning of the
 * other items.
 */
const noReasoningItems: Mend = {
  name: 'no_earlier_reasoning',
  apis: ['responses'],
  isOfCall: true,
  isRefused: ({ message }) => FOREIGN_ITEM.test(message),
  fields: ({ input }, note) => withoutItems(input, isReasoning, note),
}

/**
 * Takes reasoning that only its id stands for out of a Responses conversation whose items were not stored, and the ids of the
 * items that are complete without.
 */
const noStoredItems: Mend = {
  name: 'no_stored_items',
  apis: ['responses'],
  isOfCall: true,
  isRefused: isWithoutItem,
  fields: ({ input }, note) =>
    withoutItems(input, (item) => isReasoning(item) && !isText(item.encrypted_content), note),
}

/** Takes items out of an input, and the ids of those that are tied to others. Empty when there are none. */
function withoutItems(input: unknown, isTaken: (item: Fields) => boolean, note: Note): Fields {
  const items = objectsOrNone(input)
  if (!items.some((item) => isTaken(item) || isTied(item))) return {}
  return {
    input: items.flatMap((item, index) => {
      if (isTaken(item)) {
        note(`input.${index}`, 'dropped')
        return []
      }
      if (!isTied(item)) return [item]
      note(`input.${index}.id`, 'dropped')
      const { id, ...rest } = item
      return [rest]
    }),
  }
}

/** Tells whether an item is reasoning, or refers to some. */
const isReasoning = ({ type, id }: Fields): boolean =>
  type === 'reasoning' || (type === 'item_reference' && String(id).startsWith('rs_'))

/** Tells whether an item has an id by which its reasoning is looked for: an answer, or a call of a function. */
const isTied = ({ type, role, id }: Fields): boolean =>
  id !== undefined && (role === 'assistant' || type === 'function_call' || type === 'custom_tool_call')

/** Takes reasoning with signatures out of a chat. */
const noSignedLists: Mend = {
  name: 'no_earlier_reasoning',
  apis: ['chat'],
  isOfCall: true,
  isRefused: ({ message }) => FOREIGN_THINKING.test(message),
  fields: ({ messages }, note) => ofAnswers(messages, (message, path) => withoutFields(message, LISTS, path, note)),
}

/** Says of each answer without reasoning that it has none, in a conversation with tools. */
const plainReasoning: Mend = {
  name: 'reasoning_content',
  apis: ['chat'],
  isRefused: ({ message }) => WANTS_PLAIN.test(message),
  fields: ({ messages, tools }, note) =>
    ofAnswers(objectsOrNone(tools).length > 0 || hasCalls(messages) ? messages : [], (message, path) => {
      if (PLAIN in message) return message
      note(`${path}.${PLAIN}`, 'added')
      return { ...message, [PLAIN]: '' }
    }),
}

const hasCalls = (messages: unknown): boolean =>
  objectsOrNone(messages).some(({ tool_calls }) => objectsOrNone(tool_calls).length > 0)

const noPlainReasoning: Mend = {
  name: 'no_reasoning_content',
  apis: ['chat'],
  isRefused: ({ message }) => REFUSES_PLAIN.test(message) && !WANTS_PLAIN.test(message),
  fields: ({ messages }, note) =>
    ofAnswers(messages, (message, path) => withoutFields(message, [...TEXTS, ...LISTS], path, note)),
}

/** Signs calls with the value that Gemini skips: https://ai.google.dev/gemini-api/docs/thought-signatures */
const signedCalls = (
  mend: Pick<Mend, 'name' | 'isOfCall' | 'isRefused'>,
  isUnfit: (call: Fields) => boolean,
): Mend => ({
  ...mend,
  apis: ['chat'],
  fields: ({ messages }, note) =>
    ofAnswers(messages, (message, path) => {
      const calls = objectsOrNone(message.tool_calls)
      if (!calls.some(isUnfit)) return message
      const signed = calls.map((call, index) => {
        if (!isUnfit(call)) return call
        note(`${path}.tool_calls.${index}.extra_content`, call.extra_content === undefined ? 'added' : 'rewritten')
        return { ...call, ...SKIPPED }
      })
      return { ...message, tool_calls: signed }
    }),
})

const signatureOf = ({ extra_content: extra }: Fields): unknown =>
  fieldsOrNone(fieldsOrNone(extra).google).thought_signature

const SKIP = signatureOf(SKIPPED)

/** Mends of the reasoning of earlier answers: another model may have made it, or have made none. */
export const EARLIER_REASONING: readonly Mend[] = [
  noThinkingBlocks,
  noReasoningItems,
  noStoredItems,
  noSignedLists,
  plainReasoning,
  noPlainReasoning,
  signedCalls(
    { name: 'thought_signatures', isRefused: ({ message }) => UNSIGNED.test(message) },
    (call) => signatureOf(call) === undefined,
  ),
  signedCalls(
    { name: 'skipped_signatures', isOfCall: true, isRefused: ({ message }) => WRONGLY_SIGNED.test(message) },
    (call) => signatureOf(call) !== SKIP,
  ),
]

/** Changes the answers in a chat. Empty when none is changed. */
function ofAnswers(messages: unknown, change: (message: Fields, path: string) => Fields): Fields {
  const all = objectsOrNone(messages)
  const changed = all.map((message, index) =>
    message.role === 'assistant' ? change(message, `messages.${index}`) : message,
  )
  return changed.every((message, index) => message === all[index]) ? {} : { messages: changed }
}

function withoutFields(message: Fields, names: readonly string[], path: string, note: Note): Fields {
  const taken = names.filter((name) => message[name] !== undefined)
  if (taken.length === 0) return message
  for (const name of taken) note(`${path}.${name}`, 'dropped')
  return Object.fromEntries(Object.entries(message).filter(([name]) => !taken.includes(name)))
}

/** Fields of `body` that `rest` has in another form, or not at all. */
const differing = (body: Fields, rest: Fields): Fields =>
  Object.fromEntries(Object.keys(body).flatMap((name) => (body[name] === rest[name] ? [] : [[name, rest[name]]])))
