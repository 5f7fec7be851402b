import { Page } from '../components/index.ts'
import { useLive } from '../live.ts'
import { RecentErrors } from './overview/errors.tsx'
import { AsOf, HealthPanel } from './overview/health.tsx'
import './overview/overview.css'
import type { Health } from './overview/records.ts'
import { Refused } from './overview/refused.tsx'
import { Today } from './overview/today.tsx'
import { Trends } from './overview/trends.tsx'

/** Whether Gazeway is healthy, what today cost, and who spent it. */
export default function Overview() {
  const health = useLive<Health>('/health', { everyMs: 3000 })
  return (
    <Page title="Overview" actions={<AsOf health={health.data} />}>
      <HealthPanel health={health} />
      <Today />
      <RecentErrors />
      <Refused />
      <Trends />
    </Page>
  )
}
