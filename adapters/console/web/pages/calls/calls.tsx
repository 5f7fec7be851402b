import { useEffect, useRef, useState } from 'preact/hooks'
import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import { CALL_STATUS_NAMES } from '../../../../../src/calls/call-status.ts'
import { Caller, callerOptions } from '../../components/caller-name.tsx'
import { Badge, Page } from '../../components/content.ts'
import { ALL, Button, TIMES, useFilters, WHOLE_NAMES } from '../../components/forms.ts'
import { type Column, figureColumn, ListCard, moneyColumn, whenColumn } from '../../components/lists.ts'
import { count, duration, percent } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { type PageProps, place } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { groupOptions, useGroups } from '../../use-groups.ts'
import { CallPage } from './call-page.tsx'
import { Histogram } from './histogram.tsx'
import { nobody, Outcome } from './outcome.tsx'
import { useNewCalls } from './use-new-calls.ts'

const STATUSES = [ALL, ...CALL_STATUS_NAMES]
/** Filters that links set: they have no field until one does. */
const LINKED = ['group', 'kind', 'upstream'] as const
const FILTERS = [
  'status',
  'model',
  'path',
  'caller_id',
  ...LINKED,
  'session',
  'address',
  'min_cost_usd',
  'from',
  'to',
] as const

/** Audit trail: all calls to model providers, or one of them. */
export default function Calls({ id, query }: PageProps) {
  if (id !== null) return <CallPage key={id} id={id} />
  return (
    <Page
      title="Calls"
      intro="All calls to model providers, newest first. Prompts and answers are stored only if audit.store_content is on."
    >
      <Trail query={query} />
    </Page>
  )
}

const COLUMNS: Column<CallRecord>[] = [
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
    render: (call) => (call.caller_id === null ? nobody(call) : <Caller id={call.caller_id} />),
  },
  figureColumn('Tokens', ({ usage }) => (usage === null ? '—' : count(usage.total_tokens))),
  figureColumn('Cached', ({ usage }) =>
    usage?.cached_tokens ? percent(usage.cached_tokens / usage.prompt_tokens) : '—',
  ),
  moneyColumn('upstream_cost_usd', 'Cost'),
  figureColumn('Took', ({ latency_ms }) => duration(latency_ms)),
]

function Trail({ query }: Pick<PageProps, 'query'>) {
  const { isAdmin = false } = session.value ?? {}
  const filters = useFilters(query, FILTERS, ['calls'], { status: STATUSES })
  const { draft, asked } = filters
  const live = useLiveTrail(asked)
  // A field stays while it is emptied to be filled again.
  const opened = useRef(new Set<string>()).current
  for (const name of LINKED) if (draft[name]) opened.add(name)
  const clear = () => {
    opened.clear()
    filters.clear()
  }
  const groups = useGroups(isAdmin && opened.has('group'))
  const callers = {
    name: 'caller_id',
    label: 'Caller',
    options: [ALL, ...callerOptions(draft.caller_id)],
  } as const
  const linked = [
    { name: 'group', label: 'Group', options: [ALL, ...groupOptions(groups, draft.group)] },
    { name: 'kind', label: 'Kind', maxLength: 64 },
    { name: 'upstream', label: 'Upstream', maxLength: 256 },
  ] as const
  return (
    <ListCard<CallRecord, typeof draft>
      label="Calls"
      title="Audit trail"
      actions={<LiveSwitch of={live} />}
      filters={{
        ...filters,
        clear,
        one: 'call',
        hint: WHOLE_NAMES,
        below: <Histogram filter={draft} />,
        fields: [
          { name: 'status', label: 'Status', options: STATUSES },
          { name: 'model', label: 'Model', maxLength: 256 },
          { name: 'path', label: 'Path', placeholder: '/v1/…', maxLength: 1024 },
          ...(isAdmin ? [callers] : []),
          ...linked.filter(({ name }) => opened.has(name)),
          { name: 'session', label: 'Session', maxLength: 128 },
          { name: 'address', label: 'Address', maxLength: 64 },
          { name: 'min_cost_usd', label: 'Cost from $', type: 'number', min: 0, step: 'any' },
          ...TIMES,
        ],
      }}
      list={live.page}
      loading="the calls"
      opens="calls"
      columns={COLUMNS}
      empty={{
        title: 'No calls yet',
        hint: 'Calls appear as they end. Have a coding agent use the models of Gazeway, or chat on the Connections page:',
        command: 'gazeway connect claude-code',
      }}
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
      <Button size="small" onClick={() => pause(!isPaused)} children={isPaused ? 'Resume' : 'Pause'} />
    </>
  )
}
