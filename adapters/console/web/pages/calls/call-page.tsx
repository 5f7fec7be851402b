import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import type { ExplainedCall } from '../../../../platform/routes/calls-routes.ts'
import { Advice } from '../../components/advice.tsx'
import { BudgetBars } from '../../components/budgets.tsx'
import { Card, Copy, Facts, Grid, NotLoaded, Page, When } from '../../components/content.ts'
import { count, duration, percent, usdExact } from '../../format.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { Candidates } from './call-candidates.tsx'
import { Content } from './call-content.tsx'
import { Money } from './call-money.tsx'
import { Waterfall } from './call-waterfall.tsx'
import { MendLink } from './mend-link.tsx'
import { isFault, nobody, Outcome } from './outcome.tsx'
import './calls.css'

/** Page of a call: the way it took, from its key to the ledger. */
export function CallPage({ id }: { id: string }) {
  const live = useLive<ExplainedCall>(`/api/calls/${encodeURIComponent(id)}/explained`, { everyMs: 30_000 })
  const { data } = live
  return (
    <Page
      title="Call"
      back={{ label: 'All calls', href: href('calls') }}
      intro={
        <span class="actions">
          {data?.call.session_id && (
            <a href={href('sessions', { id: data.call.session_id, query: { key: data.call.caller_id } })}>
              its session
            </a>
          )}
          <Copy text={id} isShort />
        </span>
      }
    >
      {data ? <Explained of={data} /> : <NotLoaded of={live} what="the call" />}
    </Page>
  )
}

function Explained({ of }: { of: ExplainedCall }) {
  const { call, before } = of
  return (
    <>
      <Verdict of={of} />
      <Grid of="columns">
        <Key of={of} />
        <Route of={of} />
        <Candidates of={of} />
        <Card title="Conversion">
          <Changes of={call} />
        </Card>
        <Waterfall of={of} />
        <Money of={of} />
        <Card title="Details">
          <Details of={call} />
        </Card>
      </Grid>
      <Content key={call.call_id} of={call} before={before} />
    </>
  )
}

/** Outcome in one sentence, and what to do about a failure. */
function Verdict({ of: { call, attempts } }: { of: ExplainedCall }) {
  const at = attempts.findIndex(({ call_id }) => call_id === call.call_id) + 1
  return (
    <Card>
      <span class="actions">
        <Outcome call={call} />
        <strong>{verdictOf(call)}</strong>
        {attempts.length > 1 && (
          <span class="muted">
            attempt {at} of {attempts.length}
          </span>
        )}
        <span class="muted">
          {call.path}, <When at={call.at} />
        </span>
      </span>
      {call.error !== null && <p>{call.error}</p>}
      {isFault(call) && (
        <span class="actions">
          <Advice call={call} />
          <MendLink call={call} />
        </span>
      )}
    </Card>
  )
}

function verdictOf({ status, http_status, upstream, model, latency_ms }: CallRecord): string {
  const took = duration(latency_ms)
  if (status === 'ok') return `Answered by ${upstream} in ${took}`
  if (status === 'refused') return 'Refused before it was sent'
  if (status === 'aborted') return `Left by its client after ${took}`
  if (status === 'hedged') return 'Another candidate answered first'
  return `${upstream} ${http_status === null ? 'gave no answer' : `answered ${http_status}`} for ${model ?? 'it'} after ${took}`
}

function Key({ of: { call, key, group } }: { of: ExplainedCall }) {
  return (
    <Card title="Key and budget">
      {key === null ? (
        <p>{call.caller_id === null ? nobody(call) : <Copy text={call.caller_id} isShort />}</p>
      ) : (
        <>
          <Facts
            of={{
              Key: <a href={href('keys', { id: key.id })}>{key.name}</a>,
              Group: group && <a href={href('keys', { id: group.id })}>{group.name}</a>,
              'May use': key.models?.join(', ') ?? 'all models',
              'Calls a minute': key.limits.requests_per_minute,
              'Tokens a minute': key.limits.tokens_per_minute && count(key.limits.tokens_per_minute),
              From: call.address,
            }}
          />
          <p class="hint">Budgets as they are now:</p>
          <BudgetBars budgets={key.limits.budgets} spend={key.spend} hourlyUsd={null} />
          {group && group.budgets.length > 0 && (
            <BudgetBars budgets={group.budgets} spend={group.spend} hourlyUsd={null} />
          )}
        </>
      )}
    </Card>
  )
}

const BY = {
  route: 'a route matches it',
  name: 'its name names the upstream',
  models: 'the first upstream that serves it',
  default: 'no rule matches it: the default upstream',
} as const

function Route({ of: { call, route } }: { of: ExplainedCall }) {
  const asked = call.requested_model ?? 'no model'
  return (
    <Card title="Route">
      <p>
        Asked for <code>{asked}</code>
        {call.model !== null && call.model !== asked && (
          <>
            , sent as <code>{call.model}</code>
          </>
        )}
        .
      </p>
      {route && (
        <>
          <p class="hint">As routes are now, {BY[route.by]}:</p>
          <ol class="plain-list">
            {route.candidates.map(({ upstream, id, configured }) => (
              <li key={`${upstream}/${id}`}>
                {upstream} / {id} {!configured && <span class="bad">has no key</span>}
              </li>
            ))}
          </ol>
          <a href={href('upstreams', { query: { model: asked } })}>Edit the route</a>
        </>
      )}
    </Card>
  )
}

/** Changes of the request on its way, and the endpoint that it went to. */
function Changes({ of: { changed = [], path, kind } }: { of: CallRecord }) {
  return (
    <>
      {changed.length === 0 ? (
        <p>Nothing was changed but the model’s name.</p>
      ) : (
        <p>{count(changed.length)} changed:</p>
      )}
      <ul class="plain-list">
        {changed.map((change) => (
          <li key={change}>
            <code>{change}</code>
          </li>
        ))}
      </ul>
      <p class="hint">
        Sent to {path}
        {kind && `, as ${kind}`}.
      </p>
    </>
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
  return (
    <Facts
      of={{
        Began: <When at={call.at} />,
        Provider: `${call.upstream} ${call.path}${call.stream ? ', streamed' : ''}`,
        'Provider key': call.provider_key && <code>{call.provider_key}</code>,
        Source: call.surface,
        Client: [call.client, call.client_version, call.kind && `(${call.kind})`].filter(Boolean).join(' ') || null,
        Session: call.session_id && (
          <a href={href('sessions', { id: call.session_id, query: { key: call.caller_id } })}>{call.session_id}</a>
        ),
        'Prompt cache': cacheOf(call),
        Tags: call.tags?.join(', '),
      }}
    />
  )
}
