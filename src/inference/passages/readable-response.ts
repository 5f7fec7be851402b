import { fieldsOrNone, isText, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { argumentsText, callFault, readableArguments, type WrittenCall } from '../convert/complete-call.ts'
import { itemId } from '../convert/response-items.ts'
import type { ReadResponse } from './upstream-reply.ts'

/** Makes the id of a call that has none. */
export type NameCall = (item: Fields) => string

/**
 * A Response with its calls as SDKs read them: each with an id, and the text of an object as its arguments.
 *
 * @param tools of the request, in any of the APIs
 * @returns the Response itself where nothing is broken, or where it was cut off; the fault of one whose calls nobody may
 *   run
 */
export function readableResponse(
  response: ReadResponse,
  tools: unknown,
  nameCall: NameCall = () => itemId('call'),
): { response: ReadResponse; fault: string | null } {
  const { output, status = 'completed' } = response
  const calls = objectsOrNone(output).filter(isFunctionCall)
  if (calls.length === 0 || status !== 'completed') return { response, fault: null }
  const fault = callFault(calls.map(writtenItem), null, tools)
  if (fault !== null) return { response, fault }
  const mended = output.map((item) =>
    isFunctionCall(fieldsOrNone(item)) ? readableItem(item as Fields, tools, nameCall) : item,
  )
  const isSame = mended.every((item, at) => item === output[at])
  return { response: isSame ? response : { ...response, output: mended }, fault }
}

/** Tells whether an item is the call of a function. */
export const isFunctionCall = ({ type }: Fields): boolean => type === 'function_call'

/** Name and arguments of the item of a call. */
export const writtenItem = ({ name, arguments: args }: Fields): WrittenCall => ({
  name: isText(name) ? name : '',
  arguments: argumentsText(args),
})

/** The item of a complete call as SDKs read it; the item itself where nothing is broken. */
export function readableItem(item: Fields, tools: unknown, nameCall: NameCall): Fields {
  const args = readableArguments(writtenItem(item), tools) || '{}'
  if (isText(item.call_id) && item.arguments === args) return item
  return { ...item, call_id: isText(item.call_id) ? item.call_id : nameCall(item), arguments: args }
}
