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
  /** Time at which its closing was requested. The process that serves it closes it. */
  closing_at: string | null
}

/** A process that serves sockets. When it stops renewing `alive_until`, its sockets are gone. */
export interface ConnectionInstanceRow {
  id: string
  alive_until: string
}

/**
 * An unused ticket. `hash` is its SHA-256, in hex; of the fixed key behind it, when that made it. `id` is that of the
 * connection it opens.
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
