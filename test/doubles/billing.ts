import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { endWithTests } from './end-with-tests.ts'

/** Money and tokens of one day, key and model on a provider's bill. */
export interface BilledRow {
  day: string
  key: string
  model: string
  /** US dollars, as decimal text. */
  usd: string
  requests?: number
  prompt?: number
  completion?: number
  /** A fee in place of tokens. */
  fee?: string
}

/** A key of the account, with the hint that the provider shows of it. */
export interface AccountKey {
  id: string
  name: string
  hint: string
}

/** Facts that the provider of a double knows. */
export interface BillingFacts {
  now: Date
  rows: readonly BilledRow[]
  keys?: readonly AccountKey[]
  /** Buckets or rows of a page, fewer than asked for. */
  pageSize?: number
  /** False for an organization without access to Anthropic's beta. */
  hasBeta?: boolean
}

/** A refusal in the provider's words. */
class Refused extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A provider that tells what it billed, and refuses what the real one refuses. */
export interface BillingDouble {
  /** Base URL, ending `/v1`. */
  url: string
  facts: BillingFacts
  /** Paths of the requests, with their parameters. */
  asked: string[]
  /** Answers the next requests with this status. */
  failNext(status: number, times?: number): void
  /** Answers the next request with this body, as a faulty provider might. */
  replyNext(body: string): void
  close(): Promise<void>
}

const DAY_MS = 86_400_000

/** Starts the APIs of OpenAI, Anthropic and OpenRouter that tell what an account was billed, by their references. */
export async function startBilling(facts: BillingFacts): Promise<BillingDouble> {
  const failures: number[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://double')
    double.asked.push(request.url ?? '')
    const reply = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify(body))
    const body = bodies.shift()
    if (body !== undefined) return response.end(body)
    const failure = failures.shift()
    if (failure !== undefined) return reply(failure, { error: { message: 'for a moment' } })
    try {
      reply(200, answer(double.facts, pathname.replace(/^\/v1/, ''), searchParams, request.headers))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      reply(error.status, { error: { message: error.message } })
    }
  })
  await new Promise<void>((resolve) => endWithTests(server).listen(0, '127.0.0.1', resolve))
  const double: BillingDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    facts,
    asked: [],
    replyNext: (body) => void bodies.push(body),
    failNext: (status, times = 1) => void failures.push(...Array<number>(times).fill(status)),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return double
}

type Headers = Readonly<Record<string, string | string[] | undefined>>

function answer(facts: BillingFacts, path: string, query: URLSearchParams, headers: Headers): unknown {
  if (path.startsWith('/organization/')) {
    requireKey(headers.authorization, /^Bearer sk-admin-/, 'You have insufficient permissions: api.usage.read.')
    if (path.includes('/api_keys/')) return openaiKey(facts, path)
    if (path === '/organization/costs')
      return openaiPage(facts, query, { groups: ['project_id', 'line_item', 'api_key_id'], most: 180 })
    return openaiPage(facts, query, {
      groups: ['project_id', 'user_id', 'api_key_id', 'model', 'batch', 'service_tier'],
      most: 31,
    })
  }
  if (path.startsWith('/organizations/')) {
    requireKey(headers['x-api-key'], /^sk-ant-admin/, 'This endpoint requires an Admin API key.')
    if (headers['anthropic-version'] === undefined) throw new Refused(400, 'anthropic-version: header is required')
    if (path.startsWith('/organizations/api_keys/')) return anthropicKey(facts, path)
    if (path === '/organizations/cost_report') return anthropicReport(facts, query)
    if (headers['anthropic-beta'] !== 'analytics-usage-cost-2026-08-24' || facts.hasBeta === false)
      throw new Refused(404, 'Not found')
    return anthropicPage(facts, query, path.endsWith('/cost'))
  }
  if (path === '/activity') return activity(facts, query, headers)
  throw new Refused(404, 'Not found')
}

function requireKey(sent: string | string[] | undefined, kind: RegExp, otherwise: string): void {
  if (sent === undefined) throw new Refused(401, 'Missing credentials')
  if (!kind.test(String(sent))) throw new Refused(403, `${otherwise} You sent ${sent}.`)
}

function requireGroups(query: URLSearchParams, allowed: readonly string[], most = allowed.length): string[] {
  const groups = query.getAll('group_by[]')
  const wrong = groups.find((group) => !allowed.includes(group))
  if (wrong !== undefined) throw new Refused(400, `group_by: '${wrong}' is not one of ${allowed.join(', ')}`)
  if (groups.filter((group) => !/^(?:cost|token)_type$/.test(group)).length > most)
    throw new Refused(400, 'group_by: too many')
  return groups
}

