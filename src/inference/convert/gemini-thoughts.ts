import type { Fields } from '../../text/typed-reader.ts'
import type { CallReasoning } from '../reasoning/reasoning.ts'
import { createStateReader, joinStates, NO_STATE, type ReasoningState } from '../reasoning/reasoning-state.ts'
import { toBase64 } from '../reasoning/seal.ts'
import { callMessage } from './calls-without-reasoning.ts'
import type { ChatAnswer } from './chat-answer.ts'

/** Carries the reasoning of an answer: sealed for the client to bring back, and kept for one that drops the seals. */
export type AnswerReasoning = Pick<CallReasoning, 'seal' | 'keep'>

/** Thoughts of one Gemini answer, as its client sees them and brings them back. */
export interface GeminiThoughts {
  /** Reads a piece of the chat answer. @returns the part with its thoughts, for a client that wants to see them */
  read(said: Pick<ChatAnswer, 'reasoning' | 'state'>): Fields[]
  /** Signature of the next part: the sealed state since the last one. Empty without any. @param calls states of calls by id */
  signature(calls?: Readonly<Record<string, Fields>>): Fields
  /** Keeps what was sealed, by the first call of the answer. */
  keep(first: { id: string; name: string; args: string }): void
}

/**
 * Creates the thoughts of an answer that has none yet.
 *
 * @param reasoning null for a client that need not bring the state back
 * @param isShown true when the client wants to see the thoughts
 */
export function createGeminiThoughts(reasoning: AnswerReasoning | null, isShown: boolean): GeminiThoughts {
  const state = createStateReader()
  const states: ReasoningState[] = []
  return {
    read(said) {
      state.add(said.state)
      return isShown && said.reasoning !== '' ? [{ text: said.reasoning, thought: true }] : []
    },
    signature(calls = {}) {
      if (reasoning === null) return {}
      const taken = state.take()
      if (taken === null && Object.keys(calls).length === 0) return {}
      const whole = { ...(taken ?? NO_STATE), calls }
      states.push(whole)
      const sealed = reasoning.seal(whole)
      return sealed === '' ? {} : { thoughtSignature: toBase64(sealed) }
    },
    keep({ id, name, args }) {
      if (states.length > 0)
        reasoning?.keep(callMessage({ id, function: { name, arguments: args } }), joinStates(states))
    },
  }
}
