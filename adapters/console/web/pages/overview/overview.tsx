import type { Health } from '../../../../platform/routes/health-routes.ts'
import { Page } from '../../components/content.ts'
import { useLive } from '../../use-live.ts'
import { AsOf, HealthPanel } from './health.tsx'
import { NeedsYou } from './needs-you.tsx'
import { Refused, Spenders } from './spenders.tsx'
import { TodayFigures, useToday } from './today.tsx'
import { Traffic } from './traffic.tsx'
import './overview.css'

/**
 * State of Gazeway, money, traffic, what needs a person; then today's cost and refusals in detail. A browser has six requests
 * at a time: what is not shown first is asked for once the figures of today are there.
 */
export default function Overview() {
  const health = useLive<Health>('/health', { everyMs: 3000 })
  const today = useToday()
  const isLater = today.stats.data !== null || today.stats.error !== null
  return (
    <Page title="Overview" actions={<AsOf health={health.data} />}>
      <HealthPanel health={health} isLater={isLater} />
      <div class="overview-figures">
        <TodayFigures today={today} />
      </div>
      <div class="overview-now">
        <Traffic />
        <NeedsYou fallbacks={today.stats.data?.fallbacks} isLater={isLater} />
      </div>
      <div class="overview-detail">
        <Spenders today={today} />
        <Refused today={today} />
      </div>
    </Page>
  )
}
