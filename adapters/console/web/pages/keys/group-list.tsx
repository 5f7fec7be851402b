import { useState } from 'preact/hooks'
import type { GroupRecord } from '../../../../../src/identity/group.ts'
import { api } from '../../api.ts'
import { spendColumns } from '../../components/budgets.tsx'
import { actionsColumn, Confirm, Empty, ListCard, notify, Primary, whenColumn } from '../../components/components.ts'
import { usePage } from '../../paging.ts'
import { href } from '../../router.ts'
import { GroupDialog } from './group-dialog.tsx'

/** Groups of keys with shared budgets, for admins. */
export function GroupList() {
  const page = usePage<GroupRecord>('/api/groups', { everyMs: 5000 })
  const [making, setMaking] = useState(false)
  const [deleting, setDeleting] = useState<GroupRecord | null>(null)

  const remove = async () => {
    if (!deleting) return
    await api.delete(`/api/groups/${deleting.id}`)
    notify(`Deleted ${deleting.name}.`)
    page.reload()
  }
  return (
    <>
      <ListCard<GroupRecord>
        title="Groups"
        actions={<Primary onClick={() => setMaking(true)}>New group</Primary>}
        label="Groups"
        list={page}
        rowKey={({ id }) => id}
        addressOf={({ id }) => href('keys', { id })}
        empty={
          <Empty
            title="No groups yet"
            hint="Keys of a group share its budgets. Each key can also have its own."
            command="gazeway group create --name team --budget 20/day"
          />
        }
        columns={[
          { key: 'name', label: 'Name', align: 'words', render: ({ name, id }) => <span title={id}>{name}</span> },
          { key: 'keys', label: 'Keys', align: 'right' },
          ...spendColumns<GroupRecord>(({ budgets }) => budgets),
          whenColumn('created_at', 'Created'),
          actionsColumn('Actions', ({ name }) => name, [{ word: 'Delete', onAct: setDeleting }]),
        ]}
      />
      {making && <GroupDialog of={null} onClose={() => setMaking(false)} onSaved={page.reload} />}
      <Confirm
        title={`Delete ${deleting?.name ?? 'this group'}?`}
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        onConfirm={remove}
        action="Delete group"
        body={<p>Its budgets no longer apply. Only a group without active keys can be deleted.</p>}
      />
    </>
  )
}
