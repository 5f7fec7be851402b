import type { CallRecord, SkippedCandidate } from '../../../../../src/calls/call-record.ts'
import { CALL_STATUS_NAMES, CALL_STATUSES } from '../../../../../src/calls/call-status.ts'
import { Advice } from '../../components/advice.tsx'
import {
  Badge,
  Button,
  Card,
  type Column,
  Copy,
  Empty,
  Facts,
  type FieldSpec,
  Filters,
  figureColumn,
  Grid,
  ListCard,
  moneyColumn,
  NotLoaded,
  Page,
  Stat,
  When,
  whenColumn,
} from '../../components/components.ts'
import { COST_FROM } from '../../components/cost-from.ts'
import { count, duration, percent, shortId, usdExact } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { go, href, type PageProps, queryOf } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { timeIn } from '../../typed.ts'
import { useLive } from '../../use-live.ts'
import { OneSession } from './session-cache.tsx'
import './calls.css'

const FILTERS = ['status', 'model', 'path', 'caller_id', 'session', 'from', 'to'] as const
type Filter = Record<(typeof FILTERS)[number], string>

/** Audit trail: all calls to model providers, or one of them. */
export default function Calls({ id, query }: PageProps) {
  if (id !== null)
    return (
      <Page
        title="Call"
        intro="One call to the provider, as recorded in the audit trail."
        back={{ label: 'All calls', href: href('calls') }}
      >
        <OneCall id={id} />
      </Page>
    )
  return (
    <Page
      title="Calls"
      intro="All calls to model providers, newest first. Prompts and answers are stored only if audit.store_content is on."
    >
      <Trails filter={filterOf(query)} />
    </Page>
  )
}

function filterOf(query: URLSearchParams): Filter {
  return Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ''])) as Filter
}

const FIELDS: FieldSpec<Filter>[] = [
  { name: 'status', label: 'Status', options: [{ value: '', label: 'All' }, ...CALL_STATUS_NAMES] },
  { name: 'model', label: 'Model', maxLength: 256 },
  { name: 'path', label: 'Path', placeholder: '/v1/chat/completions', maxLength: 1024 },
  { name: 'caller_id', label: 'Caller', placeholder: 'key_…', maxLength: 256 },
  { name: 'session', label: 'Session', maxLength: 128 },
  { name: 'from', label: 'From', type: 'datetime-local' },
  { name: 'to', label: 'Before', type: 'datetime-local' },
]

const COLUMNS: Column<CallRecord>[] = [
  whenColumn('at', 'When'),
  { key: 'status', label: 'Status', render: (call) => <Outcome call={call} /> },
  { key: 'model', label: 'Model', render: ({ model, requested_model }) => model ?? requested_model ?? '—' },
  { key: 'path', label: 'Path', fold: 'first' },
  { key: 'surface', label: 'Through', fold: 'first' },
  {
    key: 'caller_id',
    label: 'Caller',
    render: (call) => (call.caller_id === null ? nobody(call) : shortId(call.caller_id)),
  },
  figureColumn('Tokens', ({ usage }) => (usage === null ? '—' : count(usage.total_tokens))),
  figureColumn('Cached', ({ usage }) =>
    usage?.cached_tokens ? percent(usage.cached_tokens / usage.prompt_tokens) : '—',
  ),
  moneyColumn('upstream_cost_usd', 'Cost'),
  figureColumn('Took', ({ latency_ms }) => duration(latency_ms)),
]

/** The calls, below the prompt caches of their session where they are of one. */
function Trails({ filter }: { filter: Filter }) {
  const { session: id, caller_id } = filter
  return (
    <>
      {id !== '' && <OneSession key={`${id} ${caller_id}`} session={id} caller_id={caller_id} />}
      <Trail filter={filter} />
    </>
  )
}

function Trail({ filter }: { filter: Filter }) {
  const set = (change: Partial<Filter>) => go(href('calls', { query: { ...filter, ...change } }), true)
  const asked = queryOf({ ...filter, from: timeIn(filter.from), to: timeIn(filter.to) })
  const page = usePage<CallRecord>(`/api/calls${asked}`)
  const fields = FIELDS.filter(({ name }) => name !== 'caller_id' || session.value?.isAdmin)
  return (
    <ListCard<CallRecord>
      label="Calls"
      filters={
        <Filters class="call-filters" draft={filter} edit={set} fields={fields}>
          {asked && <Button onClick={() => go(href('calls'), true)}>Clear filters</Button>}
        </Filters>
      }
      list={page}
      loading="the calls"
      rowKey={({ call_id }) => call_id}
      addressOf={({ call_id }) => href('calls', { id: call_id })}
      columns={COLUMNS}
      empty={
        asked ? (
          <Empty title="No call matches" hint="Filters match whole names. Clear a filter to see more." />
        ) : (
          <Empty
            title="No calls yet"
            hint="Calls appear when an assistant or a program asks a model: over MCP, on /v1, or in the chat on the Connections page."
          />
        )
      }
    />
  )
}

