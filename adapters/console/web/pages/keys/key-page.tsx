import { useState } from 'preact/hooks'
import type { KeyRecord } from '../../../../../src/identity/key.ts'
import { BudgetBars } from '../../components/budgets.tsx'
import { Card, Copy, Empty, Facts, Grid, NotLoaded, Page, When } from '../../components/content.ts'
import { StatementButton } from '../../components/csv-button.tsx'
import { Button } from '../../components/forms.ts'
import { KeyState } from '../../components/key-state.tsx'
import { count, usd } from '../../format.ts'
import { addressWith, go, href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useGroups } from '../../use-groups.ts'
import { useLive } from '../../use-live.ts'
import { EditKeyDialog, RevokeKeyDialog, RotateKeyDialog } from './key-dialogs.tsx'
import { Done } from './recent.tsx'
import { Spent, startOfMonth, useHourly } from './spending.tsx'

/** Page of a key: what it may, what it spent, and what it did. `?do=edit` opens its form, `?do=revoke` asks to revoke it. */
export function KeyPage({ id, query }: { id: string; query: URLSearchParams }) {
  const isStored = id.startsWith('key_') && id !== 'key_environment'
  const live = useLive<KeyRecord>(isStored ? `/api/keys/${encodeURIComponent(id)}` : null, { everyMs: 5000 })
  const key = live.data
  return (
    <Page
      title={key?.name ?? 'Key'}
      back={session.value?.isAdmin ? { label: 'Keys', href: href('keys') } : undefined}
      intro={
        <span class="actions">
          {key && <KeyState of={key} />}
          <Copy text={id} isShort />
        </span>
      }
      actions={key && <Actions of={key} query={query} onChanged={live.reload} />}
    >
      {key && <Details of={key} />}
      {!key && isStored && <NotLoaded of={live} what="the key" />}
      {!isStored && <Empty title="This key is not in the store" hint="It is set by the environment, or is a wallet." />}
      <Spent of={{ caller_id: id }} budgets={key?.limits.budgets} />
      <Done of={{ caller_id: id }} sessions={{ key: id }} />
    </Page>
  )
}

function Details({ of: key }: { of: KeyRecord }) {
  const { limits, spend } = key
  const hourlyUsd = useHourly({ caller_id: key.id })
  const receipts = (query: Record<string, string> = {}) =>
    href('usage', { id: 'receipts', query: { caller: key.id, ...query } })
  return (
    <Grid>
      <Card title="Budgets">
        <BudgetBars budgets={limits.budgets} spend={spend} hourlyUsd={hourlyUsd} />
      </Card>
      <Card title="What it may">
        <Facts of={factsOf(key)} />
        <GroupOf of={key} />
      </Card>
      <Card title="Money" actions={<StatementButton of={{ key: key.id }} name={key.name} />}>
        <Facts
          of={{
            'This month': <a href={receipts({ from: startOfMonth() })}>{usd(spend.month_usd)}</a>,
            'In total': usd(spend.total_usd),
            Owed: key.debt_usd > 0 && usd(key.debt_usd),
            Presumed: key.presumed_usd > 0 && usd(key.presumed_usd),
            Receipts: <a href={receipts()}>all receipts</a>,
            Ledger: !session.value?.isInference && (
              <a href={href('wallet', { id: 'ledger', query: { caller: session.value?.isAdmin ? key.id : null } })}>
                all transfers
              </a>
            ),
          }}
        />
      </Card>
    </Grid>
  )
}

/** Permissions, limits and times of a key. A limit that is null is omitted. */
const factsOf = ({ limits, ...key }: KeyRecord) => ({
  Scopes: key.scopes.join(', '),
  Models: key.models?.join(', ') ?? 'all',
  Billing: key.billing,
  'Calls a minute': limits.requests_per_minute && count(limits.requests_per_minute),
  'Tokens a minute': limits.tokens_per_minute && count(limits.tokens_per_minute),
  'At once': limits.concurrent && count(limits.concurrent),
  'A session': limits.session_usd && usd(limits.session_usd),
  Credit: limits.credit_limit_usd === null ? null : usd(limits.credit_limit_usd),
  Wallet: key.wallet && <Copy text={key.wallet} isShort />,
  Created: <When at={key.created_at} />,
  'Last used': <When at={key.last_used_at} />,
  Ends: key.expires_at && <When at={key.expires_at} />,
  Revoked: key.revoked_at && <When at={key.revoked_at} />,
})

function GroupOf({ of: { group } }: { of: KeyRecord }) {
  const isShown = group !== null && session.value?.isAdmin === true
  const groups = useGroups(isShown)
  return (
    isShown && (
      <p class="hint">
        In the group <a href={href('keys', { id: group })}>{groups.nameOf(group)}</a>, whose budgets bind it too.
      </p>
    )
  )
}

type Doing = 'edit' | 'rotate' | 'revoke' | null

/** Buttons of an admin for a key that is in force. */
function Actions({ of: key, query, onChanged }: { of: KeyRecord; query: URLSearchParams; onChanged: () => void }) {
  const asked = query.get('do')
  const [doing, setDoing] = useState<Doing>(asked === 'edit' || asked === 'revoke' ? asked : null)
  if (!session.value?.isAdmin || key.revoked_at !== null) return null
  const close = () => {
    setDoing(null)
    if (asked) go(addressWith({ do: null }), true)
  }
  return (
    <>
      <Button onClick={() => setDoing('edit')}>Edit</Button>
      <Button onClick={() => setDoing('rotate')}>Rotate</Button>
      <Button onClick={() => setDoing('revoke')}>Revoke</Button>
      {doing === 'edit' && <EditKeyDialog of={key} onClose={close} onChanged={onChanged} />}
      {doing === 'rotate' && <RotateKeyDialog of={key} onClose={close} onChanged={onChanged} />}
      {doing === 'revoke' && <RevokeKeyDialog of={key} onClose={close} onChanged={onChanged} />}
    </>
  )
}
