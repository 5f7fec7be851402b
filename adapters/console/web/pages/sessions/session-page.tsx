import { useState } from 'preact/hooks'
import type { CallRecord } from '../../../../../src/calls/call-record.ts'
import type { SessionCache } from '../../../../../src/calls/session-cache.ts'
import type { CodingSessionDetails } from '../../../../../src/coding-sessions/read-session.ts'
import { BarLinks } from '../../components/bars.tsx'
import { CacheStat } from '../../components/cache-stat.tsx'
import { KeyLink } from '../../components/caller-name.tsx'
import { Badge, Card, Copy, Facts, Grid, NotLoaded, notify, Page, Stat, When } from '../../components/content.ts'
import { Button, Confirm, FormDialog } from '../../components/forms.ts'
import { callsText, count, usd } from '../../format.ts'
import { usePage } from '../../paging.ts'
import { usePostOnce } from '../../post-once.ts'
import { href, queryOf } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { amountIn } from '../../typed.ts'
import { useLive } from '../../use-live.ts'
import { workOf } from './session-columns.tsx'
import { Transcript, Turns, useTurns } from './turns.tsx'

/** Page of a session: its figures, and its calls as a timeline. @param caller key of its calls; null for the only one */
export function SessionPage({ id, caller }: { id: string; caller: string | null }) {
  const path = `/api/coding-sessions/${encodeURIComponent(id)}`
  const live = useLive<CodingSessionDetails>(`${path}${queryOf({ key: caller })}`)
  const one = live.data
  const key = one?.key ?? caller ?? ''
  const calls = usePage<CallRecord>(`/api/calls${queryOf({ session: id, caller_id: key })}`, {
    limit: 50,
    isPart: true,
  })
  const turns = useTurns(id, calls.items)
  return (
    <Page
      title={one ? workOf(one) : 'Session'}
      back={{ label: 'Sessions', href: href('sessions') }}
      intro={
        <span class="actions">
          {one && <Badge tone={one.state === 'stopped' ? 'warn' : 'good'}>{one.state}</Badge>}
          <Copy text={id} isShort />
        </span>
      }
      actions={one && session.value?.isAdmin && <Actions of={one} onChanged={live.reload} />}
    >
      {one ? <Figures of={one} /> : <NotLoaded of={live} what="the session" />}
      <BrokenCache session={id} caller_id={key} />
      <Card title="Cost by call">
        <BarLinks label="Cost by call, the oldest first" bars={calls.items.toReversed().map(barOf)} />
      </Card>
      <Turns page={calls} turns={turns} />
      <Transcript calls={calls.items} turns={turns} />
      {one && <Parts of={one} />}
    </Page>
  )
}

const barOf = (call: CallRecord) => ({
  key: call.call_id,
  label: `${call.model ?? call.path}: ${call.upstream_cost_usd === null ? 'unknown cost' : usd(call.upstream_cost_usd)}`,
  value: call.upstream_cost_usd ?? 0,
  href: href('calls', { id: call.call_id }),
  marked: (call.cache?.missed_tokens ?? 0) > 0,
})

function Figures({ of: one }: { of: CodingSessionDetails }) {
  const { limits, cache, key, id } = one
  const rows = href('calls', { query: { session: id, caller_id: key } })
  return (
    <Grid of="figures">
      <Stat
        label="Cost"
        href={rows}
        value={usd(one.cost_usd)}
        hint={limits.session_usd === null ? 'no limit' : `of ${usd(limits.session_usd)}`}
      />
      <Stat
        label="Calls"
        href={rows}
        value={count(one.calls)}
        hint={one.turns === null ? undefined : `in ${count(one.turns)} turns`}
      />
      <CacheStat of={cache} label="Cache hits" href={rows} />
      <Stat
        label="Errors"
        tone={one.errors > 0 ? 'bad' : 'neutral'}
        href={href('calls', { query: { session: id, caller_id: key, status: 'error' } })}
        value={count(one.errors)}
        hint={`${count(one.refused)} refused, ${count(one.retries)} sent again`}
      />
      <Stat
        label="Key"
        value={<KeyLink id={key} />}
        hint={[one.client.name, one.client.version].filter(Boolean).join(' ') || undefined}
      />
    </Grid>
  )
}

type Part = CodingSessionDetails['by_kind'][number]

