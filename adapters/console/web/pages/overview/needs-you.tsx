import type { ComponentChildren } from 'preact'
import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import type { ReviewRecord } from '../../../../../src/review/review-record.ts'
import type { Burn } from '../../../../../src/wallet/burn/burn.ts'
import type { CallStatsReply } from '../../../../platform/routes/calls-routes.ts'
import { Advice } from '../../components/advice.tsx'
import { Card, Empty, ErrorNote, type Tone, When } from '../../components/content.ts'
import { count, duration, percent, usd } from '../../format.ts'
import { now } from '../../now.ts'
import type { List } from '../../paging.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { DAY_MS, startOf } from '../../time.ts'
import { useLive } from '../../use-live.ts'
import './overview.css'

const DAY_SECONDS = 86_400
/** Failed calls that are searched for causes. */
const SEARCHED = 100
/** Maximum number of matters shown, and of causes among them when there are others, too. */
const MAX_SHOWN = 4
const LEAST_CAUSES = 2
/** Keys with the least time left that are searched for such in use, and the maximum number shown. */
const SEARCHED_KEYS = 50
const MAX_DRY = 2
/** Share of fallbacks at which the first endpoint needs a look. */
const MANY_FALLBACKS = 0.2

/** Matter that a person decides or mends. */
interface Need {
  key: string
  tone: Tone
  title: ComponentChildren
  detail: ComponentChildren
}

/** Failed calls with the same cause. */
interface Cause {
  key: string
  latest: CallRecord
  calls: number
}

/** Lists what waits for a person: causes of failed calls, keys that run out within a day, reviews without a decision. */
export function NeedsYou(props: { fallbacks: CallStatsReply['fallbacks'] | undefined; isLater: boolean }) {
  const { fallbacks, isLater } = props
  const isAdmin = session.value?.isAdmin ?? false
  const since = startOf('hour', now.value - DAY_MS)
  const failed = useLive<List<CallRecord>>(`/api/calls?status=error&from=${since}&limit=${SEARCHED}`, { everyMs: 5000 })
  const dry = useLive<List<Burn>>(isLater && isAdmin ? `/api/keys/burn?limit=${SEARCHED_KEYS}` : null, {
    everyMs: 30_000,
  })
  const reviews = useLive<List<ReviewRecord>>(isLater ? '/api/reviews?limit=25' : null, { everyMs: 30_000 })
  const isAllRead = failed.data !== null && reviews.data !== null && (dry.data !== null || !isAdmin)
  const unread = [failed, dry, reviews].find(({ data, error }) => data === null && error !== null)
  const others = [
    ...(dry.data?.items ?? []).flatMap(dryNeed).slice(0, MAX_DRY),
    ...reviewNeeds(reviews.data?.items ?? []),
    ...fallbackNeeds(fallbacks),
  ]
  const causes = causesOf(failed.data?.items ?? [])
  const shown = causes.slice(0, Math.max(LEAST_CAUSES, MAX_SHOWN - others.length)).map(causeNeed)
  const left = causes.length - shown.length
  const needs = [...shown, ...others]
  return (
    <Card title="Needs you" actions={<a href={href('calls', { query: { status: 'error' } })}>All failed calls</a>}>
      <ErrorNote error={unread?.error} onRetry={() => unread?.reload()} />
      {isAllRead && needs.length === 0 && (
        <Empty
          title="Nothing needs you"
          hint="No failed calls in 24 hours, no key that runs out, no review that waits. The checks of this machine:"
          command="gazeway doctor"
        />
      )}
      <ul class="needs" aria-label="Needs you">
        {needs.map(({ key, tone, title, detail }) => (
          <li key={key}>
            <p>
              <span class={`dot ${tone}`} aria-hidden="true" /> {title}
            </p>
            <p class="muted">{detail}</p>
          </li>
        ))}
      </ul>
      {left > 0 && (
        <p class="hint">
          {left === 1 ? '1 more cause' : `${left} more causes`} among the{' '}
          <a href={href('calls', { query: { status: 'error' } })}>failed calls</a>
        </p>
      )}
    </Card>
  )
}

function causeNeed({ key, latest, calls }: Cause): Need {
  const { call_id, at, upstream, http_status: status, model, requested_model, error } = latest
  return {
    key,
    tone: 'bad',
    title: (
      <>
        <a href={href('calls', { id: call_id })} title={error ?? undefined}>
          {status === null ? `No answer from ${upstream}` : `${upstream} answered ${status}`}
        </a>{' '}
        <span class="hint">
          {model ?? requested_model ?? 'no model'}, {calls === 1 ? '1 call' : `${calls} calls`}, <When at={at} />
        </span>
      </>
    ),
    detail: <Advice call={latest} />,
  }
}

/** Groups failed calls, newest first, by upstream, model, status and error. */
function causesOf(calls: readonly CallRecord[]): Cause[] {
  const causes = new Map<string, Cause>()
  for (const call of calls) {
    // Ids and figures in a message differ from call to call.
    const said = call.error?.replace(/\S*\d\S*/g, '#')
    const key = JSON.stringify([call.upstream, call.model, call.http_status, said])
    const cause = causes.get(key)
    if (cause) cause.calls += 1
    else causes.set(key, { key, latest: call, calls: 1 })
  }
  return [...causes.values()]
}

/** A key or group in use that runs out within a day. */
function dryNeed({ id, name, time_left_seconds: left, runs_out, burned_24h_usd }: Burn): Need[] {
  if (left === null || left >= DAY_SECONDS || burned_24h_usd === 0) return []
  const page = <a href={href('keys', { id })}>{name}</a>
  return [
    {
      key: id,
      tone: left === 0 ? 'bad' : 'warn',
      title: (
        <>
          {page} {left === 0 ? 'has run out' : `runs out in ${duration(left * 1000)}`}
        </>
      ),
      detail: `It spent ${usd(burned_24h_usd)} in 24 hours: raise its ${runs_out} on its page.`,
    },
  ]
}

function reviewNeeds(reviews: readonly ReviewRecord[]): Need[] {
  const waiting = reviews.filter(({ decided_at }) => decided_at === null).length
  if (waiting === 0) return []
  const title = waiting === 1 ? 'A review waits' : `${count(waiting)} reviews wait`
  const detail = 'Read the change, and approve it or ask for changes.'
  return [{ key: 'reviews', tone: 'neutral', title: <a href={href('reviews')}>{title}</a>, detail }]
}

function fallbackNeeds(fallbacks: CallStatsReply['fallbacks'] | undefined): Need[] {
  if (!fallbacks || fallbacks.rate < MANY_FALLBACKS) return []
  const { rate, fallen_back, requests } = fallbacks
  return [
    {
      key: 'fallbacks',
      tone: 'warn',
      title: <a href={href('upstreams')}>{percent(rate)} of research calls fell back</a>,
      detail: `${count(fallen_back)} of ${count(requests)} today: the responses endpoint did not answer them.`,
    },
  ]
}
