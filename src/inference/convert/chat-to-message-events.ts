import type { Fields } from '../../text/typed-reader.ts'
import type { ChatChunk, MessageEvent, MessagesRequest } from '../api/requests.ts'
import { createStateReader } from '../reasoning/reasoning-state.ts'
import { read } from './answer-reader.ts'
import { firstChoice, readChatAnswer } from './chat-answer.ts'
import { messageShell, stopOf, toMessageUsage } from './chat-to-message.ts'
import { callFault } from './complete-call.ts'
import { createContentBlocks } from './content-blocks.ts'
import { type SealState, showsThinking, UNSEALED } from './thinking-blocks.ts'
import { calledTools } from './tool-names.ts'

/**
 * Converts the chunks of a chat stream to the events of a streamed Message. Chunks after the last event are ignored.
 */
export interface MessageEvents {
  /** Converts one chunk. `message_start` and `ping` precede the first events. */
  push(chunk: ChatChunk): MessageEvent[]
  /** Fault of the calls of a complete answer, which nobody may run. Null without one. */
  fault(): string | null
  /** Ends the blocks and the Message, after the last chunk of a complete answer. */
  finish(): MessageEvent[]
  /** The calls of a complete answer, as blocks. */
  uses(): Fields[]
}

/**
 * Converts a chat stream to a streamed Message. A state machine without I/O. Events come in the documented order
 * (https://docs.claude.com/en/docs/build-with-claude/streaming), one block at a time; interleaved deltas of parallel
 * calls are reordered.
 *
 * @param options.model model name when neither the request nor the upstream names one
 * @param options.seal seals the reasoning state, for the client to bring back
 */
export function createMessageEvents(
  request: MessagesRequest,
  options: { model: string; seal?: SealState },
): MessageEvents {
  let batch: Fields[] = []
  const state = createStateReader()
  const isShown = showsThinking(request)
  const blocks = createContentBlocks((event) => void batch.push(event), {
    nameOf: calledTools(request.tools),
    state,
    seal: options.seal ?? UNSEALED,
  })
  let isBegun = false
  let usage: unknown
  let ending: Fields = {}
  let isRefusal = false

  function begin(model: unknown): void {
    if (isBegun) return
    isBegun = true
    const reported = read.optionalText(model, 'model')
    const message = messageShell(request.model || reported || options.model)
    batch.push({ type: 'message_start', message }, { type: 'ping' })
  }

  return {
    push(given) {
      batch = []
      const chunk = given as unknown as Fields
      const choice = firstChoice(chunk)
      if (chunk.usage) usage = chunk.usage
      begin(chunk.model)
      if (choice) {
        const { text, refusal, reasoning, calls, state: thought } = readChatAnswer(choice.delta, 'choices.0.delta')
        const finish = read.optionalText(choice.finish_reason, 'choices.0.finish_reason') ?? ''
        isRefusal ||= refusal !== ''
        if (isShown) {
          state.add(thought)
          if (reasoning !== '') blocks.think(reasoning)
        }
        if (text + refusal !== '') blocks.say(text + refusal)
        for (const part of calls) blocks.call(isShown ? part : { ...part, extra: null })
        // Some providers send an empty one with each chunk.
        if (finish !== '') ending = choice
        blocks.emit(false)
      }
      return batch as unknown as MessageEvent[]
    },
    fault: () => callFault(blocks.calls(), ending.finish_reason, request.tools),
    uses: () => blocks.uses(),
    finish() {
      batch = []
      begin(undefined)
      blocks.end()
      blocks.emit(true)
      const delta = stopOf(ending, request, { isRefusal, hasCalls: blocks.hasCalls() })
      const counts = { output_tokens: 0, ...toMessageUsage(usage) }
      batch.push({ type: 'message_delta', delta, usage: counts }, { type: 'message_stop' })
      return batch as unknown as MessageEvent[]
    },
  }
}
