import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import type { UsageReport } from '../../../../../src/wallet/receipts/usage-report.ts'
import { BudgetList } from '../../components/budgets.tsx'
import { Badge, Button, Card, DataTable, Empty, ErrorNote, Money, Pager, When } from '../../components/components.ts'
import { shortId } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { EditKeyDialog } from '../settings/edit-key.tsx'
import { DepositDialog } from './deposit-dialog.tsx'

/** All keys with their limits and spending. An admin changes limits and makes deposits here. */
export function Callers() {
  const page = usePage<KeyRecord>('/api/keys')
  const usage = useLive<UsageReport>('/api/wallet/metered/usage?limit=1', { everyMs: 10_000 })
  const [editing, setEditing] = useState<KeyRecord | null>(null)
  const [credited, setCredited] = useState<KeyRecord | null>(null)
  const spentBy = new Map(usage.data?.by_caller.map(({ caller_id, ...sums }) => [caller_id, sums]))
  return (
    <Card title="Callers">
      <ErrorNote error={page.error ?? usage.error} onRetry={page.reload} />
      <DataTable<KeyRecord>
        label="Callers, newest first"
        rows={page.items}
        rowKey={({ id }) => id}
        columns={[
          {
            key: 'name',
            label: 'Caller',
            render: ({ id, name, revoked_at }) => (
              <>
                <a href={href('wallet', { id: 'ledger', query: { caller: id } })}>{name}</a>{' '}
                <code class="muted" title={id}>
                  {shortId(id)}
                </code>
                {revoked_at && <Badge tone="bad">revoked</Badge>}
              </>
            ),
          },
          { key: 'calls', label: 'Calls', align: 'right', render: ({ id }) => spentBy.get(id)?.calls ?? 0 },
          {
            key: 'spent',
            label: 'Spent on calls',
            align: 'right',
            render: ({ id }) => <Money usd={spentBy.get(id)?.total_usd ?? 0} />,
          },
          {
            key: 'credit',
            label: 'Credit',
            align: 'right',
            render: ({ limits: { credit_limit_usd } }) =>
              credit_limit_usd === null ? <span class="muted">default</span> : <Money usd={credit_limit_usd} />,
          },
          {
            key: 'budgets',
            label: 'Budgets',
            align: 'right',
            render: ({ limits }) => <BudgetList of={limits.budgets} />,
          },
          { key: 'used', label: 'Last used', render: ({ last_used_at }) => <When at={last_used_at} /> },
          {
            key: 'actions',
            label: 'Change',
            render: (key) =>
              key.revoked_at === null && (
                <div class="actions">
                  <Button size="small" label={`Edit ${key.name}`} onClick={() => setEditing(key)}>
                    Edit
                  </Button>
                  <Button size="small" label={`Deposit for ${key.name}`} onClick={() => setCredited(key)}>
                    Deposit
                  </Button>
                </div>
              ),
          },
        ]}
        of={page}
        empty={<Empty title="No keys yet" hint="Create one in Settings, or with: gazeway key create" />}
      />
      <Pager page={page} />
      {editing && <EditKeyDialog of={editing} onClose={() => setEditing(null)} onChanged={page.reload} />}
      {credited && <DepositDialog to={credited} onClose={() => setCredited(null)} />}
    </Card>
  )
}
