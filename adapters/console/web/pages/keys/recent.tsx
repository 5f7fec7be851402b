import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import type { CodingSession } from '../../../../../src/coding-sessions/coding-session.ts'
import { Advice } from '../../components/advice.tsx'
import { ListCard, whenColumn } from '../../components/lists.ts'
import { count } from '../../format.ts'
import type { List } from '../../paging.ts'
import { href, queryOf } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { SESSION_COLUMNS } from '../sessions/session-columns.tsx'
import { Addresses } from './addresses.tsx'
import type { Callers } from './spending.tsx'

/** Most matches that are counted one by one. */
const MOST_COUNTED = 1000

/** First rows of a list, whose other pages are elsewhere: the address of this page has none of them. */
const useFew = <T,>(path: string, query: Readonly<Record<string, string>>) =>
  useLive<List<T>>(`${path}${queryOf({ ...query, limit: '5' })}`, { everyMs: 10_000 })

/** Last sessions and refused calls of a key or group, and the addresses that it called from. */
export function Done({ of, sessions }: { of: Callers; sessions: { key: string } | { group: string } }) {
  return (
    <>
      <RecentSessions query={sessions} />
      <Refusals of={of} />
      <Addresses of={of} />
    </>
  )
}

/** Last sessions of a key or group, with a link to all. */
function RecentSessions({ query }: { query: { key: string } | { group: string } }) {
  const page = useFew<CodingSession>('/api/coding-sessions', query)
  const { total = 0 } = page.data ?? {}
  return (
    <ListCard<CodingSession>
      title="Sessions"
      actions={<a href={href('sessions', { query })}>All {total < MOST_COUNTED && count(total)}</a>}
      label="Last sessions"
      list={page}
      rowKey={({ id, key }) => `${id} ${key}`}
      opens={({ id, key }) => href('sessions', { id, query: { key } })}
      columns={SESSION_COLUMNS}
      empty={{
        title: 'No sessions',
        hint: 'Coding agents name their session in each call; gazeway connect sets one up.',
      }}
    />
  )
}

/** Last refused calls, each with what to do. */
function Refusals({ of }: { of: Callers }) {
  const query = { status: 'refused', ...of }
  const page = useFew<CallRecord>('/api/calls', query)
  return (
    <ListCard<CallRecord>
      title="Refusals"
      actions={<a href={href('calls', { query })}>All {count(page.data?.total ?? 0)}</a>}
      label="Last refused calls"
      list={page}
      opens="calls"
      columns={[
        whenColumn('at', 'When'),
        { key: 'error', label: 'Reason', align: 'words' },
        { key: 'advice', label: 'What to do', align: 'words', render: (call) => <Advice call={call} /> },
      ]}
      empty="No call was refused"
    />
  )
}
