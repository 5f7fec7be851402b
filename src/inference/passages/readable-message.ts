import { isObject } from '../../text/json.ts'
import { isText, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import type { Message } from '../api/requests.ts'
import { messageId } from '../convert/chat-to-message.ts'
import { argumentsText, callFault, readableArguments, type WrittenCall } from '../convert/complete-call.ts'

/**
 * A Message with its calls as SDKs read them: each with an id, and an object as its input.
 *
 * @param tools of the request, in any of the APIs
 * @returns the Message itself where nothing is broken; the fault of one whose calls nobody may run
 */
export function readableMessage(message: Message, tools: unknown): { message: Message; fault: string | null } {
  const blocks = objectsOrNone(message.content)
  const calls = blocks.filter(isToolUse)
  const fault = callFault(calls.map(writtenCall), message.stop_reason, tools)
  if (fault !== null || calls.every(isReadable)) return { message, fault }
  const content = blocks.map((block) => (isToolUse(block) && !isReadable(block) ? readable(block, tools) : block))
  return { message: { ...message, content } as unknown as Message, fault }
}

/** Tells whether a block is the call of a tool that the client runs. */
export const isToolUse = ({ type }: Fields): boolean => type === 'tool_use'

const isReadable = ({ id, input }: Fields): boolean => isText(id) && isObject(input)

const writtenCall = ({ name, input }: Fields): WrittenCall => ({
  name: isText(name) ? name : '',
  arguments: argumentsText(input),
})

function readable(block: Fields, tools: unknown): Fields {
  const input = readableArguments(writtenCall(block), tools)
  // The input of an answer that was cut off stays as it is.
  const mended = input === null ? {} : { input: JSON.parse(input || '{}') }
  return { ...block, id: isText(block.id) ? block.id : messageId('toolu'), ...mended }
}
