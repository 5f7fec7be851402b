import type { SessionMessageRow } from '../store/tables/sessions-tables.ts'

/** Tokens of a message besides its text: its role and delimiters. */
export const MESSAGE_TOKENS = 4

/** A message in the form that models receive. */
export interface HistoryMessage {
  role: 'user' | 'assistant'
  content: string
}

/**
 * Selects the newest exchanges of a conversation that fit into a token budget, oldest first. An exchange is kept whole
 * or dropped, and all exchanges before a dropped one are dropped. Reads no more messages than needed.
 *
 * @param newest the messages, newest first: an answer, its question, the answer before, …
 * @param budget in tokens; each message counts its text and 4 for its role and delimiters
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
