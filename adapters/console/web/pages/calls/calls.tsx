import type { CallRecord, SkippedCandidate } from '../../../../../src/calls/call-record.ts'
import { Advice } from '../../components/advice.tsx'
import {
  Badge,
  Button,
  Card,
  Copy,
  DataTable,
  Empty,
  ErrorNote,
  Field,
  Grid,
  Loading,
  Money,
  Page,
  Pager,
  Select,
  Stat,
  TextInput,
  When,
} from '../../components/components.ts'
import { count, duration, shortId, usd } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { go, href, type PageProps } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { timeIn } from '../../typed.ts'
import { useLive } from '../../use-live.ts'
import './calls.css'

const TONES = { ok: 'good', error: 'bad', aborted: 'warn', hedged: 'neutral', refused: 'warn' } as const
const FILTERS = ['status', 'model', 'path', 'caller_id', 'from', 'to'] as const
type Filters = Record<(typeof FILTERS)[number], string>

/** Audit trail: all calls to model providers, or one of them. */
export default function Calls({ id, query }: PageProps) {
  if (id !== null)
    return (
      <Page
        title="Call"
        intro="One call to the provider, as recorded in the audit trail."
        actions={<a href={href('calls')}>All calls</a>}
      >
        <OneCall id={id} />
      </Page>
    )
  return (
    <Page
      title="Calls"
      intro="All calls to model providers, newest first. Prompts and answers are stored only if audit.store_content is on."
    >
      <Trail filters={filtersOf(query)} />
    </Page>
  )
}

function filtersOf(query: URLSearchParams): Filters {
  return Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? ''])) as Filters
}

function Trail({ filters }: { filters: Filters }) {
  const set = (change: Partial<Filters>) => go(href('calls', { query: { ...filters, ...change } }), true)
  const given = FILTERS.filter((name) => filters[name] !== '')
  const asked = new URLSearchParams(given.map((name) => [name, asApi(name, filters[name])]))
  const page = usePage<CallRecord>(`/api/calls${given.length > 0 ? `?${asked}` : ''}`)
  return (
    <Card>
      <div class="call-filters">
        <Field label="Status">
          <Select
            value={filters.status}
            options={[{ value: '', label: 'All' }, 'ok', 'error', 'aborted', 'hedged', 'refused']}
            onChange={(status) => set({ status })}
          />
        </Field>
        <Field label="Model">
          <TextInput value={filters.model} onInput={(model) => set({ model })} maxLength={256} />
        </Field>
        <Field label="Path">
          <TextInput
            value={filters.path}
            onInput={(path) => set({ path })}
            placeholder="/v1/chat/completions"
            maxLength={1024}
          />
        </Field>
        {session.value?.isAdmin && (
          <Field label="Caller">
            <TextInput
              value={filters.caller_id}
              onInput={(caller_id) => set({ caller_id })}
              placeholder="key_…"
              maxLength={256}
            />
          </Field>
        )}
        <Field label="From">
          <TextInput type="datetime-local" value={filters.from} onInput={(from) => set({ from })} />
        </Field>
        <Field label="Before">
          <TextInput type="datetime-local" value={filters.to} onInput={(to) => set({ to })} />
        </Field>
        {given.length > 0 && <Button onClick={() => go(href('calls'), true)}>Clear filters</Button>}
      </div>
      <ErrorNote error={page.error} onRetry={page.reload} />
      {page.data === null && page.loading ? (
        <Loading what="the calls" />
      ) : (
        <DataTable<CallRecord>
          label="Calls"
          rows={page.items}
          rowKey={({ call_id }) => call_id}
          onRow={({ call_id }) => go(href('calls', { id: call_id }))}
          columns={[
            { key: 'at', label: 'When', render: ({ at }) => <When at={at} /> },
            { key: 'status', label: 'Status', render: (call) => <Outcome call={call} /> },
            { key: 'model', label: 'Model', render: ({ model, requested_model }) => model ?? requested_model ?? '—' },
            { key: 'path', label: 'Path' },
            { key: 'surface', label: 'Through' },
            {
              key: 'caller_id',
              label: 'Caller',
              render: (call) => (call.caller_id === null ? nobody(call) : shortId(call.caller_id)),
            },
            {
              key: 'tokens',
              label: 'Tokens',
              align: 'right',
              render: ({ usage }) => (usage === null ? '—' : count(usage.total_tokens)),
            },
            {
              key: 'cost',
              label: 'Cost',
              align: 'right',
              render: ({ upstream_cost_usd: cost }) => (cost === null ? '—' : <Money usd={cost} />),
            },
            { key: 'latency', label: 'Took', align: 'right', render: ({ latency_ms }) => duration(latency_ms) },
          ]}
          of={page}
          empty={
            given.length > 0 ? (
              <Empty title="No call matches" hint="Filters match whole names. Clear a filter to see more." />
            ) : (
              <Empty
                title="No calls yet"
                hint="Calls appear when an assistant or a program asks a model: over MCP, on /v1, or in the chat on the Connections page."
              />
            )
          }
        />
      )}
      <Pager page={page} />
    </Card>
  )
}

