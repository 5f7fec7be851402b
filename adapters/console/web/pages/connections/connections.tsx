import { useState } from 'preact/hooks'
import type { ConnectionRecord } from '../../../../../src/connections/live-connection.ts'
import type { Closed } from '../../../../platform/routes/connections-routes.ts'
import { api } from '../../api.ts'
import { Caller } from '../../components/caller-name.tsx'
import { Badge, notify, Page } from '../../components/content.ts'
import { Confirm, Primary } from '../../components/forms.ts'
import { curlOf } from '../../components/layout.tsx'
import { actionsColumn, type Column, countColumn, idColumn, ListCard, whenColumn } from '../../components/lists.ts'
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

const COLUMNS: Column<ConnectionRecord>[] = [
  { key: 'user', label: 'User' },
  {
    key: 'role',
    label: 'Role',
    render: ({ role }) => <Badge tone={role === 'admin' ? 'accent' : 'neutral'}>{role}</Badge>,
  },
  idColumn('session_id', 'Session'),
  { key: 'key_id', label: 'Key', render: ({ key_id }) => <Caller id={key_id} /> },
  { key: 'remote', label: 'From' },
  countColumn('messages', 'Frames'),
  whenColumn('connected_at', 'Since'),
  whenColumn('last_active_at', 'Last frame'),
]

/** Agent sockets: open connections, tickets for new ones, and a chat. */
export default function Connections() {
  const page = usePage<ConnectionRecord>('/api/connections', { everyMs: 1500 })
  const [making, setMaking] = useState(false)
  const [ending, setEnding] = useState<ConnectionRecord | null>(null)

  const end = async ({ id }: ConnectionRecord) => {
    const { status } = await api.delete(`/api/connections/${id}`)
    notify(CLOSINGS[status])
    page.reload()
  }

  return (
    <Page
      title="Connections"
      intro="Agents and people connected to the agent socket, across all processes on this store."
      actions={<Primary onClick={() => setMaking(true)}>New connection</Primary>}
    >
      <ListCard<ConnectionRecord>
        title="Live connections"
        label="Live connections"
        list={page}
        loading="the connections"
        columns={[...COLUMNS, actionsColumn('Action', ({ user }) => user, [{ word: 'Disconnect', onAct: setEnding }])]}
        empty={{
          title: 'No connections',
          hint: 'Create a connection for an agent with “New connection”, connect in the chat below, or have an agent ask for a ticket:',
          command: curlOf('/api/connections', { user: 'ada' }),
        }}
      />
      <Chat onChange={page.reload} />
      {making && <NewConnection onClose={() => setMaking(false)} />}
      {ending && (
        <Confirm
          title="Disconnect?"
          action="Disconnect"
          body={
            <p>
              The socket of <strong>{ending.user}</strong> will be closed, and a pending answer will be lost.
              Reconnecting needs a new ticket.
            </p>
          }
          onConfirm={() => end(ending)}
          onClose={() => setEnding(null)}
        />
      )}
    </Page>
  )
}
