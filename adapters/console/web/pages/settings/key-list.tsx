import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { api } from '../../api.ts'
import {
  Badge,
  Button,
  Card,
  Confirm,
  DataTable,
  Empty,
  ErrorNote,
  Money,
  notify,
  Pager,
  When,
} from '../../components/components.ts'
import { usePage } from '../../paging.ts'
import { session } from '../../signed-in.ts'
import { dailyBudget } from '../wallet/daily-budget.ts'
import { NewKeyDialog } from './new-key.tsx'

/** Keys: who can call, and with what. */
export function Keys({ isAdmin }: { isAdmin: boolean }) {
  const page = usePage<KeyRecord>(isAdmin ? '/api/keys' : null, { everyMs: 5000 })
  const [making, setMaking] = useState(false)
  const [revoking, setRevoking] = useState<KeyRecord | null>(null)
  if (!isAdmin) {
    return <Empty title="Keys are for admins" hint="Sign in with an admin’s key to make, list and revoke keys." />
  }

  const revoke = async () => {
    if (!revoking) return
    await api.delete(`/api/keys/${revoking.id}`)
    notify(`${revoking.name} is revoked.`)
    page.reload()
  }

  return (
    <Card
      title="Keys"
      actions={
        <Button tone="primary" onClick={() => setMaking(true)}>
          Make a key
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
              hint="Each assistant or service gets one of its own, to be told apart and revoked."
            />
          }
          columns={[
            {
              key: 'name',
              label: 'Name',
              render: ({ name, id }) => (
                <span title={id}>
                  {name} {id === session.value?.id && <Badge tone="accent">you</Badge>}
                </span>
              ),
            },
            { key: 'scopes', label: 'May use' },
            {
              key: 'daily_budget',
              label: 'Daily limit',
              align: 'right',
              render: (key) => <Money usd={dailyBudget(key.limits)} />,
            },
            {
              key: 'credit_limit',
              label: 'Credit',
              align: 'right',
              render: (key) => <Money usd={key.limits.credit_limit_usd} />,
            },
            { key: 'created_at', label: 'Made', render: (key) => <When at={key.created_at} /> },
            { key: 'last_used_at', label: 'Last used', render: (key) => <When at={key.last_used_at} /> },
            {
              key: 'state',
              label: 'State',
              render: (key) =>
                key.revoked_at ? <Badge tone="bad">revoked</Badge> : <Badge tone="good">in force</Badge>,
            },
            {
              key: 'revoke',
              label: '',
              align: 'right',
              render: (key) =>
                key.revoked_at === null && (
                  <Button size="small" label={`Revoke ${key.name}`} onClick={() => setRevoking(key)}>
                    Revoke
                  </Button>
                ),
            },
          ]}
        />
      )}
      <Pager page={page} />
      {making && <NewKeyDialog onMade={page.reload} onClose={() => setMaking(false)} />}
      <Confirm
        title={`Revoke ${revoking?.name ?? 'this key'}?`}
        open={revoking !== null}
        onClose={() => setRevoking(null)}
        onConfirm={revoke}
        action="Revoke for good"
        body={
          <>
            <p>
              Whatever uses it is refused from now on, here at once and in other processes within 5 seconds. This cannot
              be undone.
            </p>
            {revoking?.id === session.value?.id && <p>It is the key you are signed in with: you will be signed out.</p>}
          </>
        }
      />
    </Card>
  )
}
