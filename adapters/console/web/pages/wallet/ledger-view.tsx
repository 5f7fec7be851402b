import type { StatementLine } from '../../../../../src/wallet/wallet.ts'
import type { Statement } from '../../../../platform/routes/wallet-routes.ts'
import { callerOptions, nameOf } from '../../components/caller-name.tsx'
import { Badge, type Tone } from '../../components/content.ts'
import { Filters } from '../../components/forms.ts'
import { Exact } from '../../components/inline.tsx'
import { curlOf } from '../../components/layout.tsx'
import { figureColumn, ListCard, whenColumn } from '../../components/lists.ts'
import { shortId } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { go, href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { BalanceStats } from './account-view.tsx'

const KINDS: Record<StatementLine['kind'], { label: string; tone: Tone }> = {
  deposit: { label: 'Deposit', tone: 'good' },
  reserve: { label: 'Reserved for calls', tone: 'neutral' },
  capture: { label: 'Call charged, rest returned', tone: 'neutral' },
  charge: { label: 'Calls charged', tone: 'neutral' },
  void: { label: 'Reservation returned', tone: 'neutral' },
  lock: { label: 'Locked in escrow', tone: 'accent' },
  release: { label: 'Reward paid', tone: 'good' },
  refund: { label: 'Escrow refunded', tone: 'warn' },
  withdraw: { label: 'Withdrawn on a chain', tone: 'warn' },
  settle: { label: 'Settled on a chain', tone: 'neutral' },
  purchase: { label: 'Request paid from credit', tone: 'neutral' },
  return: { label: 'Request failed, credit returned', tone: 'neutral' },
  bind: { label: 'From a wallet to its key', tone: 'neutral' },
}

/** Statement of one account, which an admin selects. @param of owner of the account; null for the signed-in key */
export function Ledger({ of }: { of: string | null }) {
  const { id: own = '', isAdmin = false } = session.value ?? {}
  const caller = of ?? own
  const others = callerOptions(caller).filter(({ value }) => value !== own)
  return (
    <>
      {isAdmin && (
        <Filters
          draft={{ caller }}
          edit={({ caller: id }) =>
            go(href('wallet', { id: 'ledger', query: { caller: id === own ? null : id } }), true)
          }
          fields={[{ name: 'caller', label: 'Account of', options: [{ value: own, label: nameOf(own) }, ...others] }]}
        />
      )}
      {/*
       * Keyed by account, so that the money of one account never appears under another name, not even while loading.
       */}
      <Account key={caller} owner={caller} of={caller === own ? null : caller} />
    </>
  )
}

/** Balance of an account and its transfers. @param of the owner where it is not the signed-in key; else null */
function Account({ owner, of }: { owner: string; of: string | null }) {
  const query = of === null ? '' : `?caller_id=${encodeURIComponent(of)}`
  const page = usePage<StatementLine, Statement>(`/api/wallet/ledger${query}`)
  return (
    <>
      {page.data && <BalanceStats of={page.data.balances} owner={owner} />}
      <ListCard<StatementLine>
        title="Statement"
        label="Transfers, newest first"
        list={page}
        columns={[
          whenColumn('at', 'When'),
          { key: 'kind', label: 'What', render: ({ kind }) => <Kind of={kind} /> },
          { key: 'entries', label: 'From → to', render: (line) => wayOf(line) },
          { key: 'key', label: 'For', render: ({ key }) => <code title={key}>{subjectOf(key)}</code> },
          figureColumn('Amount', ({ amount_usd }) => <Exact usd={amount_usd} signed aligned />),
        ]}
        empty={{
          title: 'No transfers yet',
          hint: 'Deposits, metered calls and escrows appear here. The key of an admin makes a deposit:',
          command: curlOf('/api/wallet/metered/deposit', {
            caller_id: owner,
            amount_usd: 5,
            reference: `first-${owner}`,
          }),
        }}
      />
    </>
  )
}

function Kind({ of }: { of: StatementLine['kind'] }) {
  const { label, tone } = KINDS[of]
  return <Badge tone={tone}>{label}</Badge>
}

/** Describes the accounts of a transfer. */
function wayOf({ entries }: StatementLine): string {
  const named = (below: boolean) =>
    entries
      .filter(({ amount_usd }) => amount_usd < 0 === below)
      .map(({ account }) => accountName(account))
      .join(', ')
  return `${named(true)} → ${named(false)}`
}

function accountName(account: string): string {
  const [kind = '', ...rest] = account.split(':')
  const owner = rest.join(':')
  if (kind === 'caller') return nameOf(owner)
  if (kind === 'escrow') return `escrow ${shortId(owner)}`
  const words: Record<string, string> = {
    held: 'reserved',
    upstream_cost: 'upstream cost',
    revenue: 'margin',
    deposits: 'deposits',
    settling: 'awaiting settlement',
  }
  return words[kind] ?? kind
}

/** Subject of a transfer's key: the call of `capture:call_…`. */
function subjectOf(key: string): string {
  const id = key.split(':').find((part) => /^[a-z]+_[0-9a-f]{20,}$/.test(part))
  return id ? shortId(id) : key.replace(/^deposit:/, '')
}
