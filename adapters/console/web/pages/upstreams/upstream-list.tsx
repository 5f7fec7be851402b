import { useState } from 'preact/hooks'
import type { ConfigShown } from '../../../../platform/routes/config-routes.ts'
import type { ShownUpstream } from '../../../../platform/routes/upstream-routes.ts'
import { api } from '../../api.ts'
import { Badge, ErrorNote, When } from '../../components/content.ts'
import { FAILING_SHARE } from '../../components/failing-share.ts'
import { Confirm, useAction } from '../../components/forms.ts'
import { actionsColumn, figureColumn, ListCard } from '../../components/lists.ts'
import { count, duration, percent } from '../../format.ts'
import { href } from '../../router.ts'
import { useLive } from '../../use-live.ts'
import { tell } from '../settings/saved-notice.ts'

/** Error rate above which an upstream is marked with a warning. */
const MANY_ERRORS = 0.1

/** Upstreams in their order with state, and what can be done with each. */
export function UpstreamList() {
  const list = useLive<{ items: ShownUpstream[] }>('/api/upstreams', { everyMs: 5000 })
  const [removed, setRemoved] = useState<ShownUpstream | null>(null)
  const { error, run } = useAction()
  const names = (list.data?.items ?? []).map(({ name }) => name).slice(1)

  const change = async (changes: Record<string, unknown>) => {
    tell(await api.post('/api/config', changes))
    list.reload()
  }
  const moveUp = async (name: string) => {
    const { config } = await api.get<ConfigShown>('/api/config')
    const at = names.indexOf(name)
    const order = names.toSpliced(at, 1).toSpliced(at - 1, 0, name)
    const entries = config.upstreams as Record<string, unknown>
    await change({ upstreams: Object.fromEntries(order.map((one) => [one, entries[one]])) })
  }
  return (
    <ListCard<ShownUpstream>
      title="Upstreams"
      label="Upstreams"
      actions={<a href={href('upstreams', { id: 'new' })}>Add an upstream</a>}
      list={list}
      loading="upstreams"
      opens={({ name }) => addressOf(name)}
      columns={[
        { key: 'name', label: 'Name' },
        { key: 'state', label: 'State', fold: 'last', render: (upstream) => <State of={upstream} /> },
        {
          key: 'model_list',
          label: 'Model list',
          fold: 'first',
          render: ({ model_list }) => <Fetched of={model_list} />,
        },
        { key: 'base_url', label: 'Address', align: 'words' },
        figureColumn('Median latency', ({ latency_ms }) => (latency_ms === null ? '—' : duration(latency_ms))),
        figureColumn('Errors', (upstream) => <Errors of={upstream} />),
        { key: 'keys', label: 'Keys', render: (upstream) => <Keys of={upstream} /> },
        actionsColumn<ShownUpstream>(
          'Actions',
          ({ name }) => name,
          [
            { word: '↑', before: 'moves up ', onAct: ({ name }) => void run(() => moveUp(name)) },
            { word: 'Remove', onAct: setRemoved },
          ],
          ({ name }) => name !== 'default',
        ),
      ]}
    >
      <ErrorNote error={error} />
      <p class="hint">
        The first upstream that serves a model answers, unless a route says otherwise. Latency and errors cover the last
        100 calls of this process.
      </p>
      {removed !== null && (
        <Confirm
          title={`Remove ${removed.name}`}
          body={<p>Its settings and keys are deleted. Calls that only it serves go to default.</p>}
          action="Remove upstream"
          onConfirm={() => change({ [`upstreams.${removed.name}`]: null })}
          onClose={() => setRemoved(null)}
        />
      )}
    </ListCard>
  )
}

/** Page on which an upstream is edited. */
const addressOf = (name: string) =>
  name === 'default' ? href('settings', { id: 'providers' }) : href('upstreams', { id: name })

/** State of an upstream, by what it answers. */
function State({ of: { configured, reachable, open_circuits, error_rate } }: { of: ShownUpstream }) {
  if (!configured) return <Badge tone="warn">no key</Badge>
  if (open_circuits.length > 0)
    return <Badge tone="bad">circuit breaker open: {open_circuits.map(circuitName).join(', ')}</Badge>
  if (reachable === false) return <Badge tone="bad">does not answer</Badge>
  if (error_rate !== null && error_rate >= FAILING_SHARE) return <Badge tone="bad">most calls fail</Badge>
  if (error_rate !== null && error_rate > MANY_ERRORS) return <Badge tone="warn">some calls fail</Badge>
  return reachable ? <Badge tone="good">answers</Badge> : <span class="muted">not known</span>
}

function Fetched({ of }: { of: ShownUpstream['model_list'] }) {
  if (of === null) return <span class="muted">not asked for</span>
  return (
    <>
      {of.error === null ? 'listed' : <Badge tone="warn">{of.error}</Badge>} <When at={of.at} />
    </>
  )
}

/** Describes what an open circuit breaker refuses. */
function circuitName({ path, model, for_everyone }: ShownUpstream['open_circuits'][number]): string {
  if (path === null) return 'no connection'
  return for_everyone ? `${model} at ${path}` : `${model} at ${path}, for one key`
}

/** Share of the last calls of this process that failed, and a link to all that the trail has. */
function Errors({ of: { name, provider, error_rate, calls } }: { of: ShownUpstream }) {
  if (error_rate === null) return <span>—</span>
  const rows = href('calls', { query: { upstream: provider, status: 'error' } })
  const text = `${percent(error_rate)} of ${count(calls)}`
  return (
    <>
      {error_rate > MANY_ERRORS ? <Badge tone="warn">{text}</Badge> : <span>{text}</span>}{' '}
      <a href={rows} aria-label={`errors of ${name}`} children="errors" />
    </>
  )
}

function Keys({ of: { keys, resting_keys } }: { of: ShownUpstream }) {
  return (
    <>
      {keys}
      {resting_keys.map(({ key, model, seconds }) => (
        <div key={`${key} ${model}`}>
          <Badge tone="warn">
            key {key} paused {seconds} s{model !== null && ` for ${model}`}
          </Badge>
        </div>
      ))}
    </>
  )
}
