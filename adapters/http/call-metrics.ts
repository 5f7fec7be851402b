import type { Registry } from 'prom-client'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { CALL_STATUSES } from '../../src/calls/call-status.ts'
import type { Gateway } from '../../src/gateway.ts'
import { CALL_PATHS } from '../../src/inference/api/endpoints.ts'
import type { Routing } from '../../src/inference/route/routing.ts'
import { OWN_MODELS } from '../../src/providers/preset.ts'
import { cached } from './cached.ts'
import { SECONDS } from './request-metrics.ts'
import { tallyingCounter, tallyingHistogram } from './tallying-metrics.ts'

/** Label of unknown models and paths, because each distinct label would be a permanent time series. */
const OTHER = 'other'
/** Maximum number of models with a label of their own beside those that the configuration names. */
const LABELLED = 200

/** Counts of upstream calls. */
export interface CallMetrics {
  /** Counts a call by its record, once, when it has ended. */
  count(record: CallRecord): void
  /** Fetches the lists of models in the background if calls named unknown models since the last time. */
  refresh(): void
}

/** Creates the counts of upstream calls. */
export function callMetrics(registry: Registry, gateway: Pick<Gateway, 'upstream' | 'loaded'>): CallMetrics {
  const tallies = callTallies([registry])
  const labels = callLabels(gateway)
  return {
    count(record) {
      const { counts, isOvertaken } = CALL_STATUSES[record.status]
      if (counts === 'refusal') {
        tallies.refused(record.http_status).add(1)
        return
      }
      const path = labels.path(record.path)
      tallies.calls(path)(record.status).add(1)
      if (counts === 'error') tallies.errors(path)(record.http_status).add(1)
      if (record.fallback_from !== null && !isOvertaken) tallies.fallbacks.add(1)
      const client = tallies.ofClient(record.client ?? OTHER)
      client.calls.add(1)
      client.cost.add(record.upstream_cost_usd ?? 0)
      if (record.requested_model === null) return

      const model = tallies.ofModel(labels.model(record.requested_model))
      if (record.first_token_ms !== null) model.firstToken.observe(record.first_token_ms / 1000)
      if (record.usage === null) return
      model.prompt.add(record.usage.prompt_tokens)
      model.completion.add(record.usage.completion_tokens)
      model.cost.add(record.upstream_cost_usd ?? 0)
    },
    refresh: labels.refresh,
  }
}

/** The metrics. Binding labels costs more than counting, so each combination is bound once. */
function callTallies(registers: Registry[]) {
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    tallyingCounter({ name, help, labelNames, registers })
  const calls = counter(
    'gazeway_upstream_calls_total',
    'Completed upstream calls, by path and status.',
    'path',
    'status',
  )
  const errors = counter(
    'gazeway_upstream_errors_total',
    'Failed upstream calls, by path and HTTP status; none without an answer.',
    'path',
    'http_status',
  )
  const fallbacks = counter('gazeway_fallbacks_total', 'Fallback calls, made after another call failed.')()
  const firstToken = tallyingHistogram({
    name: 'gazeway_first_token_seconds',
    help: 'Time to the first token of a streamed upstream answer.',
    labelNames: ['model'],
    buckets: SECONDS,
    registers,
  })
  const tokens = counter(
    'gazeway_tokens_total',
    'Tokens of upstream calls, as reported by the upstream, else as estimated.',
    'model',
    'kind',
  )
  const cost = counter(
    'gazeway_upstream_cost_usd_total',
    'Cost of upstream calls in US dollars, at the configured prices.',
    'model',
  )
  const clientCalls = counter(
    'gazeway_client_calls_total',
    'Upstream calls by coding agent; other for clients that are not known.',
    'client',
  )
  const clientCost = counter(
    'gazeway_client_cost_usd_total',
    'Cost of upstream calls in US dollars, by coding agent.',
    'client',
  )
  const refused = counter(
    'gazeway_refused_calls_total',
    'Calls refused before reaching an upstream, by HTTP status.',
    'http_status',
  )
  return {
    calls: cached((path: string) => cached((status: string) => calls(path, status))),
    errors: cached((path: string) => cached((status: number | null) => errors(path, String(status ?? 'none')))),
    fallbacks,
    refused: cached((status: number | null) => refused(String(status))),
    ofClient: cached((client: string) => ({ calls: clientCalls(client), cost: clientCost(client) })),
    ofModel: cached((model: string) => ({
      firstToken: firstToken(model),
      prompt: tokens(model, 'prompt'),
      completion: tokens(model, 'completion'),
      cost: cost(model),
    })),
  }
}

/** Labels of models and paths that the configuration, a price or the list of an upstream has. */
function callLabels(gateway: Pick<Gateway, 'upstream' | 'loaded'>) {
  const models = new Set<string>()
  const paths = new Set<string>()
  /** Listed and priced models that calls have named. */
  const found = new Set<string>()
  let hasUnknown = false
  let learned: Routing | undefined

  /** Adds the names of the current configuration to those of earlier ones. A call may outlast its upstream. */
  function learn(routing: Routing): void {
    if (routing === learned) return
    learned = routing
    for (const name of routing.names) models.add(name)
    for (const { provider } of routing.upstreams) {
      for (const name of [...Object.values(OWN_MODELS), ...provider.aliases])
        models.add(name).add(provider.resolve(name, 'chat').upstream)
    }
    for (const endpoint of [...CALL_PATHS, ...gateway.loaded.config.upstream.allowed_paths]) paths.add(`/v1${endpoint}`)
  }
  learn(gateway.upstream.routing)

  return {
    path(path: string): string {
      learn(gateway.upstream.routing)
      return pathLabel(paths, path)
    },
    model(name: string): string {
      if (models.has(name) || found.has(name)) return name
      const isPriced = Object.hasOwn(gateway.loaded.config.pricing.models, name)
      const isKnown = isPriced || gateway.upstream.routing.upstreams.some((upstream) => upstream.models.knows(name))
      hasUnknown ||= !isKnown
      if (!isKnown || found.size >= LABELLED) return OTHER
      found.add(name)
      return name
    },
    refresh(): void {
      if (!hasUnknown) return
      hasUnknown = false
      for (const { listed, provider } of gateway.upstream.routing.upstreams)
        if (provider.hasKey) void listed({ surface: 'http', callerId: null })
    },
  }
}

/** Finds the known endpoint of a path (`/v1/models` for `/v1/models/a/b`). */
function pathLabel(known: ReadonlySet<string>, path: string): string {
  if (known.has(path)) return path
  for (const endpoint of known) if (path.startsWith(`${endpoint}/`)) return endpoint
  return OTHER
}
