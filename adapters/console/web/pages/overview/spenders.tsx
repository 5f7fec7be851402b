import type { CallSums } from '../../../../../src/calls/call-stats.ts'
import { useNames } from '../../components/caller-name.tsx'
import { BarList, Card, Empty, ErrorNote } from '../../components/components.ts'
import { count, usd } from '../../format.ts'
import { callsToday, type Today } from './today.tsx'

/** Maximum number of callers and of models shown. */
const MAX_SHOWN = 4

type Group = Pick<CallSums, 'upstream_cost_usd' | 'calls' | 'refused'> & { key: string }

/** Today's cost by caller and by model. */
export function Spenders({ today: { from, byCaller, byModel } }: { today: Today }) {
  const names = useNames()
  return (
    <>
      <Card title="Cost by caller today">
        {byCaller.data && (
          <Shares
            label="Cost by caller"
            groups={byCaller.data.groups}
            nameOf={(key) => (key === '' ? 'Tools on this machine' : names.of(key))}
            hrefOf={(key) => callsToday(from, { caller_id: key })}
          />
        )}
      </Card>
      <Card title="Cost by model today">
        <ErrorNote error={byModel.data ? null : byModel.error} onRetry={byModel.reload} />
        {byModel.data && (
          <Shares
            label="Cost by model"
            groups={byModel.data.groups}
            nameOf={(key) => key || 'no model'}
            hrefOf={(key) => callsToday(from, { model: key })}
          />
        )}
      </Card>
    </>
  )
}

/** Dearest groups as bars. No filter selects the calls without a key or model, nor those of the rest. */
function Shares(props: {
  groups: readonly Group[]
  nameOf: (key: string) => string
  hrefOf: (key: string) => string
  label: string
}) {
  const made = props.groups
    .map((group) => ({ ...group, calls: group.calls - group.refused }))
    .filter(({ calls }) => calls > 0)
  if (made.length === 0) return <Empty title="No calls today yet" hint="Calls appear here when they end." />
  const sorted = made.sort((a, b) => b.upstream_cost_usd - a.upstream_cost_usd || b.calls - a.calls)
  const items: { label: string; value: number; text: string; href?: string }[] = sorted
    .slice(0, MAX_SHOWN)
    .map((group) => ({
      label: props.nameOf(group.key),
      value: group.upstream_cost_usd,
      text: textOf(group),
      ...(group.key !== '' && { href: props.hrefOf(group.key) }),
    }))
  const rest = sorted.slice(MAX_SHOWN)
  const others = {
    upstream_cost_usd: rest.reduce((sum, group) => sum + group.upstream_cost_usd, 0),
    calls: rest.reduce((sum, group) => sum + group.calls, 0),
  }
  if (rest.length > 0) {
    const label = rest.length === 1 ? '1 other' : `${rest.length} others`
    items.push({ label, value: others.upstream_cost_usd, text: textOf(others) })
  }
  return <BarList label={props.label} items={items} />
}

const textOf = ({ upstream_cost_usd, calls }: Pick<Group, 'upstream_cost_usd' | 'calls'>) =>
  `${usd(upstream_cost_usd)} · ${count(calls)} ${calls === 1 ? 'call' : 'calls'}`
