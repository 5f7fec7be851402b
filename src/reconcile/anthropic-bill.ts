import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import type { Account } from './accounts.ts'
import { type BillingApi, createBillingApi } from './billing-api.ts'
import { amountIn } from './decimal.ts'
import { describedKeys, namedKeys } from './described-keys.ts'
import { type Bill, type BillLine, type BillPeriod, isHinted, NO_COUNTS } from './provider-bill.ts'

const BETA = 'analytics-usage-cost-2026-08-24'
/** Version of Anthropic's API (https://docs.claude.com/en/api/versioning). */
const VERSION = '2023-06-01'
/** Rows of a page. */
const ROWS = 1000
/** Amounts are in fractional cents. */
const CENTS = 2

const Cents = z.string().refine((value) => amountIn(value, CENTS) !== null, 'not a decimal')
const page = { has_more: z.boolean(), next_page: z.string().nullish() }
const text = z.string().nullish()
const Group = z.object({ api_key_id: text, model: text })

const Costs = z.object({
  ...page,
  data: z.array(
    z.object({
      starting_at: z.iso.datetime({ offset: true }),
      group: Group.extend({ cost_type: text }),
      cost: z.object({ amount: Cents }),
    }),
  ),
})
const count = z.int().min(0)
const Usage = z.object({
  ...page,
  data: z.array(
    z.object({
      starting_at: z.iso.datetime({ offset: true }),
      group: Group,
      usage: z.object({
        requests: count.nullable(),
        uncached_input_tokens: count,
        cache_read_input_tokens: count,
        cache_creation: z.record(z.string(), count).nullish(),
        output_tokens: count,
      }),
    }),
  ),
})
const Report = z.object({
  ...page,
  data: z.array(
    z.object({
      starting_at: z.iso.datetime({ offset: true }),
      results: z.array(z.object({ amount: Cents, model: text, cost_type: text, description: text })),
    }),
  ),
})
const ApiKey = z.object({ name: text, partial_key_hint: text })

/**
 * Reads what Anthropic billed by key and model, after discounts, with its usage; from the older cost report, which does
 * not name keys, where the account has no access to the newer one
 * (https://platform.claude.com/docs/en/manage-claude/usage-cost-analytics-api).
 */
export async function anthropicBill(
  account: Account,
  period: BillPeriod,
  onProgress: (what: string) => void,
): Promise<Bill> {
  const headers = { 'x-api-key': account.admin?.key ?? '', 'anthropic-version': VERSION }
  const beta = createBillingApi(account, { ...headers, 'anthropic-beta': BETA }, onProgress)
  const range = { starting_at: period.from.toISOString(), ending_at: period.to.toISOString() }
  const byDay = { ...range, time_bucket_width: '1d', order_by: 'time', limit: ROWS }
  const costs = await beta
    .pages('/organizations/analytics/cost', { ...byDay, group_by: ['api_key_id', 'model', 'cost_type'] }, Costs)
    .catch(noAccess)
  if (costs === null) return reported(createBillingApi(account, headers, onProgress), range)
  const usage = await beta.pages(
    '/organizations/analytics/usage',
    { ...byDay, group_by: ['api_key_id', 'model'] },
    Usage,
  )
  const billed = costs.flatMap(({ data }) => data)
  const ids = [...new Set(billed.flatMap((row) => row.group.api_key_id ?? []))]
  const { keys, notes } = await describedKeys(account, ids, async (id) => {
    const path = `/organizations/api_keys/${encodeURIComponent(id)}`
    const { name, partial_key_hint: hint } = await beta.get(path, {}, ApiKey)
    return hint ? namedKeys(id, name ?? null, (one) => isHinted(hint, one), account.keys) : null
  })
  return {
    source: 'Anthropic /v1/organizations/analytics/cost',
    isByKey: true,
    keys,
    notes,
    lines: [
      ...billed.map((row) => lineOf(row, feeOf(row.group.cost_type ?? null), amountIn(row.cost.amount, CENTS) ?? 0n)),
      ...usage
        .flatMap(({ data }) => data)
        .map(
          ({ usage: of, ...row }): BillLine => ({
            ...lineOf(row, null, 0n),
            requests: of.requests ?? 0,
            prompt_tokens:
              of.uncached_input_tokens +
              of.cache_read_input_tokens +
              Object.values(of.cache_creation ?? {}).reduce((sum, tokens) => sum + tokens, 0),
            completion_tokens: of.output_tokens,
          }),
        ),
    ],
  }
}

/** Null when the account has no access to the newer report. @throws every other error */
function noAccess(error: unknown): null {
  const isRefused = error instanceof GazewayError && / answered (?:400|403|404)\./.test(error.message)
  if (isRefused) return null
  throw error
}

const feeOf = (type: string | null): string | null => (type === null || type === 'tokens' ? null : type)

const lineOf = (
  { starting_at, group }: { starting_at: string; group: z.infer<typeof Group> },
  fee: string | null,
  amount: bigint,
): BillLine => ({
  ...NO_COUNTS,
  day: new Date(starting_at).toISOString().slice(0, 10),
  key: group.api_key_id ?? null,
  model: group.model ?? null,
  fee: group.model ? fee : (fee ?? 'no model'),
  amount,
})

async function reported(api: BillingApi, range: { starting_at: string; ending_at: string }): Promise<Bill> {
  const pages = await api.pages(
    '/organizations/cost_report',
    { ...range, bucket_width: '1d', limit: 31, group_by: ['description'] },
    Report,
  )
  return {
    source: 'Anthropic /v1/organizations/cost_report',
    isByKey: false,
    keys: [],
    notes: [
      'This account cannot read costs by key: calls past Gazeway are part of the difference, and costs of the priority tier are missing.',
    ],
    lines: pages.flatMap(({ data }) =>
      data.flatMap(({ starting_at, results }) =>
        results.map(({ amount, model, cost_type, description }) => {
          const fee = feeOf(cost_type ?? null)
          const line = lineOf({ starting_at, group: { api_key_id: null, model } }, fee, amountIn(amount, CENTS) ?? 0n)
          return { ...line, fee: model ? fee : (description ?? fee ?? 'no model') }
        }),
      ),
    ),
  }
}
