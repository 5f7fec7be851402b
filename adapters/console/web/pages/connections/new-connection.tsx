import { useState } from 'preact/hooks'
import type { Role } from '../../../../../src/identity/tickets.ts'
import type { IssuedTicket } from '../../../../platform/routes/connections-routes.ts'
import { api } from '../../api.ts'
import { Button, Copy, Countdown, Dialog, Field, Select, SubmitForm, TextInput } from '../../components/components.ts'
import { session } from '../../signed-in.ts'

/** Creates a ticket for an agent or a person, and shows it once. */
export function NewConnection({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [user, setUser] = useState('')
  const [role, setRole] = useState<Role>('user')
  const [ticket, setTicket] = useState<IssuedTicket | null>(null)
  const close = () => {
    setTicket(null)
    onClose()
  }
  const create = async () => {
    setTicket(await api.post<IssuedTicket>('/api/connections', { user, role }))
  }
  return (
    <Dialog title="New connection" open={open} onClose={close}>
      {ticket === null ? (
        <SubmitForm action="Create" onSubmit={create} onCancel={close}>
          {(faultOf) => (
            <>
              <Field label="User" error={faultOf('user')} hint="Name shown to the agent.">
                <TextInput value={user} onInput={setUser} required maxLength={200} />
              </Field>
              <Field
                label="Role"
                error={faultOf('role')}
                hint={
                  session.value?.isAdmin
                    ? 'An admin may also ask for operator figures.'
                    : 'Admin connections need an admin key.'
                }
              >
                <Select
                  value={role}
                  options={session.value?.isAdmin ? ['user', 'admin'] : ['user']}
                  onChange={setRole}
                />
              </Field>
            </>
          )}
        </SubmitForm>
      ) : (
        <div class="stack">
          <p>
            Connect within <Countdown to={ticket.expires_at} over="no time: the ticket has expired, create another" />.
            The ticket works once and is shown only once.
          </p>
          <dl class="facts">
            <dt>Address</dt>
            <dd>
              <Copy text={ticket.url} label="Copy the address" />
            </dd>
            <dt>Ticket</dt>
            <dd>
              <Copy text={ticket.ticket} label="Copy the ticket" />
            </dd>
          </dl>
          <p class="hint">
            Offer the subprotocols <code>gazeway.v1</code> and <code>ticket.TICKET</code>, or send the ticket in the
            first frame. The connection then appears in the list.
          </p>
          <div class="actions end">
            <Button tone="primary" onClick={close}>
              Done
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  )
}
