import { useNames } from '../../components/caller-name.tsx'
import { BarList, Card, Empty } from '../../components/components.ts'
import { count } from '../../format.ts'
import { callsToday, type Today } from './today.tsx'

/** Maximum number of callers shown. */
const MAX_SHOWN = 4

/** Callers refused today: no valid key, no money, no permission, or too many calls. */
export function Refused({ today: { from, byCaller } }: { today: Today }) {
  const { data } = byCaller
  const all = callsToday(from, REFUSED)
  const names = useNames()
  const refused = (data?.groups ?? []).filter((group) => group.refused > 0).sort((a, b) => b.refused - a.refused)
  const items = refused.slice(0, MAX_SHOWN).map(({ key, refused: calls }) => ({
    label: key === '' ? 'Unknown key' : names.of(key),
    value: calls,
    text: textOf(calls),
    href: callsToday(from, { ...REFUSED, ...(key !== '' && { caller_id: key }) }),
  }))
  const rest = refused.slice(MAX_SHOWN)
  const others = rest.reduce((sum, group) => sum + group.refused, 0)
  if (rest.length > 0)
    items.push({
      label: rest.length === 1 ? '1 other' : `${rest.length} others`,
      value: others,
      text: textOf(others),
      href: all,
    })
  return (
    <Card title="Refused today" actions={<a href={all}>All refused calls</a>}>
      {data && items.length === 0 && (
        <Empty title="No refused calls" hint="Calls refused for a missing key, money or permission appear here." />
      )}
      {items.length > 0 && <BarList label="Refused calls by caller" items={items} />}
    </Card>
  )
}

const REFUSED = { status: 'refused' }

const textOf = (calls: number) => `${count(calls)} ${calls === 1 ? 'call' : 'calls'}`
