import { Page, Tabs } from '../../components/content.ts'
import { go, href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { Account } from './account-view.tsx'
import { Callers } from './callers-view.tsx'
import { Ledger } from './ledger-view.tsx'
import { Prices } from './prices-view.tsx'

const VIEWS = [
  { id: 'account', label: 'Balances' },
  { id: 'ledger', label: 'Ledger' },
  { id: 'callers', label: 'Callers and limits', admin: true },
  { id: 'prices', label: 'Prices' },
] as const
type View = (typeof VIEWS)[number]['id']

/** Balances, transfers, limits and prices. */
export default function WalletPage({ id, query }: PageProps) {
  const isAdmin = session.value?.isAdmin ?? false
  const tabs = VIEWS.filter((view) => isAdmin || !('admin' in view))
  const view = tabs.find((tab) => tab.id === id)?.id ?? 'account'
  return (
    <Page title="Wallet" intro="Balances, transfers, spending limits and prices.">
      <Tabs<View>
        label="Views of the wallet"
        tabs={tabs}
        active={view}
        onChange={(to) => go(href('wallet', { id: to }))}
      />
      {view === 'account' && <Account />}
      {view === 'ledger' && <Ledger of={query.get('caller')} />}
      {view === 'callers' && <Callers />}
      {view === 'prices' && <Prices />}
    </Page>
  )
}
