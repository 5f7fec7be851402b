import { useNames } from '../../components/caller-name.tsx'
import { Card, Empty } from '../../components/components.ts'
import { callsText } from '../../format.ts'
import { Shares } from './spenders.tsx'
import { callsToday, type Today } from './today.tsx'

const REFUSED = { status: 'refused' }

/** Callers refused today: no valid key, no money, no permission, or too many calls. */
export function Refused({ today: { from, byCaller } }: { today: Today }) {
  const all = callsToday(from, REFUSED)
  const names = useNames()
  return (
    <Card title="Refused today" actions={<a href={all}>All refused calls</a>}>
      {byCaller.data && (
        <Shares
          label="Refused calls by caller"
          groups={byCaller.data.groups.filter(({ refused }) => refused > 0)}
          nameOf={(key) => (key === '' ? 'Unknown key' : names.of(key))}
          hrefOf={(key) => callsToday(from, { ...REFUSED, ...(key !== '' && { caller_id: key }) })}
          othersHref={all}
          bar={(groups) => {
            const calls = groups.reduce((sum, { refused }) => sum + refused, 0)
            return { value: calls, text: callsText(calls) }
          }}
          empty={
            <Empty title="No refused calls" hint="Calls refused for a missing key, money or permission appear here." />
          }
        />
      )}
    </Card>
  )
}
