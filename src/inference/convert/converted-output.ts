import type { Fields } from '../../text/typed-reader.ts'
import { createStateReader } from '../reasoning/reasoning-state.ts'
import type { FindTool } from './callable-tools.ts'
import { type ChatCall, readChatAnswer, readLogprobs } from './chat-answer.ts'
import { itemId, type OutputItem } from './response-items.ts'
import { createStreamedCalls } from './streamed-calls.ts'
import {
  type Emit,
  type StreamedItem,
  type StreamedMessage,
  type StreamedReasoning,
  streamCall,
  streamMessage,
  streamReasoning,
} from './streamed-items.ts'
import type { SealState } from './thinking-blocks.ts'

/** Output of a streamed Response while it is being written. */
export interface StreamedOutput {
  /**
   * Emits the events for one choice of a chat chunk, or of a whole completion.
   *
   * @throws WrongTypeError before it emits any
   */
  read(choice: Fields, part: 'delta' | 'message'): void
  /**
   * Ends the open items in order and returns the output. When the answer was truncated, the last of them is incomplete.
   * An empty answer becomes an empty message.
   */
  close(isCut: boolean): OutputItem[]
  /** Names and arguments of the calls so far. */
  calls(): Array<{ name: string; arguments: string }>
  /** Output so far. Open items are incomplete. */
  soFar(): OutputItem[]
}

/**
 * Sorts the deltas of a chat stream into items, numbered in order of appearance. Reasoning ends when the answer begins
 * or resumes. Messages and calls stay open to the end, because chat deltas may switch between them.
 *
 * @param terms.called finds the request's tools by their names in chat
 * @param terms.seal seals the reasoning state, for the client to bring back
 * @param terms.earlier items that the Response already has, all ended
 */
export function createStreamedOutput(
  emit: Emit,
  { called, seal, earlier = [] }: { called: FindTool; seal: SealState; earlier?: readonly OutputItem[] },
): StreamedOutput {
  const items: StreamedItem[] = earlier.map((item) => ({ item: () => item, close() {} }))
  const closed = new Set<StreamedItem>(items)
  const calls = createStreamedCalls((call) => add(streamCall(emit, items.length, call, called(call.name))))
  let message: StreamedMessage | undefined
  let reasoning: StreamedReasoning | undefined
  const state = createStateReader()
  /** Ids of the calls so far, by their index. */
  const ids = new Map<number | undefined, string>()

  function add<Item extends StreamedItem>(item: Item): Item {
    items.push(item)
    return item
  }

  function answer(): StreamedMessage {
    message ??= add(streamMessage(emit, items.length))
    return message
  }

  function think(delta: string): void {
    reasoning ??= add(streamReasoning(emit, items.length))
    reasoning.think(delta)
  }

  /** Ends a reasoning item. It carries the state so far; a state without text gets an item of its own. */
  function endReasoning(): void {
    const taken = state.take()
    if (taken !== null) reasoning ??= add(streamReasoning(emit, items.length))
    if (!reasoning) return
    if (taken !== null) reasoning.carry(seal(taken))
    reasoning.close('completed')
    closed.add(reasoning)
    reasoning = undefined
  }

  function read(choice: Fields, part: 'delta' | 'message'): void {
    const {
      reasoning: thought,
      text,
      refusal,
      citations,
      calls: pieces,
      state: fields,
    } = readChatAnswer(choice[part], `choices.0.${part}`)
    const logprobs = text === '' ? [] : readLogprobs(choice.logprobs, 'choices.0.logprobs')
    state.add(fields)
    const named = pieces.map(withId)
    if (thought !== '') think(thought)
    // After the text has begun, a state belongs to the next call.
    const isSaid = text !== '' || citations.length > 0 || refusal !== ''
    if (pieces.length > 0 || (isSaid && (reasoning || !message))) endReasoning()
    if (text !== '') answer().text(text, logprobs)
    for (const citation of citations) answer().cite(citation)
    if (refusal !== '') answer().refuse(refusal)
    // The calls of a whole message are not numbered, and each is complete.
    for (const [index, piece] of named.entries()) calls.push(part === 'message' ? { ...piece, index } : piece)
  }

  /** Notes the reasoning state of a call, which refers to the call by its id. It may come after the call. */
  function withId(piece: ChatCall): ChatCall {
    if (piece.id !== '') ids.set(piece.index, piece.id)
    if (piece.extra === null) return piece
    const id = piece.id || (piece.name === '' && ids.get(piece.index)) || itemId('call')
    ids.set(piece.index, id)
    state.addCall(id, piece.extra)
    return { ...piece, id }
  }

  function close(isCut: boolean): OutputItem[] {
    calls.end()
    const rest = state.take()
    // After a text alone, no model needs it.
    if (rest !== null && (!message || ids.size > 0)) reasoning ??= add(streamReasoning(emit, items.length))
    if (rest !== null) reasoning?.carry(seal(rest))
    if (items.length === earlier.length) answer().text('', [])
    const cutOff = isCut ? items.findLast((item) => !closed.has(item)) : undefined
    return items.map((item) => {
      const status = item === cutOff ? 'incomplete' : 'completed'
      if (!closed.has(item)) item.close(status)
      return item.item(status)
    })
  }

  return {
    read,
    close,
    calls: calls.written,
    soFar: () => items.map((item) => item.item(closed.has(item) ? 'completed' : 'incomplete')),
  }
}
