import type { Fields } from '../../text/typed-reader.ts'
import type { ChatChunk, ChatCompletion } from '../api/requests.ts'
import { read } from './answer-reader.ts'

/**
 * Converts a completion to stream chunks: content, finish reason, and usage.
 *
 * @param options.withUsage adds a chunk with the usage, when there is one
 * @throws WrongTypeError
 */
export function completionChunks(completion: ChatCompletion, options: { withUsage: boolean }): ChatChunk[] {
  const { choices, usage, ...head } = completion
  const given = read
    .objects(choices, 'choices')
    .map((choice, position): Fields => ({ ...choice, index: choice.index ?? position }))
  const begun = given.map(({ message, ...choice }, position) => ({
    ...choice,
    delta: toDelta(message, `choices.${position}.message`),
    finish_reason: null,
  }))
  const ended = given.map(({ index, finish_reason }) => ({ index, delta: {}, finish_reason }))
  const chunk = (parts: Fields[], more = {}) =>
    ({ ...head, object: 'chat.completion.chunk', choices: parts, ...more }) as unknown as ChatChunk
  return [chunk(begun), chunk(ended), ...(usage && options.withUsage ? [chunk([], { usage })] : [])]
}

/** Numbers the tool calls: a completion that was not streamed does not. */
function toDelta(message: unknown, path: string): Fields {
  const { tool_calls, ...delta } = read.fields(message, path)
  if ((tool_calls ?? null) === null) return delta
  const calls = read.objects(tool_calls, `${path}.tool_calls`)
  return { ...delta, tool_calls: calls.map((call, index) => ({ ...call, index })) }
}
