import { Page, Tabs } from '../../components/content.ts'
import { go, href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { RouteEditor } from '../upstreams/route-editor.tsx'
import { UpstreamList } from '../upstreams/upstream-list.tsx'
import { Configuration } from './configuration.tsx'
import { TASKS } from './setting-tasks.ts'
import './settings.css'

const TABS = [...TASKS, { id: 'all', label: 'All settings' }] as const
type Tab = (typeof TABS)[number]['id']

/** Settings by task, and all of them with a search. */
export default function Settings({ id }: PageProps) {
  const tab = TABS.find((one) => one.id === id)?.id ?? 'providers'
  const isAdmin = session.value?.isAdmin ?? false
  return (
    <Page
      title="Settings"
      intro={isAdmin ? undefined : 'This key can read the settings. Changing them needs an admin key.'}
    >
      <Tabs label="Settings" tabs={TABS} active={tab} onChange={(to: Tab) => go(href('settings', { id: to }))} />
      {isAdmin && tab === 'providers' && <UpstreamList />}
      {isAdmin && tab === 'routes' && <RouteEditor />}
      {tab !== 'routes' && <Configuration key={tab} task={tab} isAdmin={isAdmin} />}
    </Page>
  )
}
