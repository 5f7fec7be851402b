import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isObject, parseJson } from '../../text/json.ts'
import { asText, fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { contentText } from '../dialect/system-messages.ts'

/** Letters of the messages whose references are remembered: some ten long conversations. */
const REMEMBERED = 16 * 1024 * 1024

/** Tells whether a message may have a reference. */
export const isAnswer = ({ role, tool_calls }: Fields): boolean => role === 'assistant' || tool_calls !== undefined

/**
 * Finds the reference to the state of an answer: by its tool calls, which clients bring back as they are; of one without
 * calls by its text, and the message before it.
 *
 * @param bound tells the caller, upstream and model
 * @param message an assistant message
 * @param before the message before it. Null to refer to tool calls alone
 * @returns null for a message without tool calls, and without text or a message before it
 */
export type ReferenceOf = (bound: () => string, message: Fields, before: Fields | null) => string | null

/** A reference, and its parts. */
interface Named {
  /** All of it, as texts. */
  parts: readonly string[]
  reference: string
}

/**
 * Creates the function that finds references. A conversation comes again with each turn, and all of it is not hashed again:
 * to compare texts costs a tenth.
 */
export function createReferences(): ReferenceOf {
  const known = new LRUCache<string, Named>({ maxSize: REMEMBERED, sizeCalculation: sizeOf })

  /** @param key short; of equal ones the latest is remembered */
  function remembered(key: string, parts: readonly string[], make: () => string): string {
    const earlier = known.get(key)
    if (earlier !== undefined && isSame(earlier.parts, parts)) return earlier.reference
    const reference = make()
    known.set(key, { parts, reference })
    return reference
  }

  return (bound, message, before) => {
    const calls = objectsOrNone(message.tool_calls).map(readCall)
    const [first] = calls
    if (first !== undefined) {
      const parts = [bound(), ...calls.flatMap(({ id, name, args }) => [String(id), String(name), args])]
      return remembered(`${bound()} ${first.id} ${first.name} ${first.args.length}`, parts, () =>
        digest([bound(), calls.map(({ id, name, args }) => [id, name, canonical(args)])]),
      )
    }
    if (before === null || message.role !== 'assistant') return null
    const text = contentText(message.content).trim()
    if (text === '') return null
    const asked = contentText(before.content).trim()
    const [role, callId] = [before.role, before.tool_call_id ?? null]
    const parts = [bound(), String(role), String(callId), asked, text]
    return remembered(`${bound()} ${callId} ${asked.length} ${text.length}`, parts, () =>
      digest([bound(), role, callId, asked, text]),
    )
  }
}

function readCall({ id, function: called }: Fields) {
  const { name, arguments: args } = fieldsOrNone(called)
  return { id, name, args: asText(args) }
}

const sizeOf = ({ parts }: Named, key: string): number =>
  parts.reduce((size, { length }) => size + length, key.length + 1)

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((part, index) => part === other[index])

const digest = (parts: unknown[]): string => createHash('sha256').update(JSON.stringify(parts)).digest('base64url')

/** Arguments without the spaces of the model: some clients parse and write them again. */
function canonical(text: string): string {
  const value = parseJson(text)
  return isObject(value) ? JSON.stringify(value) : text
}
