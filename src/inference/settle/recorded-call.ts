import type { CallContext, CallRecord, CallStatus } from '../../calls/call-record.ts'
import { NO_SESSION } from '../../calls/call-session.ts'
import { GazewayError } from '../../errors.ts'
import type { Prices } from '../../providers/prices.ts'
import type { Usage } from '../../providers/token-usage.ts'
import { recordedError } from '../api/reported-error.ts'
import { changeTexts } from '../convert/reported-changes.ts'
import { type OutputTimes, timingFrom } from '../observe/output-times.ts'
import type { CacheWatch } from '../session/cache-watch.ts'
import { isRaceLost } from '../upstreams/race-lost.ts'
import { cacheEffect } from './cache-effect.ts'
import type { CallPrice } from './call-price.ts'
import type { Invocation, Outcome } from './invocation.ts'

/** Dependencies of a call record. */
export interface CallRecordDeps {
  prices: Prices
  /** True when the call record keeps request and answer (`audit.store_content`). */
  storeContent: boolean
  /** Watches the prompt caches of sessions; nobody does when absent. */
  watchCache?: CacheWatch | undefined
}

/** A call that has ended, with its figures. */
interface EndedCall {
  callId: string
  /** Begin of the call, in Unix milliseconds. */
  at: number
  /** The same on the monotonic clock. */
  started: number
  /** Times at which the parts of its reply began. */
  times: OutputTimes
  latencyMs: number
  firstTokenMs: number | null
  /** Usage to record. Null without an answer. */
  usage: Usage | null
  /** Cost, with what was not seen of the answer and what was discarded. */
  costUsd: number
  callPrice: CallPrice
}

/** Composes the record of a call. */
export function recordedCall(
  deps: CallRecordDeps,
  invocation: Invocation,
  context: CallContext,
  { error, httpStatus, answer, generated }: Outcome,
  { callId, at, started, times, latencyMs, firstTokenMs, usage, costUsd, callPrice }: EndedCall,
): CallRecord {
  const { storeContent } = deps
  const { provider, model, path, request } = invocation
  const { used, priced, priceFrom } = callPrice
  const session = context.session ?? NO_SESSION
  const record: CallRecord = {
    call_id: callId,
    at: timeOf(at),
    surface: context.surface,
    caller_id: context.callerId,
    address: context.address ?? null,
    path: `/v1${path}`,
    requested_model: model?.requested ?? null,
    model: model?.upstream ?? null,
    upstream: provider.name,
    stream: invocation.stream,
    status: statusOf(error),
    http_status: httpStatus ?? statusIn(error),
    fallback_from: invocation.fallbackFrom ?? null,
    skipped: invocation.skipped ?? [],
    latency_ms: latencyMs,
    first_token_ms: firstTokenMs,
    usage,
    upstream_cost_usd: isRaceLost(error) && used.usage === null ? null : costUsd,
    price_from: priceFrom,
    provider_key: provider.keyId,
    // Field by field: Node 20 is slow to add fields after a spread.
    session_id: session.session_id,
    thread_id: session.thread_id,
    parent_id: session.parent_id,
    turn_id: session.turn_id,
    kind: session.kind,
    client: session.client,
    client_version: session.client_version,
    error: error && recordedError(error, provider, storeContent),
  }
  if (!invocation.isLater) record.timing = timingFrom(started, times, invocation.queueMs)
  // The cache of another account has saved and cost us nothing.
  const cache = provider.paidBy === null ? cacheEffect(deps, invocation, { context, callId, used, priced }) : undefined
  if (cache !== undefined) record.cache = cache
  if (context.tags !== undefined) record.tags = [...context.tags]
  const changes = invocation.changes.list()
  if (changes.length > 0) record.changed = changeTexts(changes)
  if (storeContent) record.content = { request, answer: answer === undefined ? (generated?.().text ?? null) : answer }
  return record
}

function statusOf(error: Error | null): CallStatus {
  if (error === null) return 'ok'
  if (isRaceLost(error)) return 'hedged'
  return error instanceof GazewayError && error.code === 'cancelled' ? 'aborted' : 'error'
}

let lastTime = 0
let lastText = ''

/**
 * Formats a time as RFC 3339 UTC. Cached, since many calls begin in the same millisecond.
 *
 * @param time milliseconds since 1970
 */
function timeOf(time: number): string {
  if (time !== lastTime) {
    lastTime = time
    lastText = new Date(time).toISOString()
  }
  return lastText
}

/** Status of a reply that was cut off before anything could be read. */
const statusIn = (error: Error | null): number | null =>
  error instanceof GazewayError ? (error.upstreamStatus ?? null) : null
