import { type Loose, record, records } from '../../text/loose.ts'
import type { ChatChunk, ChatCompletion } from '../api/requests.ts'

/**
 * Converts a completion to stream chunks: content, finish reason, and usage.
 *
 * @param options.withUsage adds a chunk with the usage, when there is one
 */
export function completionChunks(completion: ChatCompletion, options: { withUsage: boolean }): ChatChunk[] {
  const { choices, usage, ...head } = completion
  const given = records(choices).map((choice, position) => ({ ...choice, index: choice.index ?? position }) as Loose)
  const begun = given.map(({ message, ...choice }) => ({ ...choice, delta: toDelta(message), finish_reason: null }))
  const ended = given.map(({ index, finish_reason }) => ({ index, delta: {}, finish_reason }))
  const chunk = (parts: Loose[], more = {}) =>
    ({ ...head, object: 'chat.completion.chunk', choices: parts, ...more }) as unknown as ChatChunk
  return [chunk(begun), chunk(ended), ...(usage && options.withUsage ? [chunk([], { usage })] : [])]
}

/** Numbers the tool calls: a completion that was not streamed does not. */
function toDelta(message: unknown): Loose {
  const { tool_calls, ...delta } = record(message)
  if (!Array.isArray(tool_calls)) return delta
  return { ...delta, tool_calls: records(tool_calls).map((call, index) => ({ ...call, index })) }
}
