import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { isSealed } from '../reasoning/seal.ts'
import { asFunctionItem } from './own-tools.ts'

/** Tells whether an item of a Response is a call of a tool that the client runs. */
export const isCall = ({ type }: Fields): boolean => type === 'function_call' || type === 'custom_tool_call'
/** Tells whether an item is the result of such a call. */
export const isResult = ({ type }: Fields): boolean =>
  type === 'function_call_output' || type === 'custom_tool_call_output'
/** Tells whether an item is a message to the model. */
export const isSaidToModel = ({ type, role }: Fields): boolean =>
  (type ?? 'message') === 'message' && role !== 'assistant'

/** The first call among the items of an answer. */
export const firstCall = (output: unknown): Fields | undefined => objectsOrNone(output).map(asFunctionItem).find(isCall)

/** A call, as chat completions has it, as the message that its kept reasoning is found by. */
export const callMessage = (call: object): Fields => ({ role: 'assistant', tool_calls: [call] })

/** The same for an item of a Response. Results may come between calls of one turn. */
export const messageOf = ({ call_id: id, name, arguments: args, input }: Fields): Fields =>
  callMessage({ id, function: { name, arguments: args ?? input } })

/**
 * Calls of a Responses request that come back without the reasoning before them, as messages. LangChain's `zdrEnabled`
 * returns reasoning only where `include` asked for it.
 */
export function callsAlone(input: unknown): Fields[] {
  let hasReasoning = false
  return objectsOrNone(input)
    .map(asFunctionItem)
    .filter((item) => {
      if (isResult(item) || isSaidToModel(item)) hasReasoning = false
      hasReasoning ||= item.type === 'reasoning' && isSealed(item.encrypted_content)
      return isCall(item) && !hasReasoning
    })
    .map(messageOf)
}
