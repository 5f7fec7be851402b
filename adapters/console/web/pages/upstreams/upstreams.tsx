import { useState } from 'preact/hooks'
import type { ShownUpstream } from '../../../../platform/routes/upstream-routes.ts'
import { Badge, Empty, figureColumn, ListCard, Page, When } from '../../components/components.ts'
import { href } from '../../router.ts'
import { session } from '../../signed-in.ts'
import { useLive } from '../../use-live.ts'
import { Candidates } from './candidates.tsx'
import { RouteEditor } from './route-editor.tsx'

/** Error rate above which an upstream is marked with a warning. */
const MANY_ERRORS = 0.1

/** Model providers, their health, and the candidates for each model. */
export default function UpstreamsPage() {
  const [round, setRound] = useState(0)
  return (
    <Page title="Upstreams" intro="Model providers, their health, and the candidates for each model.">
      {session.value?.isAdmin ? (
        <>
          <UpstreamList />
          <Candidates round={round} />
          <RouteEditor onSaved={() => setRound((n) => n + 1)} />
        </>
      ) : (
        <Empty title="Admin key required" hint="GET /v1/models lists the models of your key." />
      )}
    </Page>
  )
}

function UpstreamList() {
  const list = useLive<{ items: ShownUpstream[] }>('/api/upstreams', { everyMs: 5000 })
  return (
    <ListCard<ShownUpstream>
      title="Upstreams"
      label="Upstreams"
      list={list}
      loading="upstreams"
      rowKey={({ name }) => name}
      columns={[
        { key: 'name', label: 'Name' },
        { key: 'state', label: 'State', render: (upstream) => <State of={upstream} /> },
        { key: 'model_list', label: 'Model list', render: ({ model_list }) => <FetchedList of={model_list} /> },
        { key: 'base_url', label: 'Address', align: 'words' },
        figureColumn('Median latency', ({ latency_ms }) => (latency_ms === null ? '—' : `${latency_ms} ms`)),
        figureColumn('Errors', (upstream) => <Errors of={upstream} />),
        { key: 'keys', label: 'Keys', render: (upstream) => <Keys of={upstream} /> },
      ]}
    >
      <p class="muted">
        Latency and errors cover the last 100 calls of this process. Set up <code>default</code> in{' '}
        <a href={href('settings', { id: 'models' })}>Settings → Models</a>, and all others in{' '}
        <a href={href('settings', { id: 'configuration' })}>Settings → Configuration</a>, under upstreams.
      </p>
    </ListCard>
  )
}

function State({ of: { configured, reachable, open_circuits } }: { of: ShownUpstream }) {
  if (!configured) return <Badge tone="warn">no key</Badge>
  if (open_circuits.length > 0)
    return <Badge tone="bad">circuit breaker open: {open_circuits.map(circuitName).join(', ')}</Badge>
  if (reachable === null) return <span class="muted">not known</span>
  return reachable ? <Badge tone="good">answers</Badge> : <Badge tone="bad">does not answer</Badge>
}

function FetchedList({ of }: { of: ShownUpstream['model_list'] }) {
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

function Errors({ of: { error_rate, calls } }: { of: ShownUpstream }) {
  if (error_rate === null) return <span>—</span>
  const text = `${Math.round(error_rate * 100)} % of ${calls}`
  return error_rate > MANY_ERRORS ? <Badge tone="warn">{text}</Badge> : <span>{text}</span>
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
