import { fieldsOrNone, objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { splitEvents } from '../../wire/whole-sse-events.ts'
import { eventData } from '../observe/event-data.ts'
import { joinChunks } from '../observe/join-chunks.ts'
import { CALLED, REASONED, type SseTap } from '../observe/sse-tap.ts'
import { acceptable, putBack, readState } from '../reasoning/reasoning-state.ts'
import type { Conversion, ReplyContext } from './passage.ts'

/** Blocks of an upstream that speaks Messages, in the converted answer. Chat clients do not know them. */
const BLOCKS = 'thinking_blocks'

/**
 * Puts the reasoning that was kept for a chat client back into the messages that it came with. A client that brings it
 * back itself keeps its own.
 *
 * @returns the request itself when nothing was kept
 */
export function withKept(asked: object, { reasoning }: Conversion): object {
  const { messages } = asked as Fields
  if (!Array.isArray(messages)) return asked
  let isChanged = false
  const restored = messages.map((message, index) => {
    const state = reasoning.kept(fieldsOrNone(message), index === 0 ? null : fieldsOrNone(messages[index - 1]))
    isChanged ||= state !== null
    return state === null ? message : putBack(message as object, state)
  })
  return isChanged ? { ...asked, messages: acceptable(restored as object[]) } : asked
}

/** Keeps the reasoning of a message: its client may bring back only its text and its calls. */
export function keepReasoning(message: unknown, { reasoning }: Pick<ReplyContext, 'reasoning'>): void {
  const fields = fieldsOrNone(message)
  const state = readState(fields)
  if (state !== null) reasoning.keep(fields, state)
}

/** Watches a chat stream for reasoning to keep. */
export interface ReasoningWatch {
  /** Reads whole events. @returns those for the client */
  read(events: Buffer): Buffer | null
  /** Keeps what was read, once, at the end of the answer. */
  keep(): void
}

/**
 * Creates a watch. Streams without reasoning or tools are not parsed.
 *
 * @param tap tells which events need no look
 */
export function watchReasoning(
  context: Pick<ReplyContext, 'reasoning' | 'provider' | 'asked'>,
  tap: Pick<SseTap, 'isPlain'>,
): ReasoningWatch {
  const joined = joinChunks()
  /** Without tools, no model needs its reasoning back. */
  const isKeeping = objectsOrNone(context.asked.tools).length > 0
  /** Calls before any reasoning: their signatures may come after them. */
  let earlier: Buffer[] = []
  let isThinking = false
  let isKept = false
  const isConverted = context.provider.protocol === 'anthropic'

  return {
    read(events) {
      const text = tap.isPlain() ? '' : events.toString('latin1')
      const isMarked = REASONED.test(text)
      if (!isMarked && !isThinking && isKeeping && CALLED.test(text)) earlier.push(events)
      isThinking ||= isMarked
      if (!isMarked && !(isThinking && isKeeping)) return events
      // A signature may come after the end of the answer.
      if (isMarked) isKept = false
      for (const event of earlier.flatMap(splitEvents)) joined.push(eventData(event) ?? {})
      earlier = []
      const passed = splitEvents(events).filter((event) => {
        const data = eventData(event)
        if (data !== null) joined.push(data)
        return !(isConverted && hasBlocks(data))
      })
      return passed.length === 0 ? null : Buffer.concat(passed)
    },
    keep() {
      if (isKept) return
      isKept = true
      const [choice] = joined.isBegun() ? objectsOrNone(joined.completion().choices) : []
      if (choice) keepReasoning(choice.message, context)
    },
  }
}

/** Tells whether a chunk has nothing but blocks, as the conversion writes them. */
const hasBlocks = (data: unknown): boolean =>
  objectsOrNone(fieldsOrNone(data).choices).some(({ delta }) => BLOCKS in fieldsOrNone(delta))

/** A converted completion for its chat client, without the blocks. */
export function withoutBlocks<Answer extends object>(completion: Answer): Answer {
  const choices = objectsOrNone(fieldsOrNone(completion).choices).map((choice) => {
    const { [BLOCKS]: blocks, ...message } = fieldsOrNone(choice.message)
    return { ...choice, message }
  })
  return { ...completion, choices }
}
