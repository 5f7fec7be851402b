import type { CallRecord } from '../../src/calls/call-record.ts'
import { CALL_STATUSES, type CallStatus } from '../../src/calls/call-status.ts'
import { cached } from './cached.ts'
import { type CallLabels, OTHER, type UpstreamLabels } from './call-labels.ts'
import { operationOf } from './genai-names.ts'
import type { Meters } from './meters.ts'

/** Label of a call that asks no model, or no operation of a model. */
const NONE = 'none'

/**
 * Creates the counts of upstream calls.
 *
 * @returns counts a call by its record, once, when it has ended
 */
export function callMetrics(meters: Meters, labels: CallLabels): (record: CallRecord) => void {
  const tallies = callTallies(meters)
  return (record) => {
    const { counts, isOvertaken } = CALL_STATUSES[record.status]
    if (counts === 'refusal') {
      tallies.refused(record.http_status).add(1)
      return
    }
    const ofUpstream = tallies.ofUpstream(labels.ofUpstream(record.upstream))
    const path = labels.path(record.path)
    const requested = record.requested_model
    const series = ofUpstream.ofModel(requested === null ? NONE : labels.model(requested))(path)
    const ended = series.ended(record.status)
    ended.calls.add(1)
    ended.seconds.observe(record.latency_ms / 1000)
    if (counts === 'error') ofUpstream.errors(path)(record.http_status).add(1)
    if (isOvertaken) ofUpstream.hedges(record.fallback_from === null ? 'hedge' : 'first').add(1)
    else if (record.fallback_from !== null) tallies.fallbacks.add(1)
    for (const { upstream, reason } of record.skipped) tallies.skipped(labels.ofSkipped(upstream))(reason).add(1)
    const client = tallies.ofClient(record.client ?? OTHER)
    client.calls.add(1)
    client.cost.add(record.upstream_cost_usd ?? 0)
    if (requested === null) return

    const { first_token_ms: firstTokenMs, usage } = record
    if (firstTokenMs !== null) series.firstToken.observe(firstTokenMs / 1000)
    if (usage === null) return
    series.prompt.add(usage.prompt_tokens)
    series.completion.add(usage.completion_tokens)
    series.cost.add(record.upstream_cost_usd ?? 0)
    if (usage.cached_tokens !== undefined) series.cached.add(usage.cached_tokens)
    if (usage.cache_write_tokens !== undefined) series.cacheWrite.add(usage.cache_write_tokens)
    const outputMs = firstTokenMs === null ? 0 : record.latency_ms - firstTokenMs
    if (counts === 'answer' && outputMs > 0 && usage.completion_tokens > 0)
      series.speed.observe((usage.completion_tokens * 1000) / outputMs)
  }
}

/** The metrics. Binding labels costs more than counting, so each combination is bound once. */
function callTallies(meters: Meters) {
  const calls = meters.counter('gazeway_upstream_calls_total')
  const errors = meters.counter('gazeway_upstream_errors_total')
  const duration = meters.histogram('gazeway_call_duration_seconds')
  const firstToken = meters.histogram('gazeway_first_token_seconds')
  const speed = meters.histogram('gazeway_output_tokens_per_second')
  const tokens = meters.counter('gazeway_tokens_total')
  const cost = meters.counter('gazeway_upstream_cost_usd_total')
  const hedges = meters.counter('gazeway_hedges_total')
  const skipped = meters.counter('gazeway_skipped_candidates_total')
  const refused = meters.counter('gazeway_refused_calls_total')
  const clientCalls = meters.counter('gazeway_client_calls_total')
  const clientCost = meters.counter('gazeway_client_cost_usd_total')

  const ofUpstream = cached(({ upstream, provider }: UpstreamLabels) => ({
    errors: cached((path: string) =>
      cached((status: number | null) => errors(upstream, provider, path, String(status ?? NONE))),
    ),
    hedges: cached((winner: 'first' | 'hedge') => hedges(upstream, winner)),
    ofModel: cached((model: string) => {
      const ofOperation = cached((operation: string) => ({
        prompt: tokens(upstream, provider, model, 'prompt'),
        completion: tokens(upstream, provider, model, 'completion'),
        cached: tokens(upstream, provider, model, 'cached'),
        cacheWrite: tokens(upstream, provider, model, 'cache_write'),
        cost: cost(upstream, provider, model),
        firstToken: firstToken(upstream, provider, model, operation),
        speed: speed(upstream, provider, model, operation),
        seconds: cached((outcome: CallStatus) => duration(upstream, provider, model, operation, outcome)),
      }))
      return cached((path: string) => {
        const series = ofOperation(operationOf(path) ?? NONE)
        return {
          ...series,
          ended: cached((outcome: CallStatus) => ({
            calls: calls(upstream, provider, model, path, outcome),
            seconds: series.seconds(outcome),
          })),
        }
      })
    }),
  }))
  return {
    ofUpstream,
    fallbacks: meters.counter('gazeway_fallbacks_total')(),
    skipped: cached((upstream: string) => cached((reason: string) => skipped(upstream, reason))),
    refused: cached((status: number | null) => refused(String(status))),
    ofClient: cached((client: string) => ({ calls: clientCalls(client), cost: clientCost(client) })),
  }
}
