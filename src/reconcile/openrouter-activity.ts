import * as z from 'zod'
import { hashOf } from '../providers/key-id.ts'
import type { Store } from '../store/store.ts'
import type { BilledActivityRow } from '../store/tables/reconcile-tables.ts'
import type { Account } from './accounts.ts'
import { createBillingApi } from './billing-api.ts'
import { amountIn, type Billed, billedOf, microsOf } from './decimal.ts'
import { type Bill, type BillPeriod, DAY_MS, daysOf } from './provider-bill.ts'

/** Completed UTC days that OpenRouter remembers. */
const REMEMBERED_DAYS = 30
/** Days that rows are kept. */
const KEPT_DAYS = 400
/** Rows written per statement. */
const ROWS = 200

const Usd = z.number().refine((value) => amountIn(value) !== null, 'not a decimal')
const count = z.number().min(0)
const Activity = z.object({
  data: z.array(
    z.object({
      date: z.string().regex(/^\d{4}-\d\d-\d\d/),
      model: z.string(),
      usage: Usd,
      byok_usage_inference: Usd.nullish(),
      requests: count,
      prompt_tokens: count,
      completion_tokens: count,
    }),
  ),
})
type Activity = z.infer<typeof Activity>

/**
 * Reads what OpenRouter billed in the last 30 completed days, and keeps it: it forgets older days. Calls that it sent
 * with a key of ours at another provider cost its fee and, in addition, what that provider bills
 * (https://openrouter.ai/docs/api/api-reference/analytics/get-user-activity-grouped-by-endpoint).
 */
export async function keepActivity(
  store: Store,
  account: Account,
  now: Date,
  onProgress: (what: string) => void = () => {},
): Promise<void> {
  const api = createBillingApi(account, { authorization: `Bearer ${account.admin?.key}` }, onProgress)
  const all = sumsOf(await api.get('/activity', {}, Activity), '')
  const ofKeys: Map<string, Sum>[] = []
  for (const id of account.keys.map(hashOf))
    ofKeys.push(sumsOf(await api.get('/activity', { api_key_hash: id }, Activity), id))
  // What none of our keys has spent was spent past Gazeway.
  for (const { day, model, ...of } of ofKeys.flatMap((sums) => [...sums.values()])) {
    const rest = all.get(`${day} ${model}`)
    if (rest === undefined) continue
    rest.amount -= of.amount
    rest.requests -= of.requests
    rest.prompt_tokens -= of.prompt_tokens
    rest.completion_tokens -= of.completion_tokens
  }
  const [upstream = ''] = account.upstreams
  const days = rememberedDays(now)
  const read_at = now.toISOString()
  const marks = days.map((day) => ({ ...NOTHING, day, key: '', model: '', amount: 0n }))
  const rows = [...marks, ...[all, ...ofKeys].flatMap((sums) => [...sums.values()])]
    .filter(({ day, model, amount, requests }) => days.includes(day) && (model === '' || amount !== 0n || requests > 0))
    .map(({ amount, ...row }): BilledActivityRow => ({ upstream, ...row, micros: microsOf(amount), read_at }))
  await store.write(async (trx) => {
    await trx.deleteFrom('billed_activity').where('upstream', '=', upstream).where('day', 'in', days).execute()
    for (let start = 0; start < rows.length; start += ROWS)
      await trx
        .insertInto('billed_activity')
        .values(rows.slice(start, start + ROWS))
        .execute()
    const oldest = new Date(now.getTime() - KEPT_DAYS * DAY_MS).toISOString().slice(0, 10)
    await trx.deleteFrom('billed_activity').where('day', '<', oldest).execute()
  })
}

const NOTHING = { requests: 0, prompt_tokens: 0, completion_tokens: 0 }

/** The last 30 completed UTC days. */
function rememberedDays(now: Date): string[] {
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS
  return daysOf({ from: new Date(today - REMEMBERED_DAYS * DAY_MS), to: new Date(today) })
}

type Sum = { day: string; key: string; model: string; amount: Billed } & typeof NOTHING

/** Adds up the endpoints of each model on each day. */
function sumsOf({ data }: Activity, key: string): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  for (const row of data) {
    const day = row.date.slice(0, 10)
    const name = `${day} ${row.model}`
    const sum = sums.get(name) ?? { ...NOTHING, day, key, model: row.model, amount: 0n }
    sum.amount += (amountIn(row.usage) ?? 0n) + (amountIn(row.byok_usage_inference ?? 0) ?? 0n)
    sum.requests += row.requests
    sum.prompt_tokens += row.prompt_tokens
    sum.completion_tokens += row.completion_tokens
    sums.set(name, sum)
  }
  return sums
}

/** Reads the bill of a period from what is kept, after an update. */
export async function openrouterBill(
  store: Store,
  account: Account,
  period: BillPeriod,
  now: Date,
  onProgress: (what: string) => void,
): Promise<Bill> {
  await keepActivity(store, account, now, onProgress)
  const days = daysOf(period).filter((day) => day < now.toISOString().slice(0, 10))
  const rows = await store.db
    .selectFrom('billed_activity')
    .selectAll()
    .where('upstream', '=', account.upstreams[0] ?? '')
    .where('day', 'in', days.length === 0 ? [''] : days)
    .execute()
  const read = new Set(rows.map(({ day }) => day))
  const missing = days.filter((day) => !read.has(day))
  const ours = new Set(account.keys.map(hashOf))
  const ids = [...new Set(rows.flatMap(({ key }) => (key === '' ? [] : [key])))]
  return {
    source: 'OpenRouter /api/v1/activity',
    isByKey: true,
    lines: rows
      .filter(({ model }) => model !== '')
      .map(({ day, key, model, micros, requests, prompt_tokens, completion_tokens }) => ({
        day,
        key: key === '' ? OTHERS : key,
        model,
        fee: null,
        amount: billedOf(micros),
        requests,
        prompt_tokens,
        completion_tokens,
      })),
    // A key whose activity was read by its hash was configured then, and is ours.
    keys: [
      ...ids.map((id) => ({ id, name: ours.has(id) ? null : 'no longer configured', isOurs: true })),
      { id: OTHERS, name: 'other keys of the account', isOurs: false },
    ],
    notes: [
      ...(missing.length === 0
        ? []
        : [
            `OpenRouter forgets activity after ${REMEMBERED_DAYS} days, and no gateway with ${account.admin?.variable} kept ${spanOf(missing)}.`,
          ]),
      ...(daysOf(period).length > days.length ? ['OpenRouter bills completed UTC days only: today is missing.'] : []),
    ],
  }
}

const OTHERS = 'other'

const spanOf = (days: readonly string[]): string =>
  days.length === 1 ? `${days[0]}` : `${days.length} days from ${days[0]} to ${days.at(-1)}`

/** Returns the last day whose activity is kept. Null when none is. */
export async function lastKeptDay(store: Store, { upstreams }: Account): Promise<string | null> {
  const row = await store.db
    .selectFrom('billed_activity')
    .select(({ fn }) => fn.max('day').as('day'))
    .where('upstream', '=', upstreams[0] ?? '')
    .executeTakeFirst()
  return row?.day ?? null
}
