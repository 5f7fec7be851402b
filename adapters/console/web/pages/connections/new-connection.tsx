import { useState } from 'preact/hooks'
import type { Role } from '../../../../../src/identity/tickets.ts'
import type { IssuedTicket } from '../../../../platform/routes/connections-routes.ts'
import { api } from '../../api.ts'
import { Copy, Countdown, Facts } from '../../components/content.ts'
import { Dialog, FormDialog, Primary } from '../../components/forms.ts'
import { session } from '../../signed-in.ts'

/** Creates a ticket for an agent or a person, and shows it once. */
export function NewConnection({ onClose }: { onClose: () => void }) {
  const [ticket, setTicket] = useState<IssuedTicket | null>(null)
  const create = async (draft: { user: string; role: Role }) => {
    setTicket(await api.post('/api/connections', draft))
  }
  if (ticket) return <NewTicket ticket={ticket} onClose={onClose} />
  const isAdmin = session.value?.isAdmin
  const roleHint = isAdmin ? 'An admin may also ask for operator figures.' : 'Admin connections need an admin key.'
  return (
    <FormDialog
      title="New connection"
      action="Create"
      initial={{ user: '', role: 'user' as Role }}
      fields={[
        { name: 'user', label: 'User', hint: 'Name shown to the agent.', required: true, maxLength: 200 },
        { name: 'role', label: 'Role', hint: roleHint, options: isAdmin ? ['user', 'admin'] : ['user'] },
      ]}
      onSubmit={create}
      onClose={onClose}
    />
  )
}

function NewTicket({ ticket, onClose }: { ticket: IssuedTicket; onClose: () => void }) {
  return (
    <Dialog title="New connection" onClose={onClose}>
      <div class="stack">
        <p>
          Connect within <Countdown to={ticket.expires_at} over="no time: the ticket has expired, create another" />.
          The ticket works once and is shown only once.
        </p>
        <Facts
          of={{
            Address: <Copy text={ticket.url} label="Copy the address" />,
            Ticket: <Copy text={ticket.ticket} label="Copy the ticket" />,
          }}
        />
        <p class="hint">
          Offer the subprotocols <code>gazeway.v1</code> and <code>ticket.TICKET</code>, or send the ticket in the first
          frame. The connection then appears in the list.
        </p>
        <div class="actions end">
          <Primary onClick={onClose}>Done</Primary>
        </div>
      </div>
    </Dialog>
  )
}
