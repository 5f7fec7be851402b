/** One open agent socket, on the instance that serves it; updated every few seconds. */
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
  /** Time at which closing was requested. The process that serves the socket closes it. */
  closing_at: string | null
}

/** A process that serves sockets. When it stops renewing `alive_until`, its sockets count as closed. */
export interface ConnectionInstanceRow {
  id: string
  alive_until: string
}

/**
 * An unused ticket. `hash` is its SHA-256, in hex; for a ticket that the fixed key created, the hash also covers that
 * key. `id` is the id of the connection that it opens.
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
