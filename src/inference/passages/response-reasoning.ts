import { objectsOrNone } from '../../text/lenient-reader.ts'
import { firstCall, messageOf } from '../convert/calls-alone.ts'
import type { SealState } from '../convert/thoughts.ts'
import { joinStates, type ReasoningState } from '../reasoning/reasoning-state.ts'
import type { ReplyContext } from './passage.ts'

/** Value of `include` with which a client asks for reasoning that it brings back. */
const ENCRYPTED = 'reasoning.encrypted_content'

/** Seals the reasoning of a converted Response, and keeps it for a client that may not bring it back. */
export interface ResponseReasoning {
  seal: SealState
  /** Keeps what was sealed, by the first call of the output, before the client has the end of its answer. */
  keep(output: unknown): void
}

/** Creates the reasoning of one answer. That of clients which ask for encrypted reasoning is not kept: they return it. */
export function responseReasoning({ asked, reasoning }: Pick<ReplyContext, 'asked' | 'reasoning'>): ResponseReasoning {
  const { tools, include } = asked
  const isKeeping = objectsOrNone(tools).length > 0 && !(Array.isArray(include) && include.includes(ENCRYPTED))
  const states: ReasoningState[] = []
  return {
    seal(state) {
      if (isKeeping) states.push(state)
      return reasoning.seal(state)
    },
    keep(output) {
      const call = states.length === 0 ? undefined : firstCall(output)
      if (call !== undefined) reasoning.keep(messageOf(call), joinStates(states))
    },
  }
}
