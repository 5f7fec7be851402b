import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api } from '../../api.ts'
import { spendColumns } from '../../components/budgets.tsx'
import {
  actionsColumn,
  Badge,
  Confirm,
  Empty,
  ListCard,
  notify,
  Primary,
  When,
  whenColumn,
} from '../../components/components.ts'
import { timeOf } from '../../format.ts'
import { now } from '../../now.ts'
import { usePage } from '../../paging.ts'
import { session } from '../../signed-in.ts'
import { type Groups, useGroups } from '../../use-groups.ts'
import { EditKeyDialog } from './edit-key.tsx'
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

  const actions = [
    { word: 'Edit', onAct: setEditing },
    { word: 'Rotate', onAct: setRotating },
    { word: 'Revoke', onAct: setRevoking },
  ]
  return (
    <>
      <ListCard<KeyRecord>
        title="Keys"
        actions={<Primary onClick={() => setMaking(true)}>New key</Primary>}
        label="Keys"
        list={page}
        error={page.data ? null : page.error}
        rowKey={({ id }) => id}
        empty={
          <Empty
            title="No keys yet"
            hint="Create one key per assistant or service, to identify and revoke each separately."
          />
        }
        columns={[
          { key: 'name', label: 'Name', render: (key) => <Name of={key} groups={groups} /> },
          { key: 'scopes', label: 'Scopes', fold: 'first' },
          { key: 'billing', label: 'Billing', fold: 'first' },
          ...spendColumns<KeyRecord>(({ limits }) => limits.budgets),
          whenColumn('last_used_at', 'Last used'),
          { key: 'state', label: 'State', fold: 'last', render: (key) => <KeyState of={key} /> },
          actionsColumn(
            '',
            ({ name }) => name,
            actions,
            ({ revoked_at }) => revoked_at === null,
          ),
        ]}
      />
      {making && <NewKeyDialog onMade={page.reload} onClose={() => setMaking(false)} />}
      {editing && <EditKeyDialog of={editing} onClose={() => setEditing(null)} onChanged={page.reload} />}
      {rotating && <RotateKeyDialog of={rotating} onClose={() => setRotating(null)} onRotated={page.reload} />}
      {revoking && <RevokeKeyDialog of={revoking} onClose={() => setRevoking(null)} onRevoked={page.reload} />}
    </>
  )
}

function RevokeKeyDialog({ of, ...on }: { of: KeyRecord; onClose: () => void; onRevoked: () => void }) {
  const revoke = async () => {
    await api.delete(`/api/keys/${of.id}`)
    notify(`Revoked ${of.name}.`)
    on.onRevoked()
  }
  return (
    <Confirm
      title={`Revoke ${of.name}?`}
      open
      onClose={on.onClose}
      onConfirm={revoke}
      action="Revoke key"
      body={
        <>
          <p>
            Requests with this key will be refused: at once in this process, within 5 seconds in others. This cannot be
            undone.
          </p>
          {of.id === session.value?.id && <p>You are signed in with this key and will be signed out.</p>}
        </>
      }
    />
  )
}

function Name({ of: { name, id, group }, groups }: { of: KeyRecord; groups: Groups }) {
  return (
    <>
      <span title={id}>
        {name} {id === session.value?.id && <Badge tone="accent">you</Badge>}
      </span>
      {group !== null && <div class="muted">in {groups.nameOf(group)}</div>}
    </>
  )
}

/** Validity of a key and its expiry. */
function KeyState({ of: { revoked_at, expires_at } }: { of: KeyRecord }) {
  if (revoked_at !== null) return <Badge tone="bad">revoked</Badge>
  if (expires_at === null) return <Badge tone="good">in force</Badge>
  if (timeOf(expires_at) <= now.value) return <Badge tone="bad">expired</Badge>
  return (
    <>
      <Badge tone="good">in force</Badge>
      <div class="muted">
        ends <When at={expires_at} />
      </div>
    </>
  )
}
