import { isObject } from '../../text/json.ts'
import { fieldsOrNone, isText } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { incompleteReason } from '../api/finish-reason.ts'
import { argumentsText, readableArguments } from '../convert/complete-call.ts'
import { itemId } from '../convert/response-items.ts'
import type { Completion } from './upstream-reply.ts'

/**
 * A completion with its calls as SDKs read them: each with an id, a type, and the text of an object as its arguments.
 *
 * @param completion one without a `completionFault`
 * @param tools of the request, in any of the APIs
 * @returns the completion itself where nothing is broken
 */
export function readableCompletion(completion: Completion, tools: unknown): Completion {
  const choices = completion.choices.map((choice) => readableChoice(choice, tools))
  return choices.every((choice, at) => choice === completion.choices[at]) ? completion : { ...completion, choices }
}

function readableChoice(choice: unknown, tools: unknown): unknown {
  const { message, finish_reason: finish } = fieldsOrNone(choice)
  const { tool_calls: calls } = fieldsOrNone(message)
  if (!Array.isArray(calls) || isCut(finish)) return choice
  const mended = calls.map((call) => (isObject(call) ? readableCall(call, tools) : call))
  const isSame = mended.every((call, at) => call === calls[at])
  return isSame ? choice : { ...fieldsOrNone(choice), message: { ...fieldsOrNone(message), tool_calls: mended } }
}

/** Tells whether an answer was cut off. Clients know that nobody may run its calls. */
export const isCut = (finish: unknown): boolean => typeof finish === 'string' && incompleteReason(finish) !== null

function readableCall(call: Fields, tools: unknown): Fields {
  const { id, type, function: called } = call
  if (!isObject(called)) return isText(id) ? call : { ...call, id: itemId('call') }
  const given = { name: String(called.name), arguments: argumentsText(called.arguments) }
  const args = readableArguments(given, tools) || '{}'
  if (isText(id) && isText(type) && called.arguments === args) return call
  return {
    ...call,
    id: isText(id) ? id : itemId('call'),
    type: isText(type) ? type : 'function',
    function: { ...called, arguments: args },
  }
}
