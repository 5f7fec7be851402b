import { Counter, Histogram, type Registry } from 'prom-client'
import type { Gateway } from '../../src/gateway.ts'
import type { CallRecord } from '../../src/upstream/call-record.ts'
import type { Provider } from '../../src/upstream/provider.ts'
import { SECONDS } from './request-metrics.ts'

/** What is counted as `other`: clients may name any model and path, and each name would be a time series for good. */
const OTHER = 'other'
/** The endpoints that Gazeway itself asks, whatever else may be passed through. */
const OWN_PATHS = ['/chat/completions', '/responses']

/** Counts upstream calls from their records: each call once, when it has ended. */
export function callMetrics(
  registry: Registry,
  { upstream: { provider }, loaded }: Pick<Gateway, 'upstream' | 'loaded'>,
): (record: CallRecord) => void {
  const registers = [registry]
  const calls = new Counter({
    name: 'gazeway_upstream_calls_total',
    help: 'Upstream calls that have ended, by how: ok, error, or aborted by the client.',
    labelNames: ['path', 'status'],
    registers,
  })
  const errors = new Counter({
    name: 'gazeway_upstream_errors_total',
    help: 'Upstream calls that failed, by the status that the upstream answered; none when it did not answer.',
    labelNames: ['path', 'http_status'],
    registers,
  })
  const fallbacks = new Counter({
    name: 'gazeway_fallbacks_total',
    help: 'Calls made in place of one that failed.',
    registers,
  })
  const firstToken = new Histogram({
    name: 'gazeway_first_token_seconds',
    help: 'From an upstream call to the first piece of its streamed answer.',
    labelNames: ['model'],
    buckets: SECONDS,
    registers,
  })
  const tokens = new Counter({
    name: 'gazeway_tokens_total',
    help: 'Tokens of upstream calls, as reported or, where nothing was, as counted.',
    labelNames: ['model', 'kind'],
    registers,
  })
  const cost = new Counter({
    name: 'gazeway_upstream_cost_usd_total',
    help: 'What upstream calls cost in US dollars, by the configured prices.',
    labelNames: ['model'],
    registers,
  })

  // Binding labels costs more than counting, so each combination is bound once.
  const ofEnding = cached((key) => calls.labels(...split(key)))
  const ofError = cached((key) => errors.labels(...split(key)))
  const ofModel = cached((model) => ({
    firstToken: firstToken.labels(model),
    prompt: tokens.labels(model, 'prompt'),
    completion: tokens.labels(model, 'completion'),
    cost: cost.labels(model),
  }))
  const modelLabel = modelLabels(provider)
  const pathLabel = pathLabels(provider, [...OWN_PATHS, ...loaded.config.upstream.allowed_paths])

  return (record) => {
    const path = pathLabel(record.path)
    ofEnding(`${path} ${record.status}`).inc()
    if (record.status === 'error') ofError(`${path} ${record.http_status ?? 'none'}`).inc()
    if (record.fallback_from !== null) fallbacks.inc()
    if (record.requested_model === null) return

    const model = ofModel(modelLabel(record.requested_model))
    if (record.first_token_ms !== null) model.firstToken.observe(record.first_token_ms / 1000)
    if (record.usage === null) return
    model.prompt.inc(record.usage.prompt_tokens)
    model.completion.inc(record.usage.completion_tokens)
    model.cost.inc(record.upstream_cost_usd)
  }
}

/** A model as it was asked for where Gazeway or its configuration knows it. */
function modelLabels({ aliases, resolve }: Provider): (model: string) => string {
  const known = new Set(aliases.flatMap((alias) => [alias, resolve(alias, 'chat').upstream]))
  return (model) => (known.has(model) ? model : OTHER)
}

/** The endpoint that a path belongs to, with the upstream's own prefix (`/v1/models` for `/v1/models/a/b`). */
function pathLabels({ pathname }: Provider, endpoints: readonly string[]): (path: string) => string {
  const known = endpoints.map((endpoint) => pathname + endpoint)
  const exact = new Set(known)
  return (path) => (exact.has(path) ? path : (known.find((endpoint) => path.startsWith(`${endpoint}/`)) ?? OTHER))
}

/** `path status`, apart; an endpoint holds no space. */
function split(key: string): [path: string, status: string] {
  const at = key.lastIndexOf(' ')
  return [key.slice(0, at), key.slice(at + 1)]
}

/** `make`, once for each key. */
function cached<Value>(make: (key: string) => Value): (key: string) => Value {
  const made = new Map<string, Value>()
  return (key) => {
    const known = made.get(key)
    if (known !== undefined) return known
    const value = make(key)
    made.set(key, value)
    return value
  }
}