/** One page of `items`, whose token names the item after it. */
function paged<Item>(items: readonly Item[], query: URLSearchParams, size: number) {
  const page = query.get('page')
  const start = page === null ? 0 : Number(/^page_(\d+)$/.exec(page)?.[1] ?? Number.NaN)
  if (!(start >= 0 && start <= items.length)) throw new Refused(400, 'page: invalid token')
  const end = start + size
  const has_more = end < items.length
  return { data: items.slice(start, end), has_more, next_page: has_more ? `page_${end}` : null }
}

function limitOf(query: URLSearchParams, otherwise: number, most: number): number {
  const limit = Number(query.get('limit') ?? otherwise)
  if (!(limit >= 1 && limit <= most)) throw new Refused(400, `limit: must be from 1 to ${most}`)
  return limit
}

function openaiPage({ rows, pageSize }: BillingFacts, query: URLSearchParams, of: { groups: string[]; most: number }) {
  const groups = requireGroups(query, of.groups)
  const [start, end] = ['start_time', 'end_time'].map((name) => Number(query.get(name) ?? Number.NaN)) as [
    number,
    number,
  ]
  if (!Number.isInteger(start)) throw new Refused(400, 'start_time: required, in Unix seconds')
  if (!(end > start)) throw new Refused(400, 'end_time: must be after start_time')
  const isCosts = of.groups.includes('line_item')
  const days = Array.from({ length: Math.ceil((end - start) / 86_400) }, (_, i) => start + i * 86_400)
  const buckets = days.map((at) => {
    const day = new Date(at * 1000).toISOString().slice(0, 10)
    const known = (group: string, value: string) => (groups.includes(group) ? value : null)
    const results = rows
      .filter((row) => row.day === day && (isCosts || row.fee === undefined))
      .map((row) =>
        isCosts
          ? {
              object: 'organization.costs.result',
              amount: { value: row.requests === undefined ? row.usd : Number(row.usd), currency: 'usd' },
              line_item: known('line_item', row.fee ?? `${row.model}, input`),
              project_id: known('project_id', 'proj_1'),
              api_key_id: known('api_key_id', row.key),
            }
          : {
              object: 'organization.usage.completions.result',
              input_tokens: row.prompt ?? 0,
              output_tokens: row.completion ?? 0,
              num_model_requests: row.requests ?? 0,
              api_key_id: known('api_key_id', row.key),
              model: known('model', row.model),
            },
      )
    return { object: 'bucket', start_time: at, end_time: at + 86_400, results }
  })
  return { object: 'page', ...paged(buckets, query, pageSize ?? limitOf(query, 7, of.most)) }
}

function openaiKey({ keys = [] }: BillingFacts, path: string) {
  const [, project, id] = /^\/organization\/projects\/([^/]+)\/api_keys\/([^/]+)$/.exec(path) ?? []
  const key = keys.find((one) => one.id === id)
  if (key === undefined || project !== 'proj_1') throw new Refused(404, 'No such key')
  return { object: 'organization.project.api_key', id, name: key.name, redacted_value: key.hint }
}

function anthropicPage({ rows, pageSize, now }: BillingFacts, query: URLSearchParams, isCost: boolean) {
  const dimensions = ['api_key_id', 'model', 'service_tier', 'speed', 'inference_geo', 'workspace_id']
  const groups = requireGroups(query, isCost ? [...dimensions, 'cost_type', 'token_type'] : dimensions, 5)
  const { from, to } = anthropicRange(query, now)
  if (query.has('time_bucket_width') && !query.has('ending_at')) throw new Refused(400, 'ending_at: required')
  const found = rows
    .filter(({ day, fee }) => Date.parse(day) >= from && Date.parse(day) < to && (isCost || fee === undefined))
    .map((row) => {
      const known = (group: string, value: string | null) => (groups.includes(group) ? value : null)
      const group = {
        api_key_id: known('api_key_id', row.key),
        model: known('model', row.fee === undefined ? row.model : null),
        ...(isCost && { cost_type: known('cost_type', row.fee ?? 'tokens') }),
      }
      const times = {
        starting_at: `${row.day}T00:00:00Z`,
        ending_at: new Date(Date.parse(row.day) + DAY_MS).toISOString(),
      }
      if (isCost)
        return {
          ...times,
          group,
          cost: { amount: cents(row.usd), list_amount: cents(row.usd), currency: 'USD', requests: null },
        }
      return {
        ...times,
        group,
        usage: {
          requests: row.requests ?? 0,
          uncached_input_tokens: row.prompt ?? 0,
          cache_read_input_tokens: 0,
          cache_creation: { ephemeral_1h_input_tokens: 0, ephemeral_5m_input_tokens: 0 },
          output_tokens: row.completion ?? 0,
          total_tokens: (row.prompt ?? 0) + (row.completion ?? 0),
        },
      }
    })
  return paged(found, query, pageSize ?? limitOf(query, 20, 1000))
}

