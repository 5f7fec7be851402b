import type OpenAI from 'openai'
import { GazewayError } from '../../errors.ts'
import { lazily } from '../../lazily.ts'
import type { PaidContext } from '../admit/bill.ts'
import type { Endpoint } from '../api/endpoints.ts'
import type { Result } from '../attempt/try-candidate.ts'
import type { OpenUpstream } from '../open.ts'
import { badReply } from '../upstreams/failure.ts'
import type { Provider } from '../upstreams/provider.ts'
import { signalClient } from './signal-client.ts'
import { webReceiver } from './web-receiver.ts'

/** Dependencies of Gazeway's own model calls. */
export interface ToolDeps {
  /** Provider of the upstream `default`. */
  provider: Provider
  /** Opens the upstreams, on the first call. */
  open(): Promise<OpenUpstream>
}

/** Result of a call whose client has its whole answer. */
export type Made<T> = Omit<Result, 'failure'> & { value: T }

const loadClient = lazily(() => import('openai'))

/**
 * Makes one of Gazeway's own model calls with the `openai` client. Its `fetch` goes the same way as calls over HTTP, in
 * process. Retries are decided there; the client retries nothing.
 *
 * @param asked.needsText true when only text counts as an answer
 * @param work a single request of the client
 * @throws GazewayError `upstream_not_configured`, `cancelled`, `service_stopping`, `validation_failed` for a request
 *   that cannot be serialized, or one of `failure.ts`; its `callId` is that of the record
 */
export async function toolCall<T>(
  { provider, open }: ToolDeps,
  { endpoint, needsText }: { endpoint: Endpoint; needsText: boolean },
  context: PaidContext,
  work: (client: OpenAI) => Promise<T>,
): Promise<Made<T>> {
  const [{ default: Client }, { call }] = await Promise.all([loadClient(), open()])
  const caller = signalClient(context.signal)
  let making: Promise<Result> | undefined

  const send = (body: unknown): Promise<Response> =>
    new Promise((resolve, reject) => {
      const text = String(body)
      const request = { bytes: Buffer.from(text), text, json: JSON.parse(text) }
      const asked = { endpoint, request, retries: provider.maxRetries, needsText }
      const receiver = webReceiver(caller, provider, resolve)
      making = call(asked, receiver, { ...context, requestId: null })
      // Neither an unfinished stream must be waited for, nor an answer that was read on after its caller had left.
      making.then(({ failure }) => failure && reject(failure), reject).finally(receiver.drop)
    })
  const client = new Client({
    baseURL: provider.baseUrl,
    apiKey: 'none',
    organization: null,
    project: null,
    maxRetries: 0,
    // The call itself limits the silence, from the first byte to the last.
    timeout: 2 ** 31 - 1,
    logLevel: 'off',
    fetch: (_, init) => send(init?.body),
  })
  try {
    const value = await work(client).catch(async (error: unknown) => {
      const made = await making
      throw made?.failure ?? unreadable(error, made?.provider ?? provider, making !== undefined)
    })
    const { failure, ...made } = (await making) as Result
    if (failure) throw failure
    return { ...made, value }
  } finally {
    caller.release()
  }
}

/** Maps a failure of the client to read a reply, or to serialize the request. */
function unreadable(error: unknown, provider: Provider, isSent: boolean): unknown {
  if (error instanceof GazewayError) return error
  if (isSent) return badReply(provider, 'its reply has an unexpected form', error)
  // V8 reports an exhausted stack as a RangeError.
  if (!(error instanceof RangeError)) return error
  const message = 'The request is nested too deeply; at most a few thousand levels are allowed.'
  return new GazewayError('validation_failed', message, { cause: error })
}
