import { isObject, parseJson } from '../../text/json.ts'
import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import { incompleteReason } from '../api/finish-reason.ts'

/** A call, as far as it has arrived. */
interface WrittenCall {
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

/** Tells whether the arguments of a call are a whole JSON object, so that nothing can be added to them. */
export const isWholeObject = (args: string): boolean => isObject(parseJson(args))

/**
 * Fault of an answer whose calls nobody may run: one has no name, or its arguments are not complete; or the answer ends
 * with a call and has none. Null for a good answer, and for one that its limit cut off.
 *
 * @param tools of the request, in any of the APIs
 */
export function callFault(calls: readonly WrittenCall[], finish: unknown, tools: unknown): string | null {
  const reason = typeof finish === 'string' ? finish : null
  if (incompleteReason(reason) !== null) return null
  if (calls.length === 0) return reason === 'tool_calls' ? 'its answer ends with a tool call, and has none' : null
  if (calls.some(({ name }) => name === '')) return 'a tool call has no name'
  return calls.every((call) => isComplete(call, tools)) ? null : 'the arguments of a tool call are not a JSON object'
}

function isComplete({ name, arguments: args }: WrittenCall, tools: unknown): boolean {
  // The input of a custom tool is free text.
  if (objectsOrNone(tools).some((tool) => tool.name === name && tool.type === 'custom')) return true
  const complete = completeArguments(args)
  if (complete === null) return false
  return complete !== '{}' || args.trim() === '{}' || !needsInput(tools, name)
}

/** Tells whether a tool of the request requires input. */
const needsInput = (tools: unknown, name: string): boolean =>
  objectsOrNone(tools).some((tool) => {
    const called = { ...tool, ...fieldsOrNone(tool.function) }
    const { required } = fieldsOrNone(called.input_schema ?? called.parameters)
    return called.name === name && Array.isArray(required) && required.length > 0
  })

/** The calls of a message of a chat completion. */
export const callsOfMessage = (message: unknown): WrittenCall[] =>
  objectsOrNone(fieldsOrNone(message).tool_calls).map((call) => {
    // The input of a custom tool is free text.
    if (isObject(call.custom)) return { name: String(call.custom.name), arguments: '{}' }
    const { name, arguments: args } = fieldsOrNone(call.function)
    const text = typeof args === 'object' && args !== null ? JSON.stringify(args) : args
    return { name: typeof name === 'string' ? name : '', arguments: typeof text === 'string' ? text : '' }
  })
