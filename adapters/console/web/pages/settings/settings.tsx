import { Page, Tabs } from '../../components/components.ts'
import { go, href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { Configuration } from './configuration.tsx'
import { Groups } from './group-list.tsx'
import { Keys } from './key-list.tsx'
import { Models } from './model-form.tsx'
import './settings.css'

const TABS = [
  { id: 'models', label: 'Models' },
  { id: 'configuration', label: 'Configuration' },
  { id: 'keys', label: 'Keys' },
  { id: 'groups', label: 'Groups' },
] as const
type Tab = (typeof TABS)[number]['id']

/** Settings: models, configuration, keys and groups. */
export default function Settings({ id }: PageProps) {
  const tab = TABS.find((one) => one.id === id)?.id ?? 'models'
  const isAdmin = session.value?.isAdmin ?? false
  return (
    <Page
      title="Settings"
      intro={isAdmin ? undefined : 'This key can read the settings. Changing them needs an admin key.'}
    >
      <Tabs label="Settings" tabs={TABS} active={tab} onChange={(to: Tab) => go(href('settings', { id: to }))} />
      {tab === 'models' && <Models isAdmin={isAdmin} />}
      {tab === 'configuration' && <Configuration isAdmin={isAdmin} />}
      {tab === 'keys' && <Keys isAdmin={isAdmin} />}
      {tab === 'groups' && <Groups isAdmin={isAdmin} />}
    </Page>
  )
}
