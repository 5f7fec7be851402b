import { useState } from 'preact/hooks'
import type { GroupRecord } from '../../../../../src/identity/group.ts'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { BudgetBars } from '../../components/budget-bars.tsx'
import {
  Button,
  Card,
  Copy,
  Empty,
  Facts,
  figureColumn,
  Grid,
  ListCard,
  Money,
  NotLoaded,
  Page,
  When,
  whenColumn,
} from '../../components/components.ts'
import { StatementButton } from '../../components/csv-button.tsx'
import { KeyState } from '../../components/key-state.tsx'
import { usd } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { href, queryOf } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { Addresses } from './addresses.tsx'
import { GroupDialog } from './group-dialog.tsx'
import { RecentSessions, Refusals } from './recent.tsx'
import { Models, SpendByDay } from './spending.tsx'
import { useHourly } from './use-hourly.ts'

/** Page of a group: what its keys spent and did together. `?do=edit` opens its form. */
export function GroupPage({ id, query }: { id: string; query: URLSearchParams }) {
  const live = useLive<GroupRecord>(`/api/groups/${encodeURIComponent(id)}`, { everyMs: 5000 })
  const [editing, setEditing] = useState(query.get('do') === 'edit')
  const group = live.data
  const of = { group: id }
  return (
    <Page
      title={group?.name ?? 'Group'}
      back={{ label: 'Groups', href: href('keys', { id: 'groups' }) }}
      intro={
        <span class="actions">
          <Copy text={id} isShort />
        </span>
      }
      actions={group && <Button onClick={() => setEditing(true)}>Edit</Button>}
    >
      {group ? <Details of={group} /> : <NotLoaded of={live} what="the group" />}
      <Grid>
        <SpendByDay of={of} budget={group?.budgets.find(({ per }) => per === 'day')?.usd} />
        <Models of={of} />
      </Grid>
      <KeysOf id={id} />
      <RecentSessions query={of} />
      <Refusals of={of} />
      <Addresses of={of} />
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
            'This month': usd(group.spend.month_usd),
            'In total': usd(group.spend.total_usd),
            Owed: group.debt_usd > 0 && usd(group.debt_usd),
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
      rowKey={(key) => key.id}
      addressOf={(key) => href('keys', { id: key.id })}
      columns={[
        { key: 'name', label: 'Name', align: 'words' },
        figureColumn('This month', ({ spend }) => <Money usd={spend.month_usd} />),
        whenColumn('last_used_at', 'Last used'),
        { key: 'state', label: 'State', render: (key) => <KeyState of={key} /> },
      ]}
      empty={<Empty title="No keys in it" hint="Choose the group in the form of a key." />}
    />
  )
}
