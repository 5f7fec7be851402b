import type { ComponentProps } from 'preact'
import type { CallStats, CallSums } from '../../../../../src/calls/call-stats.ts'
import { nameOf } from '../../components/caller-name.tsx'
import { Card, Empty } from '../../components/content.ts'
import { BarList } from '../../components/lists.ts'
import { callsText, usd } from '../../format.ts'
import { callsToday, type Today } from './today.tsx'

/** Maximum number of groups shown by themselves. */
const MAX_SHOWN = 4

/** Today's cost by caller and by model. */
export function Spenders({ today: { from, stats } }: { today: Today }) {
  const shares = {
    bar: costOf,
    empty: { title: 'No calls today yet', hint: 'Calls appear here when they end.' },
  }
  const made = (groups: CallStats['groups'] = []) => groups.filter(({ calls, refused }) => calls > refused)
  return (
    <>
      <Card title="Cost by caller today">
        {stats.data && (
          <Shares
            {...shares}
            label="Cost by caller"
            groups={made(stats.data.groups)}
            nameOf={(key) => (key === '' ? 'Tools on this machine' : nameOf(key))}
            hrefOf={(key) => key && callsToday(from, { caller_id: key })}
          />
        )}
      </Card>
      <Card title="Cost by model today">
        {stats.data && (
          <Shares
            {...shares}
            label="Cost by model"
            groups={made(stats.data.and_groups)}
            nameOf={(key) => key || 'no model'}
            hrefOf={(key) => key && callsToday(from, { model: key })}
          />
        )}
      </Card>
    </>
  )
}

/** Largest groups as bars, and the others as one. Calls without a key or model have no filter. @param bar sums up groups */
function Shares<Group extends { key: string }>(props: {
  label: string
  groups: readonly Group[]
  nameOf: (key: string) => string
  hrefOf: (key: string) => string | undefined
  othersHref?: string
  bar: (groups: readonly Group[]) => { value: number; text: string }
  empty: ComponentProps<typeof Empty>
}) {
  const { label, groups, nameOf, hrefOf, othersHref, bar, empty } = props
  if (groups.length === 0) return <Empty {...empty} />
  const sorted = groups.toSorted((a, b) => bar([b]).value - bar([a]).value)
  const items = sorted
    .slice(0, MAX_SHOWN)
    .map((group) => ({ label: nameOf(group.key), href: hrefOf(group.key), ...bar([group]) }))
  const rest = sorted.slice(MAX_SHOWN)
  const others = { label: rest.length === 1 ? '1 other' : `${rest.length} others`, href: othersHref, ...bar(rest) }
  return <BarList label={label} items={rest.length > 0 ? [...items, others] : items} />
}

/** Sums up the cost of groups of calls that were made. */
function costOf(groups: readonly CallSums[]) {
  const cost = groups.reduce((sum, { upstream_cost_usd }) => sum + upstream_cost_usd, 0)
  const calls = groups.reduce((sum, group) => sum + group.calls - group.refused, 0)
  return { value: cost, text: `${usd(cost)} · ${callsText(calls)}` }
}

const REFUSED = { status: 'refused' }

/** Callers refused today: no valid key, no money, no permission, or too many calls. */
export function Refused({ today: { from, stats } }: { today: Today }) {
  const all = callsToday(from, REFUSED)
  return (
    <Card title="Refused today" actions={<a href={all}>All refused calls</a>}>
      {stats.data && (
        <Shares
          label="Refused calls by caller"
          groups={stats.data.groups.filter(({ refused }) => refused > 0)}
          nameOf={(key) => (key === '' ? 'Unknown key' : nameOf(key))}
          hrefOf={(key) => callsToday(from, { ...REFUSED, ...(key !== '' && { caller_id: key }) })}
          othersHref={all}
          bar={(groups) => {
            const calls = groups.reduce((sum, { refused }) => sum + refused, 0)
            return { value: calls, text: callsText(calls) }
          }}
          empty={{
            title: 'No refused calls',
            hint: 'Calls refused for a missing key, money or permission appear here.',
          }}
        />
      )}
    </Card>
  )
}
