import type * as z from 'zod'
import { type ErrorCode, GazewayError } from '../errors.ts'
import { parseJson } from '../text/json.ts'
import { networkFetch } from '../wire/network-fetch.ts'
import { replyText } from '../wire/reply-text.ts'
import { whyEnded } from '../wire/service-stopping.ts'

/** Largest reply that is read, in bytes; 200 sessions fit with ample room. */
const MAX_BYTES = 16 * 1024 * 1024

/** One request to the agent gateway. */
export interface RequestOptions<T> {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path with query, from the root of the agent gateway. */
  path: string
  body?: unknown
  /** Schema of the reply; other fields are dropped. */
  reply: z.ZodType<T>
  /** Timeout of the whole request in milliseconds. */
  timeoutMs: number
  signal?: AbortSignal | undefined
}

/** Address of the agent gateway and its key. */
export interface Access {
  url: string
  key: string | null
}

/**
 * Sends a request to the agent gateway and waits for its whole reply.
 *
 * @throws GazewayError
 * - `not_found` when the agent gateway has no such resource
 * - `upstream_timeout`, `upstream_unreachable`, `upstream_error` or `upstream_bad_reply` on failures
 * - the error of `whyEnded` when `signal` aborts
 */
export async function requestReply<T>(access: Access, options: RequestOptions<T>): Promise<T> {
  const { reply: schema, timeoutMs, signal } = options
  const timeout = AbortSignal.timeout(timeoutMs)
  const reply = await send(access, { ...options, signal: signal ? AbortSignal.any([signal, timeout]) : timeout })
  const text = await readText(reply).catch((error: unknown) => fail(error, signal))
  const parsed = schema.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new GazewayError('upstream_bad_reply', 'The reply of the agent gateway has an unexpected form.')
}

/**
 * Sends a request to the agent gateway and returns its reply as soon as it begins.
 *
 * @throws GazewayError as {@link requestReply}
 */
export async function send(
  { url, key }: Access,
  { method = 'GET', path, body, signal }: Omit<RequestOptions<unknown>, 'reply' | 'timeoutMs'>,
): Promise<Response> {
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  if (body !== undefined) headers['content-type'] = 'application/json'
  const reply = await networkFetch(url + path, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal && { signal }),
  }).catch((error: unknown) => fail(error, signal))
  if (reply.ok) return reply
  await reply.body?.cancel()
  throw new GazewayError(codeOf(reply.status), wordsOf(reply.status))
}

/** Tells whether a status means that the key is rejected or lacks permissions. */
export const refusesKey = (status: number): boolean => status === 401 || status === 403

/** Error code of a status. A refused key is a fault of the operator, not of the caller. */
function codeOf(status: number): ErrorCode {
  if (status === 404) return 'not_found'
  return status === 409 ? 'conflict' : 'upstream_error'
}

function wordsOf(status: number): string {
  if (status === 404) return 'The agent gateway has no such resource.'
  if (refusesKey(status))
    return `The agent gateway refuses its key (${status}). Set GAZEWAY_AGENT_GATEWAY_KEY to one that it accepts.`
  return `The agent gateway answered ${status}.`
}

function fail(error: unknown, signal: AbortSignal | undefined): never {
  if (error instanceof GazewayError) throw error
  // Of the proxy.
  if (error instanceof Error && error.cause instanceof GazewayError) throw error.cause
  if (isTimeout(error) || isTimeout(signal?.reason))
    throw new GazewayError(
      'upstream_timeout',
      'The agent gateway did not answer in time. Retry, or raise agent_gateway.timeout_ms.',
      { cause: error },
    )
  if (signal?.aborted) throw whyEnded(signal.reason, 'The caller disconnected.', error)
  throw new GazewayError(
    'upstream_unreachable',
    'The agent gateway cannot be reached. Check that it runs, and agent_gateway.url.',
    { cause: error },
  )
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.name === 'TimeoutError'

/**
 * Reads the text of a reply.
 *
 * @param most size limit in bytes, after decompression
 * @throws GazewayError `upstream_bad_reply` for a larger reply
 */
export async function readText(reply: Response, most = MAX_BYTES): Promise<string> {
  const text = await replyText(reply, most)
  if (text !== null) return text
  throw new GazewayError('upstream_bad_reply', 'The agent gateway’s reply is too large.')
}
