import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api } from '../../api.ts'
import { spendColumns } from '../../components/budgets.tsx'
import {
  Badge,
  Button,
  Card,
  Confirm,
  DataTable,
  Empty,
  ErrorNote,
  notify,
  Pager,
  When,
} from '../../components/components.ts'
import { usePage } from '../../paging.ts'
import { session } from '../../signed-in.ts'
import { useGroups } from '../../use-groups.ts'
import { EditKeyDialog } from './edit-key.tsx'
import { KeyState } from './key-state.tsx'
import { NewKeyDialog } from './new-key.tsx'
import { RotateKeyDialog } from './rotate-key.tsx'

/** Keys with their scopes, billing, spending and state. */
export function Keys({ isAdmin }: { isAdmin: boolean }) {
  if (isAdmin) return <KeyList />
  return <Empty title="Admin key required" hint="Sign in with an admin key to create, list and revoke keys." />
}

function KeyList() {
  const page = usePage<KeyRecord>('/api/keys', { everyMs: 5000 })
  const [making, setMaking] = useState(false)
  const [editing, setEditing] = useState<KeyRecord | null>(null)
  const [rotating, setRotating] = useState<KeyRecord | null>(null)
  const [revoking, setRevoking] = useState<KeyRecord | null>(null)
  const groups = useGroups()

  const revoke = async () => {
    if (!revoking) return
    await api.delete(`/api/keys/${revoking.id}`)
    notify(`Revoked ${revoking.name}.`)
    page.reload()
  }

  return (
    <Card
      title="Keys"
      actions={
        <Button tone="primary" onClick={() => setMaking(true)}>
          New key
        </Button>
      }
    >
      <ErrorNote error={page.data ? null : page.error} onRetry={page.reload} />
      {page.data && (
        <DataTable
          label="Keys"
          rows={page.items}
          rowKey={({ id }) => id}
          empty={
            <Empty
              title="No keys yet"
              hint="Create one key per assistant or service, to identify and revoke each separately."
            />
          }
          columns={[
            {
              key: 'name',
              label: 'Name',
              render: ({ name, id, group }) => (
                <>
                  <span title={id}>
                    {name} {id === session.value?.id && <Badge tone="accent">you</Badge>}
                  </span>
                  {group !== null && <div class="muted">in {groups.nameOf(group)}</div>}
                </>
              ),
            },
            { key: 'scopes', label: 'Scopes' },
            { key: 'billing', label: 'Billing' },
            ...spendColumns<KeyRecord>(({ limits }) => limits.budgets),
            { key: 'last_used_at', label: 'Last used', render: (key) => <When at={key.last_used_at} /> },
            { key: 'state', label: 'State', render: (key) => <KeyState of={key} /> },
            {
              key: 'actions',
              label: '',
              align: 'right',
              render: (key) =>
                key.revoked_at === null && (
                  <div class="actions">
                    <Button size="small" label={`Edit ${key.name}`} onClick={() => setEditing(key)}>
                      Edit
                    </Button>
                    <Button size="small" label={`Rotate ${key.name}`} onClick={() => setRotating(key)}>
                      Rotate
                    </Button>
                    <Button size="small" label={`Revoke ${key.name}`} onClick={() => setRevoking(key)}>
                      Revoke
                    </Button>
                  </div>
                ),
            },
          ]}
        />
      )}
      <Pager page={page} />
      {making && <NewKeyDialog onMade={page.reload} onClose={() => setMaking(false)} />}
      {editing && <EditKeyDialog of={editing} onClose={() => setEditing(null)} onChanged={page.reload} />}
      {rotating && <RotateKeyDialog of={rotating} onClose={() => setRotating(null)} onRotated={page.reload} />}
      <Confirm
        title={`Revoke ${revoking?.name ?? 'this key'}?`}
        open={revoking !== null}
        onClose={() => setRevoking(null)}
        onConfirm={revoke}
        action="Revoke key"
        body={
          <>
            <p>
              Requests with this key will be refused: at once in this process, within 5 seconds in others. This cannot
              be undone.
            </p>
            {revoking?.id === session.value?.id && <p>You are signed in with this key and will be signed out.</p>}
          </>
        }
      />
    </Card>
  )
}
