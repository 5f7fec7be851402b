import { Page, Tabs } from '../../components/components.ts'
import { go, href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { Configuration } from './configuration.tsx'
import { Models } from './model-form.tsx'
import './settings.css'

const TABS = [
  { id: 'models', label: 'Models' },
  { id: 'configuration', label: 'Configuration' },
] as const
type Tab = (typeof TABS)[number]['id']

/** Settings: models and configuration. */
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
    </Page>
  )
}
