import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { spendColumns } from '../../components/budgets.tsx'
import { Badge } from '../../components/content.ts'
import { ALL, Primary, useFilters } from '../../components/forms.ts'
import { KeyState } from '../../components/key-state.tsx'
import { ListCard, whenColumn } from '../../components/lists.ts'
import { usePage } from '../../paging.ts'
import { href, queryOf } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { firstOfDays } from '../../time.ts'
import { useGroups } from '../../use-groups.ts'
import { NewKeyDialog } from './key-dialogs.tsx'

/** Days without use, by which keys that nobody needs are found. */
const UNUSED = [ALL, ...[7, 30, 90].map((days) => ({ value: String(days), label: `not for ${days} days` }))]

/** Keys with their scopes, billing, spending and state, for admins. Each is changed on its page. */
export function KeyList({ query }: { query: URLSearchParams }) {
  const { draft, edit, clear } = useFilters(query, ['unused'], ['keys'], { unused: UNUSED })
  // Today counts as a day, and so many whole days before it are asked for.
  const asked = queryOf({ unused_since: draft.unused && firstOfDays(Number(draft.unused) + 1) })
  const page = usePage<KeyRecord>(`/api/keys${asked}`, { everyMs: 5000 })
  const [making, setMaking] = useState(false)
  const groups = useGroups()
  return (
    <>
      <ListCard<KeyRecord, typeof draft>
        title="Keys"
        actions={<Primary onClick={() => setMaking(true)}>New key</Primary>}
        label="Keys"
        filters={{
          draft,
          edit,
          clear,
          asked,
          one: 'key',
          fields: [{ name: 'unused', label: 'Used', options: UNUSED }],
        }}
        list={page}
        error={page.data ? null : page.error}
        opens="keys"
        empty={{
          title: 'No keys yet',
          hint: 'Create one key per assistant or service, to identify and revoke each separately.',
          command: 'gazeway key create --name laptop',
        }}
        columns={[
          { key: 'name', label: 'Name', align: 'words', render: (key) => <Name of={key} /> },
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
        ]}
      />
      {making && <NewKeyDialog onMade={page.reload} onClose={() => setMaking(false)} />}
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
