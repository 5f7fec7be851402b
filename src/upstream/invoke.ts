import type OpenAI from 'openai'
import { newId } from '../ids.ts'
import { toUsd } from '../wallet/money.ts'
import type { CallContext, CallRecord } from './call-record.ts'
import type { Calls } from './calls.ts'
import { openaiClient } from './client.ts'
import { estimateUsage } from './estimate.ts'
import { upstreamFailure } from './failure.ts'
import { type Prices, upstreamCost } from './prices.ts'
import type { Provider } from './provider.ts'
import type { Usage } from './usage.ts'
import { createWatchdog } from './watchdog.ts'

/** What a call to the upstream needs around it. */
export interface UpstreamDeps {
  provider: Provider
  calls: Calls
  /** By our own model ids. */
  prices: Prices
  /** Keep request and answer in the call record (`audit.store_content`). */
  storeContent: boolean
  countTokens(text: string): Promise<number>
}

/** One call about to be made. */
export interface Invocation {
  /** Path below the provider's base URL. */
  path: string
  model: { requested: string; upstream: string } | null
  stream: boolean
  /** The failed call that this one stands in for. */
  fallbackFrom?: string | undefined
  /** What is sent, for the record where content is kept. */
  request: unknown
}

/** What a call's work is given. */
export interface Attempt {
  client: OpenAI
  signal: AbortSignal
  /** Something arrived; the silence limit starts anew. */
  touch(): void
  /** A piece of the answer arrived. */
  text(delta: string): void
}

/** What a call's work gives back. */
export interface Outcome<T> {
  value: T
  httpStatus: number
  /** As the upstream reported it. */
  usage: Usage | null
  /** What the model said, to count where the upstream reported no usage; null where no model was called. */
  answer: string | null
}

export interface Invoked<T> extends Outcome<T> {
  callId: string
  costUsd: number
}

/**
 * Makes one upstream call: watched, ended when its client goes, and recorded however it ends.
 *
 * @throws GazewayError of the kinds in `failure.ts`; its `callId` is the record's
 */
export async function invoke<T>(
  deps: UpstreamDeps,
  invocation: Invocation,
  context: CallContext,
  work: (attempt: Attempt) => Promise<Outcome<T>>,
): Promise<Invoked<T>> {
  const { provider, calls, prices } = deps
  const callId = newId('call')
  const started = Date.now()
  const watchdog = createWatchdog(context.signal, provider.timeoutMs)
  let firstTokenMs: number | null = null
  let received = ''

  function record(
    end: Pick<CallRecord, 'status' | 'http_status' | 'error'>,
    usage: Usage | null,
    answer: unknown,
  ): number {
    const cost = upstreamCost(usage, invocation.model?.requested ?? '', prices)
    calls.record({
      call_id: callId,
      at: new Date(started).toISOString(),
      surface: context.surface,
      caller_id: context.callerId,
      path: new URL(provider.baseUrl + invocation.path).pathname,
      requested_model: invocation.model?.requested ?? null,
      model: invocation.model?.upstream ?? null,
      upstream: provider.name,
      stream: invocation.stream,
      fallback_from: invocation.fallbackFrom ?? null,
      latency_ms: Date.now() - started,
      first_token_ms: firstTokenMs,
      usage,
      upstream_cost_usd: toUsd(cost),
      ...end,
      ...(deps.storeContent ? { content: { request: invocation.request, answer } } : {}),
    })
    return toUsd(cost)
  }

  const estimate = (answer: string) => estimateUsage(deps.countTokens, invocation.request, answer)

  try {
    const client = await openaiClient(provider, watchdog.touch)
    const text = (delta: string) => {
      watchdog.touch()
      firstTokenMs ??= Date.now() - started
      received += delta
      context.onText?.(delta)
    }
    const attempt = { client, signal: watchdog.signal, touch: watchdog.touch, text }
    const outcome = await watchdog.guard(work(attempt))
    const usage = outcome.usage ?? (outcome.answer === null ? null : await estimate(outcome.answer))
    const ok = outcome.httpStatus < 400
    const error = ok ? null : `The upstream answered ${outcome.httpStatus}.`
    const costUsd = record(
      { status: ok ? 'ok' : 'error', http_status: outcome.httpStatus, error },
      usage,
      outcome.value,
    )
    return { ...outcome, usage, callId, costUsd }
  } catch (error) {
    const failure = upstreamFailure(error, provider, watchdog.ending())
    const status = failure.code === 'cancelled' ? 'aborted' : 'error'
    const usage = received === '' ? null : await estimate(received)
    record({ status, http_status: statusFrom(error), error: failure.message }, usage, received || null)
    failure.callId = callId
    throw failure
  } finally {
    watchdog.stop()
  }
}

function statusFrom(error: unknown): number | null {
  return error !== null && typeof error === 'object' && 'status' in error && typeof error.status === 'number'
    ? error.status
    : null
}