/** Converts times of the form, which are local, for the API, which expects an offset. */
function asApi(name: keyof Filters, value: string): string {
  if (name !== 'from' && name !== 'to') return value
  return timeIn(value) ?? value
}

function Outcome({ call: { status, fallback_from } }: { call: CallRecord }) {
  return (
    <>
      <Badge tone={TONES[status]}>{status}</Badge>
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
const nobody = ({ status }: CallRecord) => (status === 'refused' ? 'unknown key' : 'local tool')

/** Reasons to skip an upstream, in words. */
const SKIPPED: Readonly<Record<SkippedCandidate['reason'], string>> = {
  circuit_open: 'circuit breaker open',
  keys_resting: 'its keys are paused',
}

function OneCall({ id }: { id: string }) {
  const { data: call, error, reload } = useLive<CallRecord>(`/api/calls/${encodeURIComponent(id)}`, { everyMs: 30_000 })
  if (call === null) return error ? <ErrorNote error={error} onRetry={reload} /> : <Loading what="the call" />
  const { usage } = call
  return (
    <>
      <Grid of="figures">
        <Stat
          label="Outcome"
          value={<Outcome call={call} />}
          hint={call.http_status === null ? 'no answer' : `HTTP ${call.http_status}`}
        />
        <Stat
          label="Tokens"
          value={usage === null ? '—' : count(usage.total_tokens)}
          hint={
            usage
              ? `${count(usage.prompt_tokens)} in, ${count(usage.completion_tokens)} out${usage.estimated ? ', estimated' : ''}`
              : 'not reported'
          }
        />
        <Stat
          label="Cost at the provider"
          value={call.upstream_cost_usd === null ? 'unknown' : usd(call.upstream_cost_usd)}
        />
        <Stat
          label="Took"
          value={duration(call.latency_ms)}
          hint={call.first_token_ms === null ? undefined : `first token after ${duration(call.first_token_ms)}`}
        />
      </Grid>
      {call.error !== null && (
        <Card title="Error">
          <p>{call.error}</p>
          {(call.status === 'error' || call.status === 'refused') && (
            <p class="hint">
              <Advice call={call} />
            </p>
          )}
        </Card>
      )}
      <Card title="Details">
        <dl class="facts">
          <dt>Call</dt>
          <dd>
            <Copy text={call.call_id} />
          </dd>
          <dt>Began</dt>
          <dd>
            <When at={call.at} />
          </dd>
          <dt>Model</dt>
          <dd>
            {call.model ?? '—'}
            {call.requested_model !== null &&
              call.requested_model !== call.model &&
              `, requested as ${call.requested_model}`}
          </dd>
          <dt>Provider</dt>
          <dd>
            {call.upstream} {call.path}
            {call.stream && ', streamed'}
          </dd>
          <dt>Source</dt>
          <dd>{call.surface}</dd>
          <dt>Caller</dt>
          <dd>{call.caller_id === null ? nobody(call) : <code>{call.caller_id}</code>}</dd>
          {call.skipped.length > 0 && (
            <>
              <dt>Skipped</dt>
              <dd>{call.skipped.map(({ upstream, reason }) => `${upstream} (${SKIPPED[reason]})`).join(', ')}</dd>
            </>
          )}
          {call.fallback_from !== null && (
            <>
              <dt>Fallback for</dt>
              <dd>
                <a href={href('calls', { id: call.fallback_from })}>{call.fallback_from}</a>
              </dd>
            </>
          )}
        </dl>
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
