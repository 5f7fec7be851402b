import { signal } from '@preact/signals'
import type { ErrorBody } from '../../../src/errors.ts'
import type { ApiPath, FieldsOf, ReplyOf } from './api-paths.ts'
import { endSession, session } from './signed-in.ts'

/** Interval of retries while Gazeway is unreachable, in milliseconds. */
const RETRY_MS = 1500

const HEALTH = '/health'
/** Default timeout of a reply in milliseconds. */
const TIMEOUT_MS = 5000
/** Silence after which a stream counts as lost, in milliseconds. Gazeway sends a comment at least every 15 s. */
const SILENCE_MS = 20_000
/** Timeout of replies that wait for a model or long lists. */
export const PATIENT_MS = 180_000

/** True from the first request without an answer to the first with one. */
export const offline = signal(false)

/** Error of the API. `message` says what to do. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string
  readonly param: string | null

  constructor(fault: { status: number; code: string; message: string; param?: string | null }) {
    super(fault.message)
    this.status = fault.status
    this.code = fault.code
    this.param = fault.param ?? null
  }
}

interface Options {
  signal?: AbortSignal | undefined
  /** Key in place of the session's. */
  key?: string | undefined
  headers?: Record<string, string> | undefined
  /** Timeout of the whole reply; 5 s by default. */
  timeoutMs?: number | undefined
}

/** A path made from parts, for callers that name the type of the reply. */
type Unlisted<T> = [T] extends [never] ? never : string

/**
 * Functions for one method. With a path of the API's description, the reply has its type and the body its fields. A path
 * that is made from parts needs the type of its reply.
 */
interface WithoutBody<M extends 'get' | 'delete'> {
  <T = never>(path: Unlisted<T>, options?: Options): Promise<NoInfer<T>>
  <const P extends ApiPath<M>>(path: P, options?: Options): Promise<ReplyOf<M, P>>
}

export interface WithBody<M extends 'post' | 'patch'> {
  <T = never>(path: Unlisted<T>, body?: unknown, options?: Options): Promise<NoInfer<T>>
  <const P extends ApiPath<M>>(path: P, body?: FieldsOf<M, P>, options?: Options): Promise<ReplyOf<M, P>>
}

/**
 * Calls the platform's API with the session's key. Every function throws ApiError: `offline` without an answer,
 * `timeout` for a late one. A key that is not accepted ends the session.
 */
export const api = {
  get: ((path: string, options?: Options) => json('GET', path, undefined, options)) as WithoutBody<'get'>,
  post: ((path: string, body: unknown = {}, options?: Options) =>
    json('POST', path, body, options)) as WithBody<'post'>,
  patch: ((path: string, body: unknown, options?: Options) => json('PATCH', path, body, options)) as WithBody<'patch'>,
  delete: ((path: string, options?: Options) => json('DELETE', path, undefined, options)) as WithoutBody<'delete'>,
  /** Returns the text of a reply, such as CSV. */
  text(path: string, { accept = 'application/json', ...options }: Options & { accept?: string } = {}) {
    return request('GET', path, undefined, { ...options, headers: { accept, ...options.headers } })
  },
  /**
   * Reads server-sent events until the stream ends, is silent for 20 s, or `signal` aborts it.
   *
   * @param onEvent called with the data of each event
   * @throws ApiError for a refusal; the browser's TypeError for a lost connection, and its AbortError when `signal` was aborted
   */
  async events(path: string, on: { signal: AbortSignal; onOpen: () => void; onEvent: (data: string) => void }) {
    const key = session.value?.key
    const headers = { accept: 'text/event-stream', ...(key !== undefined && { authorization: `Bearer ${key}` }) }
    const reply = await fetch(path, { headers, signal: on.signal, cache: 'no-store' })
    if (!reply.ok || reply.body === null) throw refusalOf(reply, await reply.text(), key)
    on.onOpen()
    let unread = ''
    const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader()
    for (;;) {
      const silence = setTimeout(() => void reader.cancel(), SILENCE_MS)
      const { value, done } = await reader.read().finally(() => clearTimeout(silence))
      if (done) return
      const events = (unread + value).split('\n\n')
      unread = events.pop() ?? ''
      for (const event of events) for (const [, data] of event.matchAll(/^data: (.*)$/gm)) on.onEvent(data ?? '')
    }
  },
}

