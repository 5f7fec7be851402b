import { Page, Tabs } from '../../components/content.ts'
import { go, href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { GroupList, GroupPage } from './groups.tsx'
import { KeyList } from './key-list.tsx'
import { KeyPage } from './key-page.tsx'
import './keys.css'

const TABS = [
  { id: 'keys', label: 'Keys' },
  { id: 'groups', label: 'Groups' },
] as const
type Tab = (typeof TABS)[number]['id']

/** Keys and groups, or one of them. A key that is no admin's sees itself alone. */
export default function Keys({ id, query }: PageProps) {
  const { id: own = '', isAdmin = false } = session.value ?? {}
  if (!isAdmin) return <KeyPage key={own} id={id === null || id === 'groups' ? own : id} query={query} />
  if (id?.startsWith('grp_')) return <GroupPage key={id} id={id} query={query} />
  if (id !== null && id !== 'groups') return <KeyPage key={id} id={id} query={query} />
  const tab: Tab = id === 'groups' ? 'groups' : 'keys'
  return (
    <Page title="Keys" intro="Who may call, what they may, and what they spent.">
      <Tabs
        label="Keys and groups"
        tabs={TABS}
        active={tab}
        onChange={(to: Tab) => go(href('keys', { id: to === 'keys' ? null : to }))}
      />
      {tab === 'keys' ? <KeyList query={query} /> : <GroupList />}
    </Page>
  )
}
