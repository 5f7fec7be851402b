/** A conversation with models through the tools. `owner` is a key's id, or empty for this machine's user. */
export interface ConversationRow {
  id: string
  owner: string
  turns: number
  bytes: number
  expires_at: string
}

/** One turn of a conversation: `messages` is a JSON list of chat messages that ends with the answer. */
export interface ConversationTurnRow {
  conversation_id: string
  turn: number
  messages: string
}

export interface ConversationTables {
  conversations: ConversationRow
  conversation_turns: ConversationTurnRow
}
