import { useState } from 'preact/hooks'
import type { ConnectionRecord } from '../../../../../src/connections/live-connection.ts'
import type { Closed } from '../../../../platform/routes/connections-routes.ts'
import { api } from '../../api.ts'
import {
  Badge,
  Button,
  Card,
  Confirm,
  DataTable,
  Empty,
  ErrorNote,
  Loading,
  notify,
  Page,
  Pager,
  When,
} from '../../components/components.ts'
import { count, shortId } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { Chat } from './chat.tsx'
import { NewConnection } from './new-connection.tsx'
import './connections.css'

/** Messages about a closed connection. */
const CLOSINGS: Record<Closed['status'], string> = {
  closed: 'The connection is closed.',
  closing: 'Another process closes the connection within 5 seconds.',
  cancelled: 'The unused ticket is cancelled.',
}

/** Agent sockets: open connections, tickets for new ones, and a chat. */
export default function Connections() {
  const page = usePage<ConnectionRecord>('/api/connections', { everyMs: 1500 })
  const [making, setMaking] = useState(false)
  const [ending, setEnding] = useState<ConnectionRecord | null>(null)

  const end = async ({ id }: ConnectionRecord) => {
    const { status } = await api.delete<Closed>(`/api/connections/${id}`)
    notify(CLOSINGS[status])
    page.reload()
  }

  return (
    <Page
      title="Connections"
      intro="Agents and people connected to the agent socket, across all processes on this store."
      actions={
        <Button tone="primary" onClick={() => setMaking(true)}>
          New connection
        </Button>
      }
    >
      <Card title="Live connections">
        <ErrorNote error={page.error} onRetry={page.reload} />
        {page.data === null && page.loading ? (
          <Loading what="the connections" />
        ) : (
          <DataTable<ConnectionRecord>
            label="Live connections"
            rows={page.items}
            rowKey={({ id }) => id}
            columns={[
              { key: 'user', label: 'User' },
              {
                key: 'role',
                label: 'Role',
                render: ({ role }) => <Badge tone={role === 'admin' ? 'accent' : 'neutral'}>{role}</Badge>,
              },
              {
                key: 'session_id',
                label: 'Session',
                render: ({ session_id }) => <code title={session_id}>{shortId(session_id)}</code>,
              },
              { key: 'key_id', label: 'Key', render: ({ key_id }) => <code title={key_id}>{shortId(key_id)}</code> },
              { key: 'remote', label: 'From' },
              { key: 'messages', label: 'Frames', align: 'right', render: ({ messages }) => count(messages) },
              { key: 'connected_at', label: 'Since', render: ({ connected_at }) => <When at={connected_at} /> },
              {
                key: 'last_active_at',
                label: 'Last frame',
                render: ({ last_active_at }) => <When at={last_active_at} />,
              },
              {
                key: 'end',
                label: 'Action',
                align: 'right',
                render: (row) => (
                  <Button size="small" label={`Disconnect ${row.user}`} onClick={() => setEnding(row)}>
                    Disconnect
                  </Button>
                ),
              },
            ]}
            of={page}
            empty={
              <Empty
                title="No connections"
                hint="Create a connection for an agent with “New connection”, or connect in the chat below."
              />
            }
          />
        )}
        <Pager page={page} />
      </Card>
      <Chat onChange={page.reload} />
      <NewConnection open={making} onClose={() => setMaking(false)} />
      <Confirm
        title="Disconnect?"
        open={ending !== null}
        action="Disconnect"
        body={
          <p>
            The socket of <strong>{ending?.user}</strong> will be closed, and a pending answer will be lost.
            Reconnecting needs a new ticket.
          </p>
        }
        onConfirm={() => (ending ? end(ending) : undefined)}
        onClose={() => setEnding(null)}
      />
    </Page>
  )
}
