import type { Generated } from 'kysely'

/** One chat session with its running totals. `model` is null when the configured chat model answers. */
export interface SessionRow {
  id: string
  user_id: string
  source: string
  title: string | null
  model: string | null
  started_at: string
  last_active_at: string
  ended_at: string | null
  end_reason: string | null
  parent_session_id: string | null
  message_count: number
  tool_call_count: number
  input_tokens: number
  output_tokens: number
  cost_micros: number
  preview: string
}

/** One message. `position` counts from 1 in each session; the two messages of an exchange are adjacent. */
export interface SessionMessageRow {
  session_id: string
  position: number
  id: string
  role: string
  name: string | null
  content: string
  at: string
  tensor: string | null
  poa_score: number | null
  token_count: number
  call_id: string | null
}

/** Search index: the distinct words of one exchange (`position` of its first message), or of the title (position 0). */
export interface SessionTextRow {
  seq: Generated<number>
  session_id: string
  user_id: string
  position: number
  words_text: string
}

/** Number of sessions of a user from one source. */
export interface SessionTotalRow {
  user_id: string
  source: string
  sessions: number
}

export interface SessionTables {
  sessions: SessionRow
  session_messages: SessionMessageRow
  session_texts: SessionTextRow
  session_totals: SessionTotalRow
}
