import { useState } from 'preact/hooks'
import type { GroupRecord } from '../../../../../src/identity/group.ts'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api } from '../../api.ts'
import { BudgetBars, spendColumns } from '../../components/budgets.tsx'
import { Card, Copy, Facts, Grid, Money, NotLoaded, notify, Page, When } from '../../components/content.ts'
import { StatementButton } from '../../components/csv-button.tsx'
import { Button, Confirm, Primary } from '../../components/forms.ts'
import { KeyState } from '../../components/key-state.tsx'
import { actionsColumn, figureColumn, ListCard, whenColumn } from '../../components/lists.ts'
import { usd } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { usePostOnce } from '../../post-once.ts'
import { href, queryOf } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { TermsDialog, tellSaved } from './key-dialogs.tsx'
import { GROUP_TERMS } from './key-terms.tsx'
import { Done } from './recent.tsx'
import { Spent, useHourly } from './spending.tsx'

/** Groups of keys with shared budgets, for admins. */
export function GroupList() {
  const page = usePage<GroupRecord>('/api/groups', { everyMs: 5000 })
  const [making, setMaking] = useState(false)
  const [deleting, setDeleting] = useState<GroupRecord | null>(null)
  const remove = async ({ id, name }: GroupRecord) => {
    await api.delete(`/api/groups/${id}`)
    notify(`Deleted ${name}.`)
    page.reload()
  }
  return (
    <>
      <ListCard<GroupRecord>
        title="Groups"
        actions={<Primary onClick={() => setMaking(true)}>New group</Primary>}
        label="Groups"
        list={page}
        opens="keys"
        empty={{
          title: 'No groups yet',
          hint: 'Keys of a group share its budgets. Each key can also have its own.',
          command: 'gazeway group create --name team --budget 20/day',
        }}
        columns={[
          { key: 'name', label: 'Name', align: 'words', render: ({ name, id }) => <span title={id}>{name}</span> },
          { key: 'keys', label: 'Keys', align: 'right' },
          ...spendColumns<GroupRecord>(({ budgets }) => budgets),
          whenColumn('created_at', 'Created'),
          actionsColumn('Actions', ({ name }) => name, [{ word: 'Delete', onAct: setDeleting }]),
        ]}
      />
      {making && <GroupDialog of={null} onClose={() => setMaking(false)} onSaved={page.reload} />}
      {deleting && (
        <Confirm
          title={`Delete ${deleting.name}?`}
          onClose={() => setDeleting(null)}
          onConfirm={() => remove(deleting)}
          action="Delete group"
          body={<p>Its budgets no longer apply. Only a group without active keys can be deleted.</p>}
        />
      )}
    </>
  )
}

/** Page of a group: what its keys spent and did together. `?do=edit` opens its form. */
export function GroupPage({ id, query }: { id: string; query: URLSearchParams }) {
  const live = useLive<GroupRecord>(`/api/groups/${encodeURIComponent(id)}`, { everyMs: 5000 })
  const [editing, setEditing] = useState(query.get('do') === 'edit')
  const group = live.data
  return (
    <Page
      title={group?.name ?? 'Group'}
      back={{ label: 'Groups', href: href('keys', { id: 'groups' }) }}
      intro={<Copy text={id} isShort />}
      actions={group && <Button onClick={() => setEditing(true)}>Edit</Button>}
    >
      {group ? <Details of={group} /> : <NotLoaded of={live} what="the group" />}
      <Spent of={{ group: id }} budgets={group?.budgets} />
      <KeysOf id={id} />
      <Done of={{ group: id }} sessions={{ group: id }} />
      {group && editing && <GroupDialog of={group} onClose={() => setEditing(false)} onSaved={live.reload} />}
    </Page>
  )
}

function Details({ of: group }: { of: GroupRecord }) {
  const hourlyUsd = useHourly({ group: group.id })
  return (
    <Grid>
      <Card title="Budgets">
        <BudgetBars budgets={group.budgets} spend={group.spend} hourlyUsd={hourlyUsd} />
      </Card>
      <Card title="Money" actions={<StatementButton of={{ group: group.id }} name={group.name} />}>
        <Facts
          of={{
            // No receipts add up to it: recorded keys have none, and those of a key leave the group with it.
            'This month': usd(group.spend.month_usd),
            'In total': usd(group.spend.total_usd),
            Owed: group.debt_usd > 0 && usd(group.debt_usd),
            Receipts: <a href={href('usage', { id: 'receipts', query: { group: group.id } })}>all receipts</a>,
            'A session': group.limits.session_usd && usd(group.limits.session_usd),
            Created: <When at={group.created_at} />,
          }}
        />
      </Card>
    </Grid>
  )
}

function KeysOf({ id }: { id: string }) {
  const page = usePage<KeyRecord>(`/api/keys${queryOf({ group: id })}`, { everyMs: 10_000, isPart: true })
  return (
    <ListCard<KeyRecord>
      title="Keys"
      label="Keys of the group"
      list={page}
      opens="keys"
      columns={[
        { key: 'name', label: 'Name', align: 'words' },
        figureColumn('This month', ({ spend }) => <Money usd={spend.month_usd} />),
        whenColumn('last_used_at', 'Last used'),
        { key: 'state', label: 'State', render: (key) => <KeyState of={key} /> },
      ]}
      empty={{ title: 'No keys in it', hint: 'Choose the group in the form of a key.' }}
    />
  )
}

/** Creates a group, or changes its name, budgets and alerts. @param of null creates a group */
function GroupDialog(props: { of: GroupRecord | null; onClose: () => void; onSaved: () => void }) {
  const { of, onClose, onSaved } = props
  const post = usePostOnce()
  const save = async (terms: Record<string, unknown>) => {
    const { name, warnings } = await (of === null
      ? post('/api/groups', terms)
      : api.patch(`/api/groups/${of.id}`, terms))
    tellSaved(of === null ? `Created the group ${name}.` : `Saved ${name}.`, warnings)
    onSaved()
    onClose()
  }
  return (
    <TermsDialog
      title={of === null ? 'New group' : `Edit ${of.name}`}
      action={of === null ? 'Create group' : 'Save group'}
      nameHint="Must be unique."
      terms={GROUP_TERMS}
      of={of}
      hint="Calls count against these budgets and those of their key."
      send={save}
      onClose={onClose}
    />
  )
}
