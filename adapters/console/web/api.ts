import { signal } from '@preact/signals'
import { endSession, session } from './session.ts'

/** How often a Gazeway that does not answer is asked again, in milliseconds. */
const ASK_AGAIN_MS = 1500

/** True from the first request that gets no answer to the first that does. */
export const offline = signal(false)

/** What the API refused, or could not do. `message` says what to do about it. */
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
  /** In place of the session's. */
  key?: string | undefined
  headers?: Record<string, string> | undefined
}

/**
 * The platform's own API, with the session's key. Every function throws ApiError: `offline` where nothing answers;
 * a key that is not accepted ends the session.
 */
export const api = {
  get: <T>(path: string, options?: Options) => json<T>('GET', path, undefined, options),
  post: <T>(path: string, body: unknown = {}, options?: Options) => json<T>('POST', path, body, options),
  patch: <T>(path: string, body: unknown, options?: Options) => json<T>('PATCH', path, body, options),
  delete: <T>(path: string, options?: Options) => json<T>('DELETE', path, undefined, options),
  /** A reply as it came, such as CSV. */
  async text(path: string, { accept = 'application/json', ...options }: Options & { accept?: string } = {}) {
    const reply = await request('GET', path, undefined, { ...options, headers: { accept, ...options.headers } })
    return reply.text()
  },
}

async function json<T>(method: string, path: string, body: unknown, options?: Options): Promise<T> {
  const reply = await request(method, path, body, options)
  return (reply.status === 204 ? undefined : await reply.json()) as T
}

/** @throws ApiError for every reply but a 2xx; the browser's AbortError where `signal` ended it */
async function request(method: string, path: string, body: unknown, options: Options = {}): Promise<Response> {
  const key = options.key ?? session.value?.key
  const headers = {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...options.headers,
  }
  const reply = await fetch(path, {
    method,
    headers,
    signal: options.signal ?? null,
    cache: 'no-store',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    noteOffline()
    throw new ApiError({ status: 0, code: 'offline', message: 'Gazeway does not answer. Is it still running?' })
  })
  offline.value = false
  if (reply.ok) return reply
  const fault = await faultOf(reply)
  if (reply.status === 401 && key !== undefined && key === session.value?.key) {
    endSession('This key was revoked or is not valid any more. Sign in with another one.')
  }
  throw fault
}

async function faultOf(reply: Response): Promise<ApiError> {
  const { error } = (await reply.json().catch(() => ({}))) as {
    error?: { code: string; message: string; param: string }
  }
  return new ApiError({
    status: reply.status,
    code: error?.code ?? 'unknown',
    message: error?.message ?? `Gazeway answered ${reply.status} ${reply.statusText}.`,
    param: error?.param ?? null,
  })
}

/** Asks until something answers again; whatever shows live data then loads it. */
function noteOffline(): void {
  if (offline.value) return
  offline.value = true
  const ask = async () => {
    if (!offline.value) return
    try {
      await fetch('/health', { cache: 'no-store' })
      offline.value = false
    } catch {
      setTimeout(ask, ASK_AGAIN_MS)
    }
  }
  setTimeout(ask, ASK_AGAIN_MS)
}
