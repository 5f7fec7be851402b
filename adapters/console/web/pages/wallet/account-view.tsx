import type { ChainBalance } from '../../../../../src/chain/chain-balances.ts'
import type { Balances } from '../../../../../src/wallet/ledger/account-balances.ts'
import type { WalletOverview } from '../../../../platform/routes/wallet-routes.ts'
import { BudgetList } from '../../components/budgets.tsx'
import { Badge, Card, Copy, ErrorNote, Grid, Money, NotLoaded, Stat, When } from '../../components/content.ts'
import { DataTable, figureColumn } from '../../components/lists.ts'
import { usd } from '../../format.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useLive } from '../../use-live.ts'

/** Balances of the signed-in key, in the ledger and on every chain. */
export function Account() {
  const wallet = useLive<WalletOverview>('/api/wallet')
  if (!wallet.data) return <NotLoaded of={wallet} what="your balances" />
  const { agent, ledger, address, settlement, balances } = wallet.data
  return (
    <>
      <ErrorNote error={wallet.error} onRetry={wallet.reload} />
      <BalanceStats of={ledger} owner={agent} />
      <Card
        title="On chains"
        actions={
          settlement === 'evm' ? (
            <Badge tone="good">Rewards are paid on a chain</Badge>
          ) : (
            <Badge>Rewards are paid in the ledger</Badge>
          )
        }
      >
        {address && <Copy text={address} label="Copy address" />}
        <DataTable<ChainBalance>
          label="Balances on chains"
          rows={balances}
          rowKey={({ chain_id }) => String(chain_id)}
          columns={[
            { key: 'chain', label: 'Chain', render: ({ chain, chain_id }) => `${chain} (${chain_id})` },
            figureColumn('Coins', ({ native }) => amountsOf(native ? [native] : [])),
            figureColumn('Tokens', ({ tokens }) => amountsOf(tokens)),
            { key: 'block_number', label: 'Block', align: 'right' },
            {
              key: 'as_of',
              label: 'Read',
              render: ({ as_of, error }) => (error ? <Badge tone="bad">{error}</Badge> : <When at={as_of} />),
            },
          ]}
          empty={
            address
              ? { title: 'No chain is configured', hint: 'Add chains under chain.networks in Settings.' }
              : {
                  title: 'No address to read',
                  hint: session.value?.isAdmin
                    ? 'Set wallet.private_key to give Gazeway an account, or bind a wallet to a new key.'
                    : 'Bind a wallet to a new key: gazeway key create --wallet 0x…',
                }
          }
        />
      </Card>
    </>
  )
}

/** Balances of one caller. What moved leads to its statement, what is locked to its escrows. */
export function BalanceStats({ of, owner }: { of: Balances; owner: string }) {
  const { available_usd, held_usd, escrow_usd, debt_usd, credit_limit_usd, budgets } = of
  const left = available_usd + credit_limit_usd
  const transfers = href('wallet', { id: 'ledger', query: { caller: owner } })
  return (
    <Grid of="figures">
      <Stat
        label="Available"
        href={transfers}
        value={<Money usd={available_usd} />}
        hint={`${usd(Math.max(0, left))} can be spent, credit included`}
        tone={left <= 0 ? 'bad' : 'neutral'}
      />
      <Stat label="Reserved" value={<Money usd={held_usd} />} hint="for calls in progress" />
      <Stat
        label="In escrow"
        href={href('escrow', { query: { status: 'live', payer: owner } })}
        value={<Money usd={escrow_usd} />}
        hint="for open tasks"
      />
      <Stat label="Credit" value={<Money usd={credit_limit_usd} />} hint="limit below zero" />
      {debt_usd > 0 && (
        <Stat label="Owed" value={<Money usd={debt_usd} />} hint="beyond reservations, budgets and credit" tone="bad" />
      )}
      <Stat label="Budgets" value={<BudgetList of={budgets} />} hint="periods start at 00:00 UTC" />
    </Grid>
  )
}

function amountsOf(amounts: readonly Pick<ChainBalance['tokens'][number], 'symbol' | 'amount'>[]) {
  if (amounts.length === 0) return <span class="muted">—</span>
  return amounts.map(({ symbol, amount }) => (
    <div key={symbol}>
      {amount} {symbol}
    </div>
  ))
}
