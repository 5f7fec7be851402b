import * as z from 'zod'
import { Closing, ConnectionId, ConnectionRecord } from '../../../src/connections/connections.ts'
import type { Identity } from '../../../src/identity/keys.ts'
import { NewTicket } from '../../../src/identity/tickets.ts'
import { ListQuery } from '../../../src/store/page.ts'
import { callerOf } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { reachedAt } from '../../web/reached-address.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'
import type { AgentSocket } from '../socket/socket.ts'
import { SOCKET_PATH } from '../socket/upgrade-request.ts'

const IssuedTicket = z.object({
  id: ConnectionId.describe('Id of the connection that the ticket opens.'),
  url: z.url().describe('Address of the socket, on the host of the request.'),
  ticket: z.string().describe('The ticket. Shown only once.'),
  expires_at: z.iso.datetime(),
})
export type IssuedTicket = z.infer<typeof IssuedTicket>

const Closed = z.object({ id: ConnectionId, status: Closing })
export type Closed = z.infer<typeof Closed>

/**
 * Routes of the agent socket's tickets and open connections.
 *
 * @param publicUrl public address of the service, such as that of a TLS proxy
 */
export const connectionRoutes = (
  { tickets, connections }: Pick<AgentSocket, 'tickets' | 'connections'>,
  publicUrl: () => string | null,
): Route[] => [
  defineRoute('GET /api/connections', {
    operation: 'listConnections',
    summary: 'List open agent sockets, newest first',
    description: 'An admin sees all connections, in all processes on the store. Others see those of their key.',
    access: 'platform',
    query: ListQuery.strict(),
    reply: pageOf(ConnectionRecord),
    run: ({ query, c }) => listReply(query, (part) => connections.list(part, visibleTo(callerOf(c)))),
  }),
  defineRoute('POST /api/connections', {
    operation: 'createConnection',
    summary: 'Create a ticket that opens one agent socket',
    description:
      'The ticket works once, within 60 s, in any process on the store. Offer it as the subprotocol ticket.TICKET beside ' +
      "gazeway.v1, or send it in the first frame. Tickets of the role admin need an admin's key.",
    access: 'platform',
    body: NewTicket,
    reply: IssuedTicket,
    status: 201,
    idempotent: true,
    secret:
      'If you did not receive the reply, request another ticket with a new Idempotency-Key; an unused ticket expires after 60 s.',
    async run({ body, c }) {
      const { id, ticket, expiresAt } = await tickets.issue(body, callerOf(c))
      const base = reachedAt(c.env.incoming.headers, publicUrl())
      return { id, url: base.replace(/^http/, 'ws') + SOCKET_PATH, ticket, expires_at: expiresAt }
    },
  }),
  defineRoute('DELETE /api/connections/{id}', {
    operation: 'closeConnection',
    summary: 'Close an agent socket',
    description:
      'A connection of this process is closed at once (closed), one of another process within 5 s (closing). An ' +
      'unused ticket is revoked (cancelled).',
    access: 'platform',
    params: z.strictObject({ id: ConnectionId }),
    reply: Closed,
    run: async ({ params: { id }, c }) => ({ id, status: await connections.end(id, visibleTo(callerOf(c))) }),
  }),
]

/** Owner whose connections a caller may see; null for all. */
const visibleTo = ({ id, scopes }: Identity): string | null => (scopes.has('admin') ? null : id)
