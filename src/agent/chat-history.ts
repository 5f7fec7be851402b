import type { SessionMessageRow } from '../store/tables/sessions-tables.ts'

/** Tokens of a message besides its text: its role and delimiters. */
export const MESSAGE_TOKENS = 4

/** A message as a model is sent it. */
export interface HistoryMessage {
  role: 'user' | 'assistant'
  content: string
}

/**
 * The newest exchanges of a conversation that fit into a budget together, oldest first. An exchange is kept whole or left
 * out, and nothing before one that was left out is kept. The messages are read only as far as they are kept.
 *
 * @param newest the messages, newest first: an answer, its question, the answer before, …
 * @param budget in tokens, counting each message's text and 4 for what is around it
 */
export async function historyWithin(
  newest: AsyncIterable<Pick<SessionMessageRow, 'role' | 'content' | 'token_count'>>,
  budget: number,
): Promise<HistoryMessage[]> {
  const kept: HistoryMessage[] = []
  let exchange: HistoryMessage[] = []
  let left = budget
  for await (const { role, content, token_count } of newest) {
    left -= token_count + MESSAGE_TOKENS
    if (left < 0) break
    exchange.push({ role: role === 'user' ? 'user' : 'assistant', content })
    if (role !== 'user') continue
    kept.push(...exchange)
    exchange = []
  }
  return kept.reverse()
}