/** Commits, kinds and models of a session. */
function Parts({ of: one }: { of: CodingSessionDetails }) {
  const cost = ({ calls, cost_usd }: Part) => `${usd(cost_usd)} in ${callsText(calls)}`
  const linked = (by: 'model' | 'kind') => (part: Part) => {
    const rows = href('calls', { query: { session: one.id, caller_id: one.key, [by]: part.key } })
    return [part.key || 'none', part.key ? <a href={rows}>{cost(part)}</a> : cost(part)] as const
  }
  return (
    <Grid>
      <Card title="By model">
        <Facts of={Object.fromEntries(one.by_model.map(linked('model')))} />
      </Card>
      <Card title="By kind">
        <Facts of={Object.fromEntries(one.by_kind.map(linked('kind')))} />
      </Card>
      <Card title="Commits">
        {one.commits.length === 0 && <p class="hint">None known.</p>}
        <ul class="plain-list">
          {one.commits.map(({ sha, at, subject, branch }) => (
            <li key={sha}>
              <code title={sha}>{sha.slice(0, 8)}</code> {subject} {branch && <span class="muted">{branch}</span>}{' '}
              <When at={at} />
            </li>
          ))}
        </ul>
      </Card>
    </Grid>
  )
}

/** Buttons that stop a session, let it go on, and raise its limit. */
function Actions(props: { of: CodingSessionDetails; onChanged: () => void }) {
  const { of: one, onChanged } = props
  const [doing, setDoing] = useState<'stop' | 'raise' | null>(null)
  const postOnce = usePostOnce()
  const post = async (what: 'stop' | 'resume', said: string, body: object = {}) => {
    await postOnce<unknown>(
      `/api/coding-sessions/${encodeURIComponent(one.id)}/${what}${queryOf({ key: one.key })}`,
      body,
    )
    notify(said)
    onChanged()
    setDoing(null)
  }
  const stopped = one.state === 'stopped'
  const { session_usd: limit } = one.limits
  const now = limit === null ? 'It has no budget of its own.' : `Now ${usd(limit)}.`
  return (
    <>
      <Button onClick={() => setDoing('raise')}>{stopped ? 'Let it go on…' : 'Raise…'}</Button>
      {!stopped && <Button onClick={() => setDoing('stop')}>Stop</Button>}
      {doing === 'stop' && (
        <Confirm
          title="Stop this session?"
          onClose={() => setDoing(null)}
          onConfirm={() => post('stop', 'Stopped the session.')}
          action="Stop session"
          body={<p>Its calls end, and new ones are refused: here at once, in other processes within 5 seconds.</p>}
        />
      )}
      {doing === 'raise' && (
        <FormDialog
          title={stopped ? 'Let the session go on' : 'Raise the limit of the session'}
          action={stopped ? 'Let it go on' : 'Raise'}
          initial={{ usd: '' }}
          onSubmit={({ usd: amount }) => {
            const raised = amountIn(amount)
            return post(
              'resume',
              stopped ? 'The session goes on.' : 'Raised the limit.',
              raised === null ? {} : { raise_usd: raised },
            )
          }}
          isReady={({ usd: amount }) => stopped || amount.trim() !== ''}
          onClose={() => setDoing(null)}
          fields={[{ name: 'usd', at: 'raise_usd', label: 'Add to its budget, in USD', hint: now }]}
        />
      )}
    </>
  )
}

/** Calls with a changed beginning from which a client is named: one may be a change of mind. */
const REPEATED = 2

/** Note on a client that changes the beginning of its prompts, so that caches miss them. */
function BrokenCache({ session, caller_id }: { session: string; caller_id: string }) {
  const { data } = useLive<SessionCache>(`/api/calls/cache${queryOf({ session, caller_id })}`, { everyMs: 10_000 })
  const { calls = 0, changed_tools: tools = 0, changed_instructions: instructions = 0 } = data ?? {}
  if (tools + instructions < REPEATED) return null
  const changed = [tools > 0 && 'the tools or their order', instructions > 0 && 'the instructions']
  return (
    <p class="hint" role="status">
      Your client breaks its cache: {count(tools + instructions)} of {count(calls)} calls changed{' '}
      {changed.filter(Boolean).join(', and ')} at the beginning of the prompt, so that nothing behind was found.
    </p>
  )
}
