import type { CallSums } from '../../../../../src/calls/call-stats.ts'
import type { UsageReport } from '../../../../../src/wallet/receipts/usage-report.ts'
import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import { CacheStat } from '../../components/cache-stat.tsx'
import { type Names, useNames } from '../../components/caller-name.tsx'
import { BarList, Card, Empty, ErrorNote, Grid, Stat } from '../../components/components.ts'
import { count, duration, percent, short, usd } from '../../format.ts'
import { now } from '../../now.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { startOf } from './start-of.ts'

/** Maximum number of callers and of models shown. */
const MAX_SHOWN = 6

/** Today's cost, by caller and by model. */
export function Today() {
  const from = startOf('day', now.value)
  const byCaller = useLive<CallStatsReply>(`/api/calls/stats?from=${from}&group_by=caller`, { everyMs: 4000 })
  const byModel = useLive<CallStatsReply>(`/api/calls/stats?from=${from}&group_by=model`, { everyMs: 4000 })
  const charged = useLive<UsageReport>(`/api/wallet/metered/usage?from=${from}&limit=1`, { everyMs: 10_000 })
  const names = useNames()
  const stats = byCaller.data
  if (!stats) return <ErrorNote error={byCaller.error} onRetry={byCaller.reload} />
  const { totals, fallbacks } = stats
  const chargedUsd = charged.data?.totals.total_usd

  return (
    <>
      <Grid of="figures">
        <Stat
          label="Cost today"
          tone="accent"
          value={usd(totals.upstream_cost_usd)}
          hint={chargedUsd === undefined ? 'to the provider' : `to the provider; ${usd(chargedUsd)} charged to callers`}
        />
        <Stat
          label="Calls today"
          value={count(totals.calls)}
          hint={[
            totals.errors === 0 ? 'none failed' : `${count(totals.errors)} failed (${percent(totals.error_rate)})`,
            ...(totals.refused > 0 ? [`${count(totals.refused)} refused`] : []),
          ].join(', ')}
          tone={totals.error_rate >= 0.1 ? 'bad' : 'neutral'}
        />
        <Stat
          label="Tokens today"
          value={short(totals.total_tokens)}
          hint={`${short(totals.prompt_tokens)} in, ${short(totals.completion_tokens)} out`}
        />
        <CacheStat of={totals.cache} label="Prompt caches today" />
        <Stat
          label="Median latency"
          value={totals.latency_ms.p50 === null ? '—' : duration(totals.latency_ms.p50)}
          hint={totals.latency_ms.p95 === null ? 'no calls' : `95 % within ${duration(totals.latency_ms.p95)}`}
        />
        <Stat
          label="Fallbacks"
          value={percent(fallbacks.rate)}
          tone={fallbacks.rate >= 0.2 ? 'warn' : 'neutral'}
          hint={`${count(fallbacks.fallen_back)} of ${count(fallbacks.requests)} research calls`}
        />
      </Grid>
      <Grid>
        <Card title="Cost by caller today">
          <Spenders groups={stats.groups} names={names} />
        </Card>
        <Card title="Cost by model today">
          <ErrorNote error={byModel.data ? null : byModel.error} onRetry={byModel.reload} />
          {byModel.data && (
            <Shares groups={byModel.data.groups} nameOf={(key) => key || 'no model'} label="Cost by model" />
          )}
        </Card>
      </Grid>
    </>
  )
}

function Spenders({ groups, names }: { groups: CallStatsReply['groups']; names: Names }) {
  return (
    <Shares
      groups={groups}
      nameOf={(key) => (key === '' ? 'Tools on this machine' : names.of(key))}
      hrefOf={(key) => href('calls', { query: { caller_id: key } })}
      label="Cost by caller"
    />
  )
}

function Shares(props: {
  groups: readonly (CallSums & { key: string })[]
  nameOf: (key: string) => string
  hrefOf?: (key: string) => string
  label: string
}) {
  const made = props.groups
    .map((group) => ({ ...group, calls: group.calls - group.refused }))
    .filter(({ calls }) => calls > 0)
  if (made.length === 0) {
    return (
      <Empty
        title="No calls today yet"
        hint="Connect a coding assistant or any OpenAI client to this Gazeway. Calls appear here when they end."
      />
    )
  }
  const sorted = made.sort((a, b) => b.upstream_cost_usd - a.upstream_cost_usd || b.calls - a.calls)
  const rest = sorted.slice(MAX_SHOWN)
  const items = sorted.slice(0, MAX_SHOWN).map((group) => ({
    label: props.nameOf(group.key),
    value: group.upstream_cost_usd,
    text: textOf(group),
    ...(props.hrefOf && group.key !== '' && { href: props.hrefOf(group.key) }),
  }))
  const others = rest.reduce(
    (sum, { upstream_cost_usd, calls }) => ({ cost: sum.cost + upstream_cost_usd, calls: sum.calls + calls }),
    { cost: 0, calls: 0 },
  )
  if (rest.length > 0) {
    const text = textOf({ upstream_cost_usd: others.cost, calls: others.calls })
    items.push({ label: rest.length === 1 ? '1 other' : `${rest.length} others`, value: others.cost, text })
  }
  return <BarList label={props.label} items={items} />
}

const textOf = ({ upstream_cost_usd, calls }: Pick<CallSums, 'upstream_cost_usd' | 'calls'>) =>
  `${usd(upstream_cost_usd)} · ${count(calls)} ${calls === 1 ? 'call' : 'calls'}`
