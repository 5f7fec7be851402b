import { GazewayError } from '../errors.ts'
import type { PaidContext } from '../inference/admit/bill.ts'
import type { Upstream } from '../inference/inference.ts'
import type { Usage } from '../providers/token-usage.ts'
import type { MeteredCall } from './metered-call.ts'

/** A metered call with all defaults applied. */
export type ModelCall = MeteredCall & { max_tokens: number }

/** The upstream's answer. */
export interface Answered {
  content: string
  usage: Usage
  /** Id of the call in the audit trail. */
  callId: string
}

/**
 * Tells whether a call goes to the responses endpoint: calls with search tools, and calls to the research model, which
 * no other endpoint serves.
 */
export function needsResponses({ provider }: Pick<Upstream, 'provider'>, { model, tools }: MeteredCall): boolean {
  return tools.length > 0 || model === provider.resolve(undefined, 'primary').requested
}

/**
 * Calls the upstream through the gateway's routing: the responses endpoint with its fallback, or chat completions.
 *
 * @param timeoutMs time limit for the whole call, retries and fallback included
 * @throws GazewayError `cancelled`, `service_stopping`, or an upstream failure: 502, or 504 on timeout
 */
export async function askModel(
  upstream: Pick<Upstream, 'provider' | 'chat' | 'respond'>,
  call: ModelCall,
  context: PaidContext,
  timeoutMs: number,
): Promise<Answered> {
  const ending = new AbortController()
  // An error of ours: the upstream is ended, and not read on as for a client that has left.
  const timer = setTimeout(() => ending.abort(tookTooLong(timeoutMs)), timeoutMs)
  const signal = context.signal ? AbortSignal.any([context.signal, ending.signal]) : ending.signal
  const { surface, callerId, address, session, traceparent, onAttempt } = context
  const ask = needsResponses(upstream, call) ? respond : chat
  try {
    return await ask(upstream, call, {
      surface,
      callerId,
      address,
      session,
      isPaid: true,
      onAttempt,
      traceparent,
      signal,
    })
  } catch (error) {
    const timedOut = ending.signal.aborted && !context.signal?.aborted
    throw timedOut ? tookTooLong(timeoutMs, error) : asUpstreamFailure(error)
  } finally {
    clearTimeout(timer)
  }
}

/** Answer without its text. */
type Asked = Omit<Awaited<ReturnType<Upstream['chat']>>, 'value'>

type Ask = (upstream: Pick<Upstream, 'chat' | 'respond'>, call: ModelCall, context: PaidContext) => Promise<Answered>

const chat: Ask = async (upstream, { model, prompt, max_tokens }, context) => {
  const messages = [{ role: 'user' as const, content: prompt }]
  const { value, ...result } = await upstream.chat({ model, messages, max_tokens }, context)
  const message = value.choices[0]?.message
  return answered(message?.content || message?.refusal || '', result)
}

const respond: Ask = async (upstream, { model, prompt, max_tokens, tools }, context) => {
  // The client's types lack some of them: `x_search` exists at one provider only.
  const offered = [...new Set(tools)].map((type) => ({ type })) as never
  const { value, ...result } = await upstream.respond(
    { model, input: prompt, max_output_tokens: max_tokens, ...(tools.length > 0 && { tools: offered }) },
    context,
  )
  return answered(value.output_text, result)
}

function answered(content: string, { usage, callId }: Asked): Answered {
  if (usage === null)
    throw new GazewayError(
      'upstream_bad_reply',
      'The answer of the upstream contains no usage, so it cannot be charged.',
    )
  return { content, usage, callId }
}

function tookTooLong(timeoutMs: number, cause?: unknown): GazewayError {
  return new GazewayError(
    'upstream_timeout',
    `The upstream did not answer within ${timeoutMs / 1000} s; nothing was charged. Retry, or raise wallet.call_timeout_ms.`,
    { cause },
  )
}

/** Maps an error of the upstream to 502, whatever its own status: the caller did not cause it. */
export function asUpstreamFailure(error: unknown): unknown {
  if (!(error instanceof GazewayError) || error.code !== 'upstream_error') return error
  const { message, retryAfterSeconds, callId } = error
  const failure = new GazewayError('upstream_error', message, {
    cause: error,
    ...(retryAfterSeconds !== null && { retryAfterSeconds }),
  })
  if (callId !== undefined) failure.callId = callId
  return failure
}
