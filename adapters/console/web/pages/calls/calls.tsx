import { useEffect, useState } from 'preact/hooks'
import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { CALL_STATUS_NAMES } from '../../../../../src/calls/call-status.ts'
import { Caller, callerOptions, type Names, useNames } from '../../components/caller-name.tsx'
import {
  Badge,
  Button,
  type Column,
  Empty,
  type FieldSpec,
  Filters,
  figureColumn,
  ListCard,
  moneyColumn,
  Page,
  whenColumn,
} from '../../components/components.ts'
import { count, duration, percent } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { filtersIn, go, href, type PageProps, place, queryOf } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { timeIn } from '../../typed.ts'
import { groupOptions, useGroups } from '../../use-groups.ts'
import { CallPage } from './call-page.tsx'
import { Histogram } from './histogram.tsx'
import { nobody, Outcome } from './outcome.tsx'
import { useNewCalls } from './use-new-calls.ts'

const FILTERS = ['status', 'model', 'path', 'caller_id', 'group', 'session', 'address', 'from', 'to'] as const
type Filter = Record<(typeof FILTERS)[number], string>

/** Audit trail: all calls to model providers, or one of them. */
export default function Calls({ id, query }: PageProps) {
  if (id !== null) return <CallPage key={id} id={id} />
  return (
    <Page
      title="Calls"
      intro="All calls to model providers, newest first. Prompts and answers are stored only if audit.store_content is on."
    >
      <Trail filter={filtersIn(query, FILTERS)} />
    </Page>
  )
}

const FIELDS: FieldSpec<Filter>[] = [
  { name: 'status', label: 'Status', options: [{ value: '', label: 'All' }, ...CALL_STATUS_NAMES] },
  { name: 'model', label: 'Model', maxLength: 256 },
  { name: 'path', label: 'Path', placeholder: '/v1/chat/completions', maxLength: 1024 },
  { name: 'session', label: 'Session', maxLength: 128 },
  { name: 'address', label: 'Address', maxLength: 64 },
  { name: 'from', label: 'From', type: 'datetime-local' },
  { name: 'to', label: 'Before', type: 'datetime-local' },
]

const columnsFor = (names: Names): Column<CallRecord>[] => [
  whenColumn('at', 'When'),
  { key: 'status', label: 'Status', render: (call) => <Outcome call={call} /> },
  {
    key: 'model',
    label: 'Model',
    fold: 'last',
    render: ({ model, requested_model }) => model ?? requested_model ?? '—',
  },
  { key: 'path', label: 'Path', fold: 'first' },
  { key: 'surface', label: 'Through', fold: 'first' },
  {
    key: 'caller_id',
    label: 'Caller',
    render: (call) => (call.caller_id === null ? nobody(call) : <Caller id={call.caller_id} names={names} />),
  },
  figureColumn('Tokens', ({ usage }) => (usage === null ? '—' : count(usage.total_tokens))),
  figureColumn('Cached', ({ usage }) =>
    usage?.cached_tokens ? percent(usage.cached_tokens / usage.prompt_tokens) : '—',
  ),
  moneyColumn('upstream_cost_usd', 'Cost'),
  figureColumn('Took', ({ latency_ms }) => duration(latency_ms)),
]

function Trail({ filter }: { filter: Filter }) {
  const set = (change: Partial<Filter>) => go(href('calls', { query: { ...filter, ...change } }), true)
  const asked = queryOf({ ...filter, from: timeIn(filter.from), to: timeIn(filter.to) })
  const live = useLiveTrail(asked)
  const { page } = live
  const names = useNames()
  const caller: FieldSpec<Filter> = {
    name: 'caller_id',
    label: 'Caller',
    options: [{ value: '', label: 'All' }, ...callerOptions(names, filter.caller_id)],
  }
  const groups = useGroups(session.value?.isAdmin === true && filter.group !== '')
  const group: FieldSpec<Filter> = {
    name: 'group',
    label: 'Group',
    options: [{ value: '', label: 'All' }, ...groupOptions(groups, filter.group)],
  }
  const fields = session.value?.isAdmin
    ? [...FIELDS.slice(0, 3), caller, ...(filter.group ? [group] : []), ...FIELDS.slice(3)]
    : FIELDS
  return (
    <ListCard<CallRecord>
      label="Calls"
      title="Audit trail"
      actions={<LiveSwitch of={live} />}
      filters={
        <>
          <Filters draft={filter} edit={set} fields={fields}>
            {asked && <Button onClick={() => go(href('calls'), true)}>Clear filters</Button>}
          </Filters>
          <Histogram filter={filter} />
        </>
      }
      list={page}
      loading="the calls"
      rowKey={({ call_id }) => call_id}
      addressOf={({ call_id }) => href('calls', { id: call_id })}
      columns={columnsFor(names)}
      empty={
        asked ? (
          <Empty title="No call matches" hint="Filters match whole names. Clear a filter to see more." />
        ) : (
          <Empty
            title="No calls yet"
            hint="Calls appear as they end. Have a coding agent use the models of Gazeway, or chat on the Connections page:"
            command="gazeway connect claude"
          />
        )
      }
    />
  )
}

/** Intervals at which the list is read again, in milliseconds: while new calls arrive by a stream, and otherwise. */
const POLL_MS = { streaming: 60_000, alone: 3000 }

/** Page of calls that is loaded again as calls are recorded. The first page alone is live; a pause counts new calls. */
function useLiveTrail(asked: string) {
  const [isPaused, setPaused] = useState(false)
  const [waiting, setWaiting] = useState(0)
  const isFirst = !place.value.query.has('after')
  const isStreaming = useNewCalls(isFirst ? asked : null, (calls) => {
    if (isPaused) setWaiting((before) => before + calls)
    else page.reload()
  })
  const page = usePage<CallRecord>(`/api/calls${asked}`, {
    isPaused,
    everyMs: isStreaming ? POLL_MS.streaming : POLL_MS.alone,
  })
  useEffect(() => setWaiting(0), [asked])
  const pause = (to: boolean) => {
    setPaused(to)
    setWaiting(0)
  }
  return { page, isStreaming, isPaused, waiting, pause }
}

function LiveSwitch({ of: { isStreaming, isPaused, waiting, pause } }: { of: ReturnType<typeof useLiveTrail> }) {
  return (
    <>
      <span role="status">
        {isPaused ? (
          <Badge tone="warn">{waiting === 0 ? 'paused' : `paused, ${count(waiting)} new`}</Badge>
        ) : (
          <Badge tone={isStreaming ? 'good' : 'neutral'}>{isStreaming ? 'live' : 'every 3 s'}</Badge>
        )}
      </span>
      <Button size="small" onClick={() => pause(!isPaused)}>
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
    </>
  )
}
