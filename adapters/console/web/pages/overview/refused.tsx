import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import { useNames } from '../../components/caller-name.tsx'
import { BarList, Card, Empty, ErrorNote } from '../../components/components.ts'
import { count } from '../../format.ts'
import { now } from '../../now.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { startOf } from './start-of.ts'

/** Maximum number of callers shown. */
const MAX_SHOWN = 6

/** Callers refused today: no valid key, no money, no permission, or too many calls. */
export function Refused() {
  const path = `/api/calls/stats?from=${startOf('day', now.value)}&group_by=caller`
  const { data, error, reload } = useLive<CallStatsReply>(path, { everyMs: 5000 })
  const names = useNames()
  const refused = (data?.groups ?? []).filter((group) => group.refused > 0).sort((a, b) => b.refused - a.refused)
  const items = refused.slice(0, MAX_SHOWN).map(({ key, refused: calls }) => ({
    label: key === '' ? 'Unknown key' : names.of(key),
    value: calls,
    text: textOf(calls),
    href: href('calls', { query: { status: 'refused', ...(key !== '' && { caller_id: key }) } }),
  }))
  const rest = refused.slice(MAX_SHOWN)
  const others = rest.reduce((sum, group) => sum + group.refused, 0)
  if (rest.length > 0)
    items.push({
      label: rest.length === 1 ? '1 other' : `${rest.length} others`,
      value: others,
      text: textOf(others),
      href: REFUSED,
    })
  return (
    <Card title="Refused today" actions={<a href={REFUSED}>All refused calls</a>}>
      <ErrorNote error={data ? null : error} onRetry={reload} />
      {data && items.length === 0 && (
        <Empty title="No refused calls" hint="Calls refused for a missing key, money or permission appear here." />
      )}
      {items.length > 0 && <BarList label="Refused calls by caller" items={items} />}
    </Card>
  )
}

const REFUSED = href('calls', { query: { status: 'refused' } })

const textOf = (calls: number) => `${count(calls)} ${calls === 1 ? 'call' : 'calls'}`
