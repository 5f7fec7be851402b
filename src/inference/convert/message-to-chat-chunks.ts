import { isObject } from '../../text/json.ts'
import { present } from '../../text/present.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { finishReason } from '../api/finish-reason.ts'
import { read } from './answer-reader.ts'
import { fromCustomCall } from './custom-tools.ts'
import { headOf, NO_CUSTOM, readBlock, readStop, toChatUsage } from './message-to-chat.ts'

/** Converts the events of a streamed Message to the chunks of a chat stream. */
export interface CompletionChunks {
  /**
   * Converts one event. Unknown events and `ping` give nothing.
   *
   * @throws WrongTypeError
   */
  push(event: object): Fields[]
  /** True once the Message is complete. */
  isOver(): boolean
}

/**
 * Creates the converter. The usage comes last, in a separate chunk. The input of a custom tool comes whole, since it is
 * wrapped in JSON.
 *
 * @param custom names of the custom tools of the request
 */
export function createCompletionChunks(custom: ReadonlySet<unknown> = NO_CUSTOM): CompletionChunks {
  let head: Fields = headOf(undefined, undefined)
  let begunUsage: Fields = {}
  let usage: Fields = {}
  let over = false
  const blocks = createBlocks(custom)

  const chunk = (choices: Fields[], more: Fields = {}): Fields => ({
    ...head,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  })
  const adds = (delta: Fields | null, finish_reason: string | null = null): Fields[] =>
    delta === null ? [] : [chunk([{ index: 0, delta, logprobs: null, finish_reason }])]

  return {
    push(event) {
      const { type, message, index: at, content_block, delta, usage: used, error } = event as Fields
      const index = read.optionalNumber(at, 'index')
      switch (type) {
        case 'message_start': {
          const { id, model, usage: begun } = read.fields(message, 'message')
          head = headOf(id, model)
          begunUsage = isObject(begun) ? begun : {}
          return adds({ role: 'assistant', content: '' })
        }
        case 'content_block_start':
          return adds(blocks.start(index, read.object(content_block, 'content_block')))
        case 'content_block_delta':
          return adds(blocks.continue(index, read.object(delta, 'delta')))
        case 'content_block_stop':
          return adds(blocks.end())
        case 'message_delta':
          // Usage at the start has the prompt alone: without a later report there is none.
          if (isObject(used)) usage = { ...begunUsage, ...present(used) }
          return adds({}, finishReason(readStop(read.fields(delta, 'delta').stop_reason)))
        case 'message_stop': {
          over = true
          const chatUsage = toChatUsage(usage)
          return chatUsage ? [chunk([], { usage: chatUsage })] : []
        }
        case 'error':
          return [{ error: { ...(isObject(error) ? error : { message: error }), param: null } }]
        default:
          return []
      }
    },
    isOver: () => over,
  }
}

/** Content blocks of a streamed Message, as deltas of a chat stream; null where one adds nothing. */
interface Blocks {
  start(index: number | undefined, given: Fields): Fields | null
  continue(index: number | undefined, delta: Fields): Fields | null
  /** Ends the open block. What the provider wants back comes whole. */
  end(): Fields | null
}

function createBlocks(custom: ReadonlySet<unknown>): Blocks {
  let calls = -1
  /** Position of each call among the calls, by the index of its block. */
  const callAt = new Map<number | undefined, number>()
  /** Position of the open call while it has no input: one without parameters stays so. */
  let unwritten: { index: number; input: string } | null = null
  /** Call of a custom tool that is open, with its JSON so far. */
  let wrapped: { index: number; json: string } | null = null
  /** Thinking block that is open. */
  let thought: Fields | null = null

  function continueThought(open: Fields, { type, thinking, signature }: Fields): Fields | null {
    if (type === 'signature_delta')
      thought = { ...open, signature: `${open.signature ?? ''}${read.text(signature, 'delta.signature')}` }
    if (type !== 'thinking_delta') return null
    const added = read.text(thinking, 'delta.thinking')
    thought = { ...open, thinking: `${open.thinking ?? ''}${added}` }
    return added === '' ? null : { reasoning_content: added }
  }

  return {
    start(index, given) {
      const { text, thinking, kept, call } = readBlock(given, index ?? callAt.size)
      thought = kept
      if (kept !== null) return thinking === '' ? null : { reasoning_content: thinking }
      if (call === null) return text === '' ? null : { content: text }
      callAt.set(index, ++calls)
      const { id, name } = call
      if (custom.has(name)) {
        wrapped = { index: calls, json: '' }
        return { tool_calls: [{ index: calls, id, type: 'custom', custom: { name, input: '' } }] }
      }
      // Some servers send the input in the start of the call.
      unwritten = { index: calls, input: JSON.stringify(call.input) }
      return { tool_calls: [{ index: calls, id, type: 'function', function: { name, arguments: '' } }] }
    },
    continue(index, delta) {
      const { type, text, partial_json } = delta
      if (type === 'text_delta') return { content: read.text(text, 'delta.text') }
      if (thought !== null) return continueThought(thought, delta)
      // Some servers send thoughts in a block of text.
      if (type === 'thinking_delta') return { reasoning_content: read.text(delta.thinking, 'delta.thinking') }
      const call = callAt.get(index)
      if (type !== 'input_json_delta' || call === undefined) return null
      const added = read.text(partial_json, 'delta.partial_json')
      if (wrapped !== null) {
        wrapped.json += added
        return null
      }
      if (added !== '') unwritten = null
      return { tool_calls: [{ index: call, function: { arguments: added } }] }
    },
    end() {
      const [call, written, ended] = [wrapped, unwritten, thought]
      if (call !== null) {
        wrapped = null
        return { tool_calls: [{ index: call.index, custom: { input: fromCustomCall(call.json) } }] }
      }
      if (written !== null) {
        unwritten = null
        return { tool_calls: [{ index: written.index, function: { arguments: written.input } }] }
      }
      thought = null
      return ended === null ? null : { thinking_blocks: [ended] }
    },
  }
}
