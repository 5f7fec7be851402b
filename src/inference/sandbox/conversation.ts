import { GazewayError } from '../../errors.ts'
import { withoutFraming } from './without-framing.ts'

/** One step of a conversation, in the shared form of chat completions and responses. */
export type Turn =
  | { role: 'system' | 'user' | 'assistant'; text: string }
  | { role: 'call'; callId: string; tool: string }
  | { role: 'result'; callId: string; text: string }

/** Result of a tool that did not run. */
const FAILED = /^(?:<tool_use_error>|error\b)/i

/** Answer of a tool. */
export interface ToolResult {
  tool: string
  text: string
}

/**
 * Checks that every tool result answers an earlier call, as providers do.
 *
 * @throws GazewayError `invalid_request` for one that does not
 */
export function checkResults(turns: Turn[], param: string): void {
  const called = new Set<string>()
  for (const turn of turns) {
    if (turn.role === 'call') called.add(turn.callId)
    if (turn.role !== 'result' || called.has(turn.callId)) continue
    throw new GazewayError('invalid_request', `No tool call found for the tool result with call id '${turn.callId}'.`, {
      param,
    })
  }
}

/**
 * The part of a conversation that may be quoted: the user's own text, and the results of tools. Clients add reminders,
 * instructions and context to both; a message of nothing else is omitted.
 */
export function quotable(turns: Turn[]): Turn[] {
  return turns.flatMap((turn): Turn[] => {
    if (turn.role === 'system' || turn.role === 'assistant') return []
    if (turn.role === 'call') return [turn]
    const text = withoutFraming(turn.text)
    return turn.role === 'user' && text === '' ? [] : [{ ...turn, text }]
  })
}

/** The question: the last user message, empty when there is none. */
export function questionOf(turns: Turn[]): string {
  const asked = turns.findLast((turn) => turn.role === 'user')
  return asked && 'text' in asked ? asked.text : ''
}

/** Tells whether a tool gave something to answer with. */
export const isUseful = ({ text }: ToolResult): boolean => text.trim() !== '' && !FAILED.test(text.trim())

/** Tool results since the last user message, in order. */
export function resultsSinceQuestion(turns: Turn[]): ToolResult[] {
  const names = new Map<string, string>()
  for (const turn of turns) if (turn.role === 'call') names.set(turn.callId, turn.tool)
  const from = turns.findLastIndex((turn) => turn.role === 'user') + 1
  return turns
    .slice(from)
    .flatMap((turn) =>
      turn.role === 'result' ? [{ tool: names.get(turn.callId) ?? turn.callId, text: turn.text }] : [],
    )
}
