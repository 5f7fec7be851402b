import * as z from 'zod'
import { Role } from '../identity/tickets.ts'
import type { ConnectionRow } from '../store/tables/connections-tables.ts'

/** The id of a connection. */
export const ConnectionId = z
  .string()
  .regex(/^conn_[0-9a-f]{32}$/)
  .meta({ accepted: 'the id of a connection, such as conn_019aa5b2c3d47e6f8091a2b3c4d5e6f7' })

/** A connection in lists. */
export const ConnectionRecord = z.object({
  id: ConnectionId,
  user: z.string().describe('Name of the chatting user.'),
  role: Role,
  session_id: z.string().describe('Session of its chats.'),
  key_id: z.string().describe('Key that opened the connection or created its ticket.'),
  remote: z.string().describe('Address of the client.'),
  messages: z.int().describe('Number of received frames.'),
  connected_at: z.iso.datetime(),
  last_active_at: z.iso.datetime().describe('Time of the last received frame; for other processes, at most 6 s old.'),
})
export type ConnectionRecord = z.infer<typeof ConnectionRecord>

/**
 * A connection that this process serves. The serving code updates its counters. Times are in milliseconds since 1970.
 */
export interface LiveConnection {
  readonly id: string
  readonly keyId: string
  readonly user: string
  readonly role: Role
  readonly sessionId: string
  readonly remote: string
  readonly connectedAt: number
  lastActiveAt: number
  messages: number
  /** Closes the socket. */
  close(reason: CloseReason): void
}

/** Reason for closing a connection: a request, or the revocation of its key. */
export type CloseReason = 'asked' | 'revoked'

/** The row of a connection that `instance` serves. */
export const rowOf = (live: LiveConnection, instance: string): ConnectionRow => ({
  id: live.id,
  instance,
  key_id: live.keyId,
  user_name: live.user,
  role: live.role,
  session_id: live.sessionId,
  remote: live.remote,
  messages: live.messages,
  connected_at: new Date(live.connectedAt).toISOString(),
  last_active_at: new Date(live.lastActiveAt).toISOString(),
  closing_at: null,
})

/** Converts a row to a record. */
export const recordOf = (row: ConnectionRow): ConnectionRecord => ({
  id: row.id,
  user: row.user_name,
  role: Role.parse(row.role),
  session_id: row.session_id,
  key_id: row.key_id,
  remote: row.remote,
  messages: row.messages,
  connected_at: row.connected_at,
  last_active_at: row.last_active_at,
})
