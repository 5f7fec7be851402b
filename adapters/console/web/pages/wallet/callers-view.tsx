import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import type { UsageReport } from '../../../../../src/wallet/receipts/usage-report.ts'
import { BudgetList } from '../../components/budgets.tsx'
import { Badge, Money } from '../../components/content.ts'
import { actionsColumn, figureColumn, ListCard, whenColumn } from '../../components/lists.ts'
import { count } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { EditKeyDialog } from '../keys/key-dialogs.tsx'
import { DepositDialog } from './deposit-dialog.tsx'

/** All keys with their limits and spending. An admin changes limits and makes deposits here. */
export function Callers() {
  const page = usePage<KeyRecord>('/api/keys')
  const usage = useLive<UsageReport>('/api/wallet/metered/usage?limit=1', { everyMs: 10_000 })
  const [editing, setEditing] = useState<KeyRecord | null>(null)
  const [credited, setCredited] = useState<KeyRecord | null>(null)
  const spentBy = new Map(usage.data?.by_caller.map(({ caller_id, ...sums }) => [caller_id, sums]))
  const actions = [
    { word: 'Edit', onAct: setEditing },
    { word: 'Deposit', before: 'for ', onAct: setCredited },
  ]
  return (
    <>
      <ListCard<KeyRecord>
        title="Callers"
        label="Callers, newest first"
        list={page}
        error={page.error ?? usage.error}
        columns={[
          { key: 'name', label: 'Caller', align: 'words', render: (key) => <Name of={key} /> },
          figureColumn('Calls', ({ id }) => <a href={receiptsOf(id)}>{count(spentBy.get(id)?.calls ?? 0)}</a>),
          figureColumn('Spent on calls', ({ id }) => (
            <a href={receiptsOf(id)}>
              <Money usd={spentBy.get(id)?.total_usd ?? 0} />
            </a>
          )),
          figureColumn('Credit', ({ limits }) => creditOf(limits)),
          figureColumn('Budgets', ({ limits }) => <BudgetList of={limits.budgets} />),
          whenColumn('last_used_at', 'Last used'),
          actionsColumn(
            'Change',
            ({ name }) => name,
            actions,
            ({ revoked_at }) => revoked_at === null,
          ),
        ]}
        empty={{ title: 'No keys yet', command: 'gazeway key create --name laptop' }}
      />
      {editing && <EditKeyDialog of={editing} onClose={() => setEditing(null)} onChanged={page.reload} />}
      {credited && <DepositDialog to={credited} onClose={() => setCredited(null)} />}
    </>
  )
}

function Name({ of: { id, name, revoked_at } }: { of: KeyRecord }) {
  return (
    <>
      <a href={href('wallet', { id: 'ledger', query: { caller: id } })} title={id}>
        {name}
      </a>{' '}
      {revoked_at && <Badge tone="bad">revoked</Badge>}
    </>
  )
}

const receiptsOf = (caller: string) => href('usage', { id: 'receipts', query: { caller } })

const creditOf = ({ credit_limit_usd: credit }: KeyRecord['limits']) =>
  credit === null ? <span class="muted">default</span> : <Money usd={credit} />
