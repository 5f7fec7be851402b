import { isObject, parseJson } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { incompleteReason, knownFinish } from '../api/finish-reason.ts'

/** Faults of calls. */
export const NO_CALL = 'its answer ends with a tool call, and has none'
export const NO_NAME = 'a tool call has no name'
export const NO_OBJECT = 'the arguments of a tool call are not a JSON object'

/** A call, as far as it has arrived. */
export interface WrittenCall {
  name: string
  arguments: string
}

/**
 * Arguments of a call as the text of a JSON object. Those that were encoded twice are decoded; none, or `null`, are
 * empty.
 *
 * @returns null when they are not complete: SDKs read them as an empty or a partial object, and run it
 */
function completeArguments(args: string): string | null {
  const text = args.trim()
  if (text === '' || text === 'null') return '{}'
  const parsed = parseJson(args)
  if (isObject(parsed)) return args
  return typeof parsed === 'string' && isObject(parseJson(parsed)) ? parsed : null
}

/**
 * Arguments of a complete call as clients read them: the text of a JSON object. None stay none.
 *
 * @param tools of the request, in any of the APIs
 * @returns null when the call is not complete
 */
export function readableArguments(call: WrittenCall, tools: unknown): string | null {
  if (!isComplete(call, tools)) return null
  return call.arguments.trim() === '' ? call.arguments : (completeArguments(call.arguments) ?? call.arguments)
}

/**
 * Fault of an answer whose calls nobody may run: one has no name, or its arguments are not complete; or the answer ends
 * with a call and has none. Null for a good answer, and for one that its limit cut off.
 *
 * @param tools of the request, in any of the APIs
 */
export function callFault(calls: readonly WrittenCall[], finish: unknown, tools: unknown): string | null {
  const reason = typeof finish === 'string' ? finish : null
  if (incompleteReason(reason) !== null) return null
  if (calls.length === 0) return knownFinish(reason ?? '') === 'tool_calls' ? NO_CALL : null
  if (calls.some(({ name }) => name === '')) return NO_NAME
  return calls.every((call) => isComplete(call, tools)) ? null : NO_OBJECT
}

function isComplete({ name, arguments: args }: WrittenCall, tools: unknown): boolean {
  if (objectsOrNone(tools).some((tool) => tool.name === name && takesText(tool))) return true
  const complete = completeArguments(args)
  if (complete === null) return false
  return complete !== '{}' || args.trim() === '{}' || !needsInput(tools, name)
}

/** Tells whether the input of a tool is free text. In Messages `custom` is the type of all tools of the client. */
const takesText = ({ type, input_schema }: Fields): boolean => type === 'custom' && input_schema === undefined

/** Tells whether a tool of the request requires input. */
const needsInput = (tools: unknown, name: string): boolean =>
  objectsOrNone(tools).some((tool) => {
    const called = { ...tool, ...fieldsOrNone(tool.function) }
    const { required } = fieldsOrNone(called.input_schema ?? called.parameters)
    return called.name === name && Array.isArray(required) && required.length > 0
  })

/** Arguments or input of a call as text. Empty without any. */
export function argumentsText(given: unknown): string {
  if (typeof given === 'string') return given
  return typeof given === 'object' && given !== null ? JSON.stringify(given) : ''
}

/** The calls of a message of a chat completion. */
export const callsOfMessage = (message: unknown): WrittenCall[] =>
  objectsOrNone(fieldsOrNone(message).tool_calls).map((call) => {
    // The input of a custom tool is free text.
    if (isObject(call.custom)) return { name: String(call.custom.name), arguments: '{}' }
    const { name, arguments: args } = fieldsOrNone(call.function)
    return { name: typeof name === 'string' ? name : '', arguments: argumentsText(args) }
  })
