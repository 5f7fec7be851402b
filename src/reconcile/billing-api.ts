import { setTimeout as delay } from 'node:timers/promises'
import type * as z from 'zod'
import { GazewayError } from '../errors.ts'
import { fieldsOrNone } from '../text/lenient-reader.ts'
import type { Account } from './accounts.ts'

/** Time limit of a request, in milliseconds. */
const REPLY_MS = 30_000
/** Size limit of a reply, in bytes. */
const REPLY_BYTES = 16 * 1024 * 1024
/** Pages read of one list. */
const MAX_PAGES = 500
/** Repetitions of a request that met a transient error. */
const MAX_RETRIES = 3
/** Longest pause before a request is repeated, in milliseconds. */
const LONGEST_PAUSE_MS = 30_000
/** Length of the provider's own words in an error. */
const SAID = 300

/** Parameters of a request; a list is sent as repeated `name[]`. */
export type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>

/** Reads the API with which a provider tells what it billed. */
export interface BillingApi {
  /**
   * Reads a reply of a given shape.
   *
   * @throws GazewayError `upstream_error` for a refusal, which names the variable of the key, `upstream_unreachable`,
   *   `upstream_timeout`, and `upstream_bad_reply` for another shape
   */
  get<T>(path: string, query: Query, shape: z.ZodType<T>): Promise<T>
  /** Reads all pages of a list. @throws as `get`, and `upstream_bad_reply` for a list without an end */
  pages<T extends Page>(path: string, query: Query, shape: z.ZodType<T>): Promise<T[]>
}

interface Page {
  has_more?: boolean | undefined
  next_page?: string | null | undefined
}

/**
 * Creates the reader of an account's bill.
 *
 * @param headers authentication, and what the API asks for
 * @param onProgress called before each request
 */
export function createBillingApi(
  { vendor, provider, admin }: Account,
  headers: Readonly<Record<string, string>>,
  onProgress: (what: string) => void,
): BillingApi {
  const secret = admin?.key ?? ''
  const fault = (code: 'upstream_error' | 'upstream_bad_reply', message: string) =>
    new GazewayError(code, `${vendor}: ${secret === '' ? message : message.replaceAll(secret, '***')}`)

  async function ask(path: string, query: Query): Promise<{ status: number; wait: number; body: unknown }> {
    const url = `${provider.baseUrl}${path}?${parametersOf(query)}`
    onProgress(`${vendor}: reading ${path}`)
    try {
      const reply = await provider.fetch(url, { headers: { ...headers }, signal: AbortSignal.timeout(REPLY_MS) })
      const text = await limitedText(reply)
      if (text === null) throw fault('upstream_bad_reply', `the reply of ${path} is larger than ${REPLY_BYTES} bytes.`)
      const wait = Number(reply.headers.get('retry-after') ?? 1) * 1000
      return { status: reply.status, wait: Number.isFinite(wait) ? wait : 1000, body: jsonIn(text) }
    } catch (cause) {
      if (cause instanceof GazewayError) throw cause
      if ((cause as Error).name === 'TimeoutError')
        throw new GazewayError('upstream_timeout', `${vendor}: no reply of ${path} within ${REPLY_MS / 1000} s.`)
      throw new GazewayError('upstream_unreachable', `${vendor}: ${path} cannot be reached: check the network.`, {
        cause,
      })
    }
  }

  async function get<T>(path: string, query: Query, shape: z.ZodType<T>): Promise<T> {
    for (let tried = 0; ; tried++) {
      const { status, wait, body } = await ask(path, query)
      const isTransient = status === 429 || status >= 500
      if (isTransient && tried < MAX_RETRIES) {
        await delay(Math.min(Math.max(wait, 0), LONGEST_PAUSE_MS))
        continue
      }
      if (status !== 200) throw fault('upstream_error', refusalOf(path, status, body, admin))
      const read = shape.safeParse(body)
      if (read.success) return read.data
      const [issue] = read.error.issues
      const where = issue === undefined ? '' : ` ${issue.path.join('.')}: ${issue.message}.`
      throw fault('upstream_bad_reply', `the reply of ${path} has another shape:${where} Update Gazeway.`)
    }
  }

  return {
    get,
    async pages(path, query, shape) {
      const pages = []
      let page: string | undefined
      while (pages.length < MAX_PAGES) {
        const read = await get(path, { ...query, page }, shape)
        pages.push(read)
        if (read.has_more !== true) return pages
        if (!read.next_page || read.next_page === page)
          throw fault('upstream_bad_reply', `${path} has more pages and does not name the next one.`)
        page = read.next_page
      }
      throw fault('upstream_bad_reply', `${path} has more than ${MAX_PAGES} pages: reconcile a shorter time.`)
    },
  }
}

function parametersOf(query: Query): URLSearchParams {
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return []
    return typeof value === 'object' ? value.map((one) => [`${name}[]`, one]) : [[name, String(value)]]
  })
  return new URLSearchParams(pairs)
}

/** Reads a reply. Null when it is too large. */
async function limitedText(reply: Response): Promise<string | null> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of reply.body ?? []) {
    bytes += part.byteLength
    if (bytes > REPLY_BYTES) return null
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function refusalOf(path: string, status: number, body: unknown, admin: Account['admin']): string {
  const { error } = fieldsOrNone(body)
  const { message } = fieldsOrNone(error)
  const said = typeof message === 'string' ? ` It says: ${message.slice(0, SAID)}` : ''
  const advice =
    admin !== null && (status === 401 || status === 403)
      ? ` ${admin.variable} must be ${admin.kind}, from ${admin.page}.`
      : ''
  return `${path} answered ${status}.${advice}${said}`
}
