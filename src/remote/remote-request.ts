import type * as z from 'zod'
import { VERSION } from '../config/version.ts'
import { CODES, type ErrorCode, GazewayError } from '../errors.ts'
import { isObject, parseJson } from '../text/json.ts'
import { present } from '../text/present.ts'
import { networkFetch } from '../wire/network-fetch.ts'
import { replyText } from '../wire/reply-text.ts'
import { whyEnded } from '../wire/service-stopping.ts'

/** Largest reply that is read, in bytes; a page of 4 MiB fits with ample room. */
const MAX_BYTES = 16 * 1024 * 1024

/** The remote Gazeway and its limits. */
export interface RemoteAccess {
  /** Base URL without a slash at its end. */
  url: string
  key: string | null
  timeoutMs: number
}

/** One request to the remote Gazeway. */
export interface RemoteRequest<T> {
  method?: 'GET' | 'POST' | 'DELETE'
  path: string
  query?: Record<string, string | number | boolean | null | undefined>
  body?: object
  /** Schema of the reply. */
  reply: z.ZodType<T>
  signal?: AbortSignal | undefined
}

/** Sends a request to the remote Gazeway. */
export type AskRemote = <T>(request: RemoteRequest<T>) => Promise<T>

/** Codes of a remote that does not answer now, when copies are served. */
const DOWN = new Set<ErrorCode>(['upstream_unreachable', 'upstream_timeout', 'upstream_error'])

/** Tells whether the remote does not answer now; false for an error in its answer. */
export const isDown = (error: unknown): error is GazewayError => error instanceof GazewayError && DOWN.has(error.code)

/**
 * Creates a client of the remote Gazeway. It throws a GazewayError:
 *
 * - that of the remote, for a request that it refuses
 * - `upstream_unreachable`, `upstream_timeout`, `upstream_error` when it does not answer now
 * - `invalid_api_key` when it refuses the key, `upstream_bad_reply` when it is no Gazeway or of another version
 */
export function createAskRemote({ url, key, timeoutMs }: RemoteAccess): AskRemote {
  const { host } = new URL(url)

  return async function askRemote({ method = 'GET', path, query = {}, body, reply: schema, signal }) {
    const timeout = AbortSignal.timeout(timeoutMs)
    const given = new URLSearchParams()
    for (const [name, value] of Object.entries(present(query))) given.set(name, String(value))
    const { status, text } = await networkFetch(`${url}${path}${given.size === 0 ? '' : `?${given}`}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
      .then(async (reply) => ({ status: reply.status, text: await replyText(reply, MAX_BYTES) }))
      .catch((cause: unknown) => {
        if (signal?.aborted) throw whyEnded(signal.reason, 'The caller disconnected.', cause)
        throw notReached(host, timeout.aborted ? timeoutMs : null, cause)
      })
    if (text === null) throw ofAnotherVersion(host)
    const json = status === 204 ? undefined : parseJson(text)
    if (status < 200 || status > 299) throw refusal(host, status, json)
    const parsed = schema.safeParse(json)
    if (parsed.success) return parsed.data
    throw ofAnotherVersion(host)
  }
}

function notReached(host: string, timeoutMs: number | null, cause: unknown): GazewayError {
  if (timeoutMs === null)
    return new GazewayError(
      'upstream_unreachable',
      `The remote Gazeway ${host} cannot be reached. Check that its platform runs, and remote.url.`,
      { cause },
    )
  return new GazewayError(
    'upstream_timeout',
    `The remote Gazeway ${host} did not answer within ${timeoutMs / 1000} s. Retry, or raise remote.timeout_ms.`,
    { cause },
  )
}

function refusal(host: string, status: number, json: unknown): GazewayError {
  if (status === 401)
    return new GazewayError(
      'invalid_api_key',
      `The remote Gazeway ${host} refuses the key. Set GAZEWAY_REMOTE_KEY to one of its keys.`,
    )
  if (status >= 500) return new GazewayError('upstream_error', `The remote Gazeway ${host} answered ${status}.`)
  const error = isObject(json) && isObject(json.error) ? json.error : {}
  const { code, message, param } = error
  if (typeof code !== 'string' || !(code in CODES) || typeof message !== 'string') return ofAnotherVersion(host)
  // Fields that this version sends and the remote does not know.
  if (code === 'validation_failed' && /unrecognized|unknown/i.test(message)) return ofAnotherVersion(host)
  return new GazewayError(code as ErrorCode, message, { status, ...(typeof param === 'string' && { param }) })
}

const ofAnotherVersion = (host: string): GazewayError =>
  new GazewayError(
    'upstream_bad_reply',
    `${host} is no Gazeway platform, or of a version that ${VERSION} does not understand. Check remote.url, and update the older one.`,
  )
