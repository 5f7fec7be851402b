import type { Health } from '../../../../platform/routes/health-routes.ts'
import { Page } from '../../components/components.ts'
import { useLive } from '../../use-live.ts'
import { AsOf, HealthPanel } from './health.tsx'
import { RecentErrors } from './recent-errors.tsx'
import './overview.css'
import { Refused } from './refused.tsx'
import { Today } from './today.tsx'
import { Trends } from './trends.tsx'

/** Health of Gazeway, with today's cost by caller and model, errors, refusals and trends. */
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