function Outcome({ call: { status, fallback_from } }: { call: CallRecord }) {
  return (
    <>
      <Badge tone={CALL_STATUSES[status].tone}>{status}</Badge>
      {fallback_from !== null && (
        <>
          {' '}
          <Badge tone="warn">fallback</Badge>
        </>
      )}
    </>
  )
}

/** Label of a caller without a known key. */
const nobody = ({ status }: CallRecord) => (CALL_STATUSES[status].counts === 'refusal' ? 'unknown key' : 'local tool')

function hasAdvice({ status }: CallRecord): boolean {
  const { counts } = CALL_STATUSES[status]
  return counts === 'error' || counts === 'refusal'
}

/** Reasons to skip an upstream, in words. */
const SKIPPED: Readonly<Record<SkippedCandidate['reason'], string>> = {
  circuit_open: 'circuit breaker open',
  keys_resting: 'its keys are paused',
}

function OneCall({ id }: { id: string }) {
  const live = useLive<CallRecord>(`/api/calls/${encodeURIComponent(id)}`, { everyMs: 30_000 })
  const call = live.data
  if (call === null) return <NotLoaded of={live} what="the call" />
  return (
    <>
      <Figures of={call} />
      {call.error !== null && (
        <Card title="Error">
          <p>{call.error}</p>
          {hasAdvice(call) && (
            <p class="hint">
              <Advice call={call} />
            </p>
          )}
        </Card>
      )}
      <Card title="Details">
        <Details of={call} />
      </Card>
      <Card title="Content">
        {call.content === undefined ? (
          <p class="hint">Not stored. Turn on audit.store_content in the settings to store prompts and answers.</p>
        ) : (
          <pre>{JSON.stringify(call.content, null, 2)}</pre>
        )}
      </Card>
    </>
  )
}

function Figures({ of: call }: { of: CallRecord }) {
  const { usage, http_status, upstream_cost_usd: cost, first_token_ms } = call
  const tokens = usage && `${count(usage.prompt_tokens)} in, ${count(usage.completion_tokens)} out`
  return (
    <Grid of="figures">
      <Stat
        label="Outcome"
        value={<Outcome call={call} />}
        hint={http_status === null ? 'no answer' : `HTTP ${http_status}`}
      />
      <Stat
        label="Tokens"
        value={usage === null ? '—' : count(usage.total_tokens)}
        hint={usage ? `${tokens}${usage.estimated ? ', estimated' : ''}` : 'not reported'}
      />
      <Stat
        label="Cost at the provider"
        value={cost === null ? 'unknown' : usdExact(cost)}
        hint={call.price_from === null ? undefined : COST_FROM[call.price_from]}
      />
      <Stat
        label="Took"
        value={duration(call.latency_ms)}
        hint={first_token_ms === null ? undefined : `first token after ${duration(first_token_ms)}`}
      />
    </Grid>
  )
}

/** Tokens of a call that the prompt cache had, and what that saved and missed. */
function cacheOf({ usage, cache }: CallRecord): string | null {
  const { cached_tokens = 0, cache_write_tokens = 0, prompt_tokens = 0 } = usage ?? {}
  const said = [
    cached_tokens > 0 &&
      `${count(cached_tokens)} of ${count(prompt_tokens)} tokens (${percent(cached_tokens / prompt_tokens)})`,
    cache_write_tokens > 0 && `${count(cache_write_tokens)} written`,
    cache && cache.saved_usd > 0 && `${usdExact(cache.saved_usd)} saved`,
    cache && cache.missed_tokens > 0 && `${count(cache.missed_tokens)} missed for ${usdExact(cache.missed_usd)}`,
    cache && cache.changed !== null && `the client changed its ${cache.changed}`,
  ]
  return said.filter(Boolean).join(', ') || null
}

function Details({ of: call }: { of: CallRecord }) {
  const { model, requested_model: requested, caller_id, session_id, fallback_from } = call
  const asked = requested !== null && requested !== model ? `, requested as ${requested}` : ''
  return (
    <Facts
      of={{
        Call: <Copy text={call.call_id} />,
        Began: <When at={call.at} />,
        Model: `${model ?? '—'}${asked}`,
        Provider: `${call.upstream} ${call.path}${call.stream ? ', streamed' : ''}`,
        'Provider key': call.provider_key && <code>{call.provider_key}</code>,
        Source: call.surface,
        Caller: caller_id === null ? nobody(call) : <code>{caller_id}</code>,
        Client: [call.client, call.client_version, call.kind && `(${call.kind})`].filter(Boolean).join(' ') || null,
        Session: session_id && <a href={href('calls', { query: { session: session_id } })}>{session_id}</a>,
        'Prompt cache': cacheOf(call),
        Skipped: call.skipped.map(({ upstream, reason }) => `${upstream} (${SKIPPED[reason]})`).join(', ') || null,
        Changed: call.changed?.join(', ') ?? null,
        'Fallback for': fallback_from && <a href={href('calls', { id: fallback_from })}>{fallback_from}</a>,
      }}
    />
  )
}
