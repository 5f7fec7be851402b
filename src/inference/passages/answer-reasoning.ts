import { objectsOrNone } from '../../text/lenient-reader.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { firstCall, messageOf } from '../convert/calls-without-reasoning.ts'
import { firstUse, useMessage } from '../convert/messages-calls-without-reasoning.ts'
import type { SealState } from '../convert/thinking-blocks.ts'
import { joinStates, type ReasoningState } from '../reasoning/reasoning-state.ts'
import { isSealed } from '../reasoning/seal.ts'
import type { ReplyContext } from './passage.ts'

/** Value of `include` with which a client asks for reasoning that it brings back. */
const ENCRYPTED = 'reasoning.encrypted_content'

/** Seals the reasoning of a converted answer, and keeps it for a client that may not bring it back. */
export interface AnswerReasoning {
  seal: SealState
  /** Keeps what was sealed, by the first call of the answer, before the client has its end. */
  keep(output: unknown): void
}

type Context = Pick<ReplyContext, 'asked' | 'reasoning'>

/** Creates the reasoning of one Response. That of clients which ask for encrypted reasoning is not kept: they return it. */
export function responseReasoning(context: Context): AnswerReasoning {
  const { include } = context.asked
  const isBrought = Array.isArray(include) && include.includes(ENCRYPTED)
  return answerReasoning(context, isBrought, (output) => {
    const call = firstCall(output)
    return call && messageOf(call)
  })
}

/** Creates the reasoning of one Message. That of clients which bring thinking back in this request is not kept. */
export const messageReasoning = (context: Context): AnswerReasoning =>
  answerReasoning(context, context.reasoning.mayBring() && bringsThinking(context.asked), (content) => {
    const use = firstUse(content)
    return use && useMessage(use)
  })

/** Tells whether a Messages request brings sealed thinking. A text may speak of seals too. */
const bringsThinking = ({ messages }: Fields): boolean =>
  objectsOrNone(messages).some(({ content }) =>
    objectsOrNone(content).some(({ signature, data }) => isSealed(signature ?? data)),
  )

/** @param messageIn finds the first call of an answer, as the message that its reasoning is found by */
function answerReasoning(
  { asked, reasoning }: Context,
  isBrought: boolean,
  messageIn: (output: unknown) => Fields | undefined,
): AnswerReasoning {
  const isKeeping = objectsOrNone(asked.tools).length > 0 && !isBrought
  const states: ReasoningState[] = []
  return {
    seal(state) {
      if (isKeeping) states.push(state)
      return reasoning.seal(state)
    },
    keep(output) {
      const message = states.length === 0 ? undefined : messageIn(output)
      if (message !== undefined) reasoning.keep(message, joinStates(states))
    },
  }
}
