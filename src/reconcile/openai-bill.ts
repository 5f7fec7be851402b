import * as z from 'zod'
import type { Account } from './accounts.ts'
import { type BillingApi, createBillingApi } from './billing-api.ts'
import { amountIn } from './decimal.ts'
import { describedKeys, namedKeys } from './described-keys.ts'
import { type Bill, type BilledKey, type BillLine, type BillPeriod, isHinted, NO_COUNTS } from './provider-bill.ts'

/** A decimal, as a number or as text. */
const Decimal = z.union([z.string(), z.number()]).refine((value) => amountIn(value) !== null, 'not a decimal')
const page = { has_more: z.boolean(), next_page: z.string().nullish() }
const id = z.string().nullish()

const Costs = z.object({
  ...page,
  data: z.array(
    z.object({
      start_time: z.int(),
      results: z.array(
        z.object({
          amount: z.object({ value: Decimal, currency: z.string() }),
          line_item: id,
          project_id: id,
          api_key_id: id,
        }),
      ),
    }),
  ),
})
const count = z.int().min(0).default(0)
const Usage = z.object({
  ...page,
  data: z.array(
    z.object({
      start_time: z.int(),
      results: z.array(
        z.object({
          api_key_id: id,
          model: id,
          input_tokens: count,
          output_tokens: count,
          num_model_requests: count,
        }),
      ),
    }),
  ),
})
const ApiKey = z.object({ name: z.string().nullish(), redacted_value: z.string() })

/** Buckets of a day that one page may have. */
const BUCKETS = 31

/**
 * Reads what OpenAI billed: money by key and line item, and tokens of completions by key and model
 * (https://platform.openai.com/docs/api-reference/usage). Costs are final after a day or two.
 */
export async function openaiBill(
  account: Account,
  { from, to }: BillPeriod,
  onProgress: (what: string) => void,
): Promise<Bill> {
  const api = createBillingApi(account, { authorization: `Bearer ${account.admin?.key}` }, onProgress)
  const range = {
    start_time: from.getTime() / 1000,
    end_time: to.getTime() / 1000,
    bucket_width: '1d',
    limit: BUCKETS,
  }
  const costs = await api.pages(
    '/organization/costs',
    { ...range, group_by: ['project_id', 'api_key_id', 'line_item'] },
    Costs,
  )
  const usage = await api.pages(
    '/organization/usage/completions',
    { ...range, group_by: ['api_key_id', 'model'] },
    Usage,
  )
  const billed = costs.flatMap(({ data }) => data.flatMap(({ start_time, results }) => withDay(start_time, results)))
  const foreign = billed.find(({ amount }) => amount.currency.toLowerCase() !== 'usd')
  const projects = new Map(billed.flatMap(({ api_key_id: key, project_id }) => (key ? [[key, project_id]] : [])))
  const described = await describedKeys(account, [...projects.keys()], (key) =>
    readKey(api, account, key, projects.get(key) ?? null),
  )
  return {
    source: 'OpenAI /v1/organization/costs',
    isByKey: true,
    lines: [
      ...billed.map(
        ({ day, amount, line_item, api_key_id }): BillLine => ({
          ...NO_COUNTS,
          day,
          key: api_key_id ?? null,
          ...itemOf(line_item ?? null),
          amount: amountIn(amount.value) ?? 0n,
        }),
      ),
      ...usage.flatMap(({ data }) =>
        data.flatMap(({ start_time, results }) =>
          withDay(start_time, results).map(
            (row): BillLine => ({
              day: row.day,
              key: row.api_key_id ?? null,
              model: row.model ?? null,
              fee: null,
              amount: 0n,
              requests: row.num_model_requests,
              prompt_tokens: row.input_tokens,
              completion_tokens: row.output_tokens,
            }),
          ),
        ),
      ),
    ],
    keys: described.keys,
    notes: [
      ...described.notes,
      ...(foreign === undefined ? [] : [`Amounts are in ${foreign.amount.currency}, and are compared as if in USD.`]),
    ],
  }
}

const withDay = <Row>(seconds: number, rows: readonly Row[]) =>
  rows.map((row) => ({ ...row, day: new Date(seconds * 1000).toISOString().slice(0, 10) }))

/** Kinds of line items that are tokens of a model. */
const OF_TOKENS = /input|output|cache|training/i

/**
 * Splits a line item: `gpt-5-2025-08-07, cached input` names a model and a kind of tokens, `web search tool calls` a
 * fee.
 */
function itemOf(item: string | null): Pick<BillLine, 'model' | 'fee'> {
  const [, model, kind = ''] = /^([^\s,]+)(?:, (.+))?$/.exec(item ?? '') ?? []
  if (model === undefined) return { model: null, fee: item ?? 'not itemized' }
  return { model, fee: kind === '' || OF_TOKENS.test(kind) ? null : kind }
}

async function readKey(
  api: BillingApi,
  { keys }: Account,
  key: string,
  project: string | null,
): Promise<BilledKey | null> {
  if (project === null) return null
  const path = `/organization/projects/${encodeURIComponent(project)}/api_keys/${encodeURIComponent(key)}`
  const { name, redacted_value: hint } = await api.get(path, {}, ApiKey)
  return namedKeys(key, name ?? null, (one) => isHinted(hint, one), keys)
}