async function json<T>(method: string, path: string, body: unknown, options?: Options): Promise<T> {
  const text = await request(method, path, body, options)
  return text === '' ? (undefined as T) : fromJson<T>(text)
}

/**
 * Parses the JSON of a reply.
 *
 * @throws ApiError `offline` for other text, because something else answered in place of Gazeway
 */
export function fromJson<T>(text: string): T {
  try {
    return JSON.parse(text) as T
  } catch {
    throw new ApiError({ status: 0, code: 'offline', message: 'The reply is not from Gazeway.' })
  }
}

/** @throws ApiError for every reply except 2xx; the browser's AbortError when `signal` was aborted */
async function request(method: string, path: string, body: unknown, options: Options = {}): Promise<string> {
  const key = options.key ?? session.value?.key
  const headers = {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  }
  const [reply, text] = await whole(
    path,
    { method, headers, cache: 'no-store', ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    options,
  )
  offline.value = false
  if (reply.ok) return text
  throw refusalOf(reply, text, key)
}

/** Error of a reply that is not 2xx. A key that is not accepted ends its session. */
function refusalOf(reply: Response, text: string, key: string | undefined): ApiError {
  if (reply.status === 401 && key !== undefined && key === session.value?.key) {
    endSession('This key was revoked or has expired. Sign in with another key.')
  }
  return faultOf(reply, text)
}

/** Fetches a reply with its whole body. A body that is cut off counts as no reply. */
async function whole(path: string, init: RequestInit, options: Options): Promise<[Response, string]> {
  const { signal: ending, timeoutMs = TIMEOUT_MS } = options
  const limit = AbortSignal.timeout(timeoutMs)
  try {
    const reply = await fetch(path, { ...init, signal: ending ? AbortSignal.any([ending, limit]) : limit })
    return [reply, await reply.text()]
  } catch (error) {
    if (ending?.aborted) throw error
    // A body that is cut off by the limit fails with the browser's AbortError, not with the limit's TimeoutError.
    if (limit.aborted) {
      void noteTimeout(path)
      const message = `Gazeway did not answer within ${timeoutMs / 1000} s.`
      throw new ApiError({ status: 0, code: 'timeout', message })
    }
    noteOffline()
    throw new ApiError({ status: 0, code: 'offline', message: 'Gazeway does not answer. Check that it is running.' })
  }
}

function faultOf({ status, statusText }: Response, text: string): ApiError {
  try {
    const { error } = JSON.parse(text) as { error: ErrorBody }
    return new ApiError({ status, code: error.code, message: error.message, param: error.param })
  } catch {
    // A proxy in between refuses requests in its own format.
    return new ApiError({ status, code: 'unknown', message: `Gazeway answered ${status} ${statusText}.` })
  }
}

/** Runs after a timeout. One slow answer does not mean offline, unless it was the health check. */
async function noteTimeout(path: string): Promise<void> {
  if (path === HEALTH || !(await answers())) noteOffline()
}

/** Retries until something answers. Components with live data then load it. */
function noteOffline(): void {
  if (offline.value) return
  offline.value = true
  const ask = async () => {
    if (!offline.value) return
    if (await answers()) offline.value = false
    else setTimeout(ask, RETRY_MS)
  }
  setTimeout(ask, RETRY_MS)
}

/** Tells whether the server answers now. */
async function answers(): Promise<boolean> {
  try {
    await fetch(HEALTH, { cache: 'no-store', signal: AbortSignal.timeout(TIMEOUT_MS) })
    return true
  } catch {
    return false
  }
}
