import type OpenAI from 'openai'
import type { CallContext } from '../calls/call-record.ts'
import type { GazewayError } from '../errors.ts'
import type { Usage } from '../providers/usage.ts'
import { openaiClient } from './client.ts'
import { upstreamFailure } from './failure.ts'
import { type Invocation, type RecordingDeps, startRecording } from './recording.ts'
import { countUsage } from './relay/stream-outcome.ts'
import { isReported } from './reported-error.ts'
import { createWatchdog } from './watchdog.ts'

/** What a call to the upstream needs around it. */
export interface UpstreamDeps extends RecordingDeps {
  countTokens(text: string): Promise<number>
  /** The ids that the upstream lists; null while they are not known. */
  listed(context: CallContext): Promise<readonly string[] | null>
}

/** What a call's work is given. */
export interface Attempt {
  client: OpenAI
  signal: AbortSignal
  /** Something arrived; the silence limit starts anew. */
  touch(): void
  /** A piece of the answer arrived. */
  text(delta: string): void
  /** The model does something else, in a few words. */
  step(what: string): void
  /** What has been used so far; asked for where the call fails. */
  used(usage: () => Usage | null | Promise<Usage | null>): void
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

/** A call that was made and recorded. Its `usage` is an estimate where the upstream reported none. */
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
  const { provider } = deps
  const recording = startRecording(deps, invocation, context)
  const { callId } = recording
  const watchdog = createWatchdog(context.signal, provider.timeoutMs)
  let received = ''
  let usedSoFar: Parameters<Attempt['used']>[0] = () => null
  const estimate = (answer: string) => countUsage(deps, invocation.request, answer)

  try {
    const client = await openaiClient(provider, watchdog.touch)
    const text = (delta: string) => {
      recording.firstToken()
      received += delta
      context.onText?.(delta)
    }
    const step = (what: string) => context.onStep?.(what)
    const used: Attempt['used'] = (usage) => {
      usedSoFar = usage
    }
    const { signal, touch } = watchdog
    const outcome = await watchdog.guard(work({ client, signal, touch, text, step, used }))
    const usage = outcome.usage ?? (outcome.answer === null ? null : await estimate(outcome.answer))
    const { httpStatus, value } = outcome
    const costUsd =
      httpStatus < 400
        ? recording.finish({ status: 'ok', httpStatus, error: null, usage, answer: value })
        : recording.finish({
            status: 'error',
            httpStatus,
            error: `The upstream answered ${httpStatus}.`,
            usage,
            answer: value,
          })
    return { ...outcome, usage, callId, costUsd }
  } catch (error) {
    const failure = upstreamFailure(error, provider, watchdog.ending())
    const status = failure.code === 'cancelled' ? 'aborted' : 'error'
    const usage = (await usedSoFar()) ?? (received === '' ? null : await estimate(received))
    recording.finish({ status, httpStatus: statusFrom(failure), error: failure, usage, answer: received || null })
    failure.callId = callId
    throw failure
  } finally {
    watchdog.stop()
  }
}

/** The status that the upstream answered, if it did; what is at fault in a bad reply is not its status. */
function statusFrom({ code, cause }: GazewayError): number | null {
  if (code === 'upstream_bad_reply' || isReported(cause)) return 200
  return cause !== null && typeof cause === 'object' && 'status' in cause && typeof cause.status === 'number'
    ? cause.status
    : null
}
