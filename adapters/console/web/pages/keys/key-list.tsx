import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { spendColumns } from '../../components/budgets.tsx'
import { actionsColumn, Badge, Empty, ListCard, Primary, whenColumn } from '../../components/components.ts'
import { KeyState } from '../../components/key-state.tsx'
import { usePage } from '../../paging.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useGroups } from '../../use-groups.ts'
import { EditKeyDialog } from './edit-key.tsx'
import { NewKeyDialog } from './new-key.tsx'
import { RevokeKeyDialog } from './revoke-key.tsx'
import { RotateKeyDialog } from './rotate-key.tsx'

/** Keys with their scopes, billing, spending and state, for admins. */
export function KeyList() {
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
        addressOf={({ id }) => href('keys', { id })}
        empty={
          <Empty
            title="No keys yet"
            hint="Create one key per assistant or service, to identify and revoke each separately."
          />
        }
        columns={[
          { key: 'name', label: 'Name', render: (key) => <Name of={key} /> },
          { key: 'scopes', label: 'Scopes', fold: 'first' },
          { key: 'billing', label: 'Billing', fold: 'first' },
          // The first to leave: a column that changes its width would move the others under the keyboard's focus.
          {
            key: 'group',
            label: 'Group',
            fold: 'first',
            render: ({ group }) =>
              group === null ? '—' : <a href={href('keys', { id: group })}>{groups.nameOf(group)}</a>,
          },
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
      {revoking && (
        <RevokeKeyDialog of={revoking} action="Revoke key" onClose={() => setRevoking(null)} onRevoked={page.reload} />
      )}
    </>
  )
}

function Name({ of: { name, id } }: { of: KeyRecord }) {
  return (
    <span title={id}>
      {name} {id === session.value?.id && <Badge tone="accent">you</Badge>}
    </span>
  )
}
