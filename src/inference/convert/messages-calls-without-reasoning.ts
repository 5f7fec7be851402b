import { isText, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { callMessage } from './calls-without-reasoning.ts'
import { exactJson } from './exact-json.ts'
import { chatToolName } from './tool-names.ts'

/** A block with a call as the message that its kept reasoning is found by. */
export const useMessage = ({ id, name, input }: Fields): Fields =>
  callMessage({ id, function: { name: chatToolName(String(name)), arguments: exactJson(input ?? {}) } })

/** The first call among the blocks of an answer. */
export const firstUse = (content: unknown): Fields | undefined =>
  objectsOrNone(content).find(({ type }) => type === 'tool_use')

/**
 * The first calls of answers that come back without their thinking, or without its signature, as messages. Loops written by
 * hand, and agents that keep conversations in a form of their own, bring back texts and calls alone.
 */
export function messagesCallsAlone({ messages }: Fields): Fields[] {
  return objectsOrNone(messages).flatMap(({ role, content }) => {
    if (role !== 'assistant') return []
    const use = firstUse(content)
    const isBrought = objectsOrNone(content).some(({ signature, data }) => isText(signature ?? data))
    return use === undefined || isBrought ? [] : [useMessage(use)]
  })
}