function anthropicRange(query: URLSearchParams, now: Date): { from: number; to: number } {
  const [from, to] = [query.get('starting_at') ?? '', query.get('ending_at') ?? ''].map((text) => Date.parse(text)) as [
    number,
    number,
  ]
  if (Number.isNaN(from)) throw new Refused(400, 'starting_at: required, RFC 3339')
  if (from < Date.parse('2026-01-01') || from < now.getTime() - 365 * DAY_MS)
    throw new Refused(400, 'starting_at: too long ago')
  if (!(to > from && to - from <= 31 * DAY_MS)) throw new Refused(400, 'ending_at: at most 31 days after starting_at')
  return { from, to }
}

function anthropicReport({ rows, now, pageSize }: BillingFacts, query: URLSearchParams) {
  const groups = requireGroups(query, ['workspace_id', 'description'])
  if ((query.get('bucket_width') ?? '1d') !== '1d') throw new Refused(400, 'bucket_width: must be 1d')
  const { from, to } = anthropicRange(query, now)
  const buckets = Array.from({ length: Math.ceil((to - from) / DAY_MS) }, (_, i) => {
    const day = new Date(from + i * DAY_MS).toISOString().slice(0, 10)
    const results = rows
      .filter((row) => row.day === day)
      .map((row) => ({
        amount: cents(row.usd),
        currency: 'USD',
        description: groups.includes('description') ? (row.fee ?? `${row.model} Usage - Input Tokens`) : null,
        model: groups.includes('description') && row.fee === undefined ? row.model : null,
        cost_type: groups.includes('description') ? (row.fee ?? 'tokens') : null,
      }))
    return { starting_at: `${day}T00:00:00Z`, ending_at: new Date(from + (i + 1) * DAY_MS).toISOString(), results }
  })
  return paged(buckets, query, pageSize ?? limitOf(query, 7, 31))
}

function anthropicKey({ keys = [] }: BillingFacts, path: string) {
  const key = keys.find(({ id }) => path.endsWith(`/${id}`))
  if (key === undefined) throw new Refused(404, 'Not found')
  return { type: 'api_key', id: key.id, name: key.name, partial_key_hint: key.hint, status: 'active' }
}

/** Cents as text, exactly: `0.012345` dollars are `1.2345`. */
const cents = (usd: string): string => {
  const [whole = '0', fraction = ''] = usd.split('.')
  const digits = fraction.padEnd(2, '0')
  return `${BigInt(whole + digits.slice(0, 2))}${digits.length > 2 ? `.${digits.slice(2)}` : ''}`
}

function activity({ rows, now }: BillingFacts, query: URLSearchParams, headers: Headers) {
  requireKey(
    headers.authorization,
    /^Bearer sk-or-v1-management/,
    'Only management keys can fetch activity for an account.',
  )
  const today = now.toISOString().slice(0, 10)
  const oldest = new Date(now.getTime() - 30 * DAY_MS).toISOString().slice(0, 10)
  const date = query.get('date')
  if (date !== null && !(date >= oldest && date < today))
    throw new Refused(400, 'Date must be within the last 30 (completed) UTC days')
  const hash = query.get('api_key_hash')
  if (hash !== null && !/^[0-9a-f]{64}$/.test(hash)) throw new Refused(400, 'api_key_hash: invalid')
  return {
    data: rows
      .filter(({ day }) => day >= oldest && day < today && (date === null || day === date))
      .filter(({ key }) => hash === null || key === hash)
      .map((row) => ({
        date: `${row.day} 00:00:00`,
        model: row.model,
        model_permaslug: `${row.model}-20260101`,
        endpoint_id: 'e',
        provider_name: 'P',
        usage: Number(row.usd),
        byok_usage_inference: 0,
        requests: row.requests ?? 1,
        prompt_tokens: row.prompt ?? 0,
        completion_tokens: row.completion ?? 0,
        reasoning_tokens: 0,
      })),
  }
}
