/** One agent socket that is open, as of the last few seconds, on the instance that serves it. */
export interface ConnectionRow {
  id: string
  instance: string
  key_id: string
  user_name: string
  role: string
  session_id: string
  remote: string
  messages: number
  connected_at: string
  last_active_at: string
  /** When its closing was asked for; whoever serves it does it. */
  closing_at: string | null
}

/** One process that serves sockets; those of a process that has not renewed `alive_until` are gone with it. */
export interface ConnectionInstanceRow {
  id: string
  alive_until: string
}

/**
 * One ticket that nobody has used yet. `hash` is its SHA-256, in hex, the fixed key behind it where that made it; `id` is the
 * connection's that it opens.
 */
export interface ConnectionTicketRow {
  id: string
  hash: string
  key_id: string
  user_name: string
  role: string
  expires_at: string
}

export interface ConnectionTables {
  connections: ConnectionRow
  connection_instances: ConnectionInstanceRow
  connection_tickets: ConnectionTicketRow
}
