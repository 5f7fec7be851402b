import { isObject } from '../../text/json.ts'
import { fieldsOrNone, isText } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { argumentsText, readableArguments, type WrittenCall } from '../convert/complete-call.ts'
import { type HeldArguments, heldArguments } from '../convert/held-arguments.ts'
import { itemId } from '../convert/response-items.ts'
import { callOf } from '../convert/streamed-calls.ts'
import { isCut } from './readable-completion.ts'

/** A call of a chat stream, which arrives in pieces. */
export interface OpenCall {
  /** Index and id that the upstream gave. */
  index: unknown
  id: string
  /** Id for the client, where it is another. */
  made: string | null
  /** Position among the calls of its choice. */
  at: number
  name: string
  isCustom: boolean
  args: HeldArguments<string>
}

/**
 * Reads a piece of a call, and adds the call to the others of its choice when it is new.
 *
 * @returns the piece for the client; the piece itself where nothing is broken
 */
export function readPiece(calls: OpenCall[], piece: Fields): Fields {
  const called = fieldsOrNone(piece.function ?? piece.custom)
  const { name, arguments: given } = called
  const index = piece.index ?? undefined
  const args = argumentsText(given)
  const known = callOf(calls, { index, id: piece.id, name, arguments: args }, (call) => call.args.isWhole())
  const call = known ?? begin(calls, { ...piece, index })
  if (isText(name)) call.name = name
  const isHeld = call.args.push(args, args).length === 0
  const isNew = known === undefined
  const id = call.made !== null && (isNew || isText(piece.id)) ? call.made : piece.id
  const type = isNew && !isText(piece.type) && !call.isCustom ? 'function' : piece.type
  const isPlain = !isHeld && (args === '' || args === given)
  if (piece.index === call.at && id === piece.id && type === piece.type && isPlain) return piece
  const mended = call.isCustom ? {} : { function: { ...called, arguments: isHeld ? '' : args } }
  return { ...piece, index: call.at, id, type, ...mended }
}

function begin(calls: OpenCall[], { index, id, custom }: Fields): OpenCall {
  const isTaken = calls.some((call) => call.id === id)
  const call = {
    index,
    id: isText(id) ? id : '',
    made: isText(id) && !isTaken ? null : itemId('call'),
    at: calls.length,
    name: '',
    isCustom: isObject(custom),
    args: heldArguments<string>(),
  }
  calls.push(call)
  return call
}

/** Name and arguments of a call so far. */
export const writtenCall = ({ name, args, isCustom }: OpenCall): WrittenCall => ({
  name,
  // The input of a custom tool is free text.
  arguments: isCustom ? '{}' : args.written(),
})

/**
 * Arguments of calls that the client has yet to get at the end of an answer: those that were held, and `{}` for none.
 *
 * @param finish its finish reason
 */
export function dueArguments(calls: readonly OpenCall[], finish: unknown, tools: unknown): Map<OpenCall, string> {
  const due = new Map<OpenCall, string>()
  for (const call of calls) {
    const held = call.args.take()
    const isBlank = !call.isCustom && call.args.written().trim() === ''
    if (isCut(finish)) {
      if (held.length > 0) due.set(call, held.join(''))
    } else if (held.length > 0 || isBlank) due.set(call, readableArguments(writtenCall(call), tools) || '{}')
  }
  return due
}
