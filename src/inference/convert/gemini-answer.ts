import { isObject, parseJson } from '../../text/json.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { geminiFinish } from '../api/gemini-finish.ts'
import { read } from './answer-reader.ts'
import { type ChatCall, type Citation, readChatAnswer } from './chat-answer.ts'
import { writtenJson } from './gemini-json.ts'
import { type AnswerReasoning, createGeminiThoughts } from './gemini-thoughts.ts'
import { type Completeness, createCompleteness } from './object-end.ts'
import { itemId } from './response-items.ts'
import { callOf } from './streamed-calls.ts'
import { unwrapped } from './wrapped-arguments.ts'

/** Terms of the conversion of an answer. */
export interface AnswerTerms {
  /** Finds the name of a function in the request by its name in chat. */
  nameOf(chatName: string): string
  /** Carries the reasoning state. Null for a client that need not bring it back. */
  reasoning: AnswerReasoning | null
  /** True when the client wants to see the thoughts. */
  showsThoughts: boolean
}

/** One answer to a request, called a candidate there, while it is being written. */
export interface GeminiAnswer {
  /**
   * Reads one choice of a chunk. Calls come with the end of the answer: clients get each in one piece.
   *
   * @returns the parts for the client
   */
  read(choice: Fields, path: string): Fields[]
  /** Names and arguments of the calls so far. */
  calls(): Array<{ name: string; arguments: string }>
  /** Finish reason of the upstream. Null before. */
  finish(): string | null
  /** Ends the answer. @returns its last parts, its finish reason and what it cites */
  end(): Fields & { parts: Fields[] }
}

interface Slot {
  index: number | undefined
  id: string
  name: string
  args: Completeness
  /** Fields with reasoning state. */
  extra: Fields | null
}

/** A call that is whole, with its arguments as JSON. */
interface MadeCall extends Pick<Slot, 'id' | 'name' | 'extra'> {
  args: string
}

/** Creates an answer without parts. */
export function createGeminiAnswer({ nameOf, reasoning, showsThoughts }: AnswerTerms): GeminiAnswer {
  const thoughts = createGeminiThoughts(reasoning, showsThoughts)
  const slots: Slot[] = []
  const cited: Citation[] = []
  let finish: string | null = null
  let isRefusal = false

  function add(piece: ChatCall): void {
    const known = callOf(slots, piece, ({ args }) => args.isWhole())
    const isTaken = slots.some(({ id }) => id === piece.id)
    const slot = known ?? { index: piece.index, id: '', name: '', args: createCompleteness(), extra: null }
    if (known === undefined) slots.push(slot)
    if (slot.id === '' && !isTaken) slot.id = piece.id
    if (slot.name === '') slot.name = piece.name
    slot.args.push(piece.arguments)
    slot.extra = piece.extra ?? slot.extra
  }

  /** A call. None for one that the end of the answer has cut off: nobody may run it. */
  function toCall({ id, name, args, extra }: Slot): MadeCall[] {
    const text = args.written().trim() === '' ? '{}' : unwrapped(args.written())
    if (!isObject(parseJson(text))) return []
    return [{ id: id === '' ? itemId('call') : id, name, args: text, extra }]
  }

  function toPart({ id, name, args, extra }: MadeCall): Fields {
    const sealed = thoughts.signature(extra === null ? {} : { [id]: extra })
    return { functionCall: { id, name: nameOf(name), args: writtenJson(args) }, ...sealed }
  }

  return {
    read(choice, path) {
      const said = readChatAnswer(choice.delta, path)
      const thought = thoughts.read(said)
      const text = said.text + said.refusal
      isRefusal ||= said.refusal !== ''
      cited.push(...said.citations)
      // The calls of a whole message are not numbered.
      for (const piece of said.calls) add(piece)
      const given = read.optionalText(choice.finish_reason, 'choices.0.finish_reason') ?? ''
      // Some providers send an empty one with each chunk.
      if (given !== '') finish = given
      return text === '' ? thought : [...thought, { text, ...thoughts.signature() }]
    },
    calls: () => slots.map(({ name, args }) => ({ name, arguments: args.written() })),
    finish: () => finish,
    end() {
      const calls = slots.flatMap(toCall)
      const parts = calls.map(toPart)
      if (calls[0]) thoughts.keep(calls[0])
      const reason = isRefusal ? 'SAFETY' : geminiFinish(finish)
      return { parts, finishReason: reason, ...(cited.length > 0 && { citationMetadata: sources(cited) }) }
    },
  }
}

const sources = (cited: readonly Citation[]): Fields => ({
  citationSources: cited.map(({ url, title, start_index: startIndex, end_index: endIndex }) => ({
    startIndex,
    endIndex,
    uri: url,
    title,
  })),
})
