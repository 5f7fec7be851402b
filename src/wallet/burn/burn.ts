import * as z from 'zod'
import { summedRows } from '../../calls/call-selection.ts'
import { statusOf } from '../../calls/call-status.ts'
import type { Config } from '../../config/config-schema.ts'
import { Billing } from '../../config/sections/wallet-section.ts'
import { Period } from '../../identity/budgets.ts'
import { hourOf } from '../../store/dates.ts'
import { decodeCursor, type Page, type Paged, readPage } from '../../store/page.ts'
import type { Store } from '../../store/store.ts'
import { type Micros, toMicros, toUsd } from '../../text/money.ts'
import { marginOf } from '../receipts/pricing.ts'
import { type Bound, type Dry, firstDry, tightestOf } from './burn-bounds.ts'
import { readBurners } from './burners.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A key or group, its remaining money and budget, and how long they last at the rate of the last day. */
export const Burn = z.object({
  id: z.string().describe('Id of the key or group'),
  kind: z.enum(['key', 'group']),
  name: z.string(),
  group: z.string().nullable().describe('Id of the group of a key'),
  billing: Billing.nullable().describe('Null for a group'),
  balance: z
    .object({
      available_usd: z.number().describe('Unspent deposits; negative while credit is used'),
      credit_limit_usd: z.number(),
      left_usd: z.number().describe('Balance plus credit, available for calls'),
    })
    .nullable()
    .describe('Null for a group and for a key whose calls are not charged'),
  budget: z
    .object({
      owner: z.string().describe('Id of the key or group that has the budget'),
      per: Period,
      usd: z.number(),
      spent_usd: z.number(),
      left_usd: z.number().describe('Negative when the budget was lowered below the amount spent'),
      resets_at: z.iso.datetime().nullable(),
    })
    .nullable()
    .describe('The budget that runs out first; when none does before it resets, the one with the least left'),
  burned_24h_usd: z.number().describe('Cost of its calls in this hour and the 23 before it, without escrow rewards'),
  runs_out: z.enum(['balance', 'budget']).nullable().describe('What runs out first; null when nothing does'),
  time_left_seconds: z
    .int()
    .nullable()
    .describe('Time until then at that rate; 0 when it has run out, null when nothing does before it resets'),
})
export type Burn = z.infer<typeof Burn>

/** Settings that burn is computed from. */
interface BurnTerms {
  /** Margin of a metered call. */
  marginMicros: Micros
  /** Credit of keys without their own setting. */
  defaultCreditMicros: Micros
}

/** Dependencies of {@link burnList}. */
interface BurnDeps extends BurnTerms {
  store: Store
  now: () => Date
}

/** Reads the terms from a configuration. */
export const burnTerms = ({ pricing, wallet }: Pick<Config, 'pricing' | 'wallet'>): BurnTerms => ({
  marginMicros: marginOf(pricing),
  defaultCreditMicros: toMicros(wallet.default_credit_limit_usd) as Micros,
})

/**
 * Lists all valid keys and all groups, the first to run out at the front. Costs come from hourly sums, so the work
 * grows with the keys and the models they called, not with the calls.
 *
 * @throws GazewayError `invalid_cursor`
 */
export async function burnList(deps: BurnDeps, { cursor, offset = 0, ...page }: Paged): Promise<Page<Burn>> {
  const all = (await readAll(deps)).sort((a, b) => order(a) - order(b) || (a.id < b.id ? -1 : 1))
  const after = cursor === undefined ? null : decodeCursor(cursor, z.tuple([z.number(), z.string()]))
  const rest = after === null ? all : all.filter((burn) => isAfter(burn, after))
  return readPage(page, {
    rows: async (limit) => rest.slice(offset, offset + limit),
    total: () => all.length,
    item: (burn) => burn,
    cursor: (burn) => [order(burn), burn.id],
  })
}

/** Sorts entries that never run out last. */
const order = ({ time_left_seconds }: Burn): number => time_left_seconds ?? Number.MAX_SAFE_INTEGER

const isAfter = (burn: Burn, [seconds, id]: readonly [number, string]): boolean =>
  order(burn) > seconds || (order(burn) === seconds && burn.id > id)

async function readAll({ store, now, ...terms }: BurnDeps): Promise<Burn[]> {
  const at = now()
  const from = hourOf(new Date(at.getTime() - DAY_MS + HOUR_MS).toISOString())
  const windowMs = at.getTime() - Date.parse(from)
  const [{ keys, groups, boundsOf, available }, costs] = await Promise.all([
    readBurners(store, at),
    readCosts(store, from),
  ])
  const burnedBy = new Map<string, Micros>()
  for (const { id, group_id, billing } of keys) {
    const { cost = 0, answered = 0 } = costs.get(id) ?? {}
    const burned = cost + (billing === 'metered' ? answered * terms.marginMicros : 0)
    burnedBy.set(id, burned)
    if (group_id !== null) burnedBy.set(group_id, (burnedBy.get(group_id) ?? 0) + burned)
  }
  const ratesOf = (owner: string) => (burnedBy.get(owner) ?? 0) / windowMs
  const dryOf = (bounds: readonly Bound[]): Dry | null => firstDry(bounds, ratesOf, at)

  const ofKeys = keys.map((key): Burn => {
    const balance =
      key.billing === 'recorded'
        ? null
        : balanceOf(available.get(key.id), key.credit_limit_micros ?? terms.defaultCreditMicros)
    const budgets = [...boundsOf(key.id), ...(key.group_id === null ? [] : boundsOf(key.group_id))]
    const money = balance === null ? [] : [{ owner: key.id, left: balance.left, budget: null }]
    return {
      id: key.id,
      kind: 'key',
      name: key.name,
      group: key.group_id,
      billing: key.billing,
      balance: balance?.shown ?? null,
      ...toShown(dryOf([...money, ...budgets]), tightestOf(budgets, dryOf(budgets))),
      burned_24h_usd: toUsd(burnedBy.get(key.id) ?? 0),
    }
  })
  const ofGroups = groups.map(({ id, name }): Burn => {
    const budgets = boundsOf(id)
    const dry = dryOf(budgets)
    const burned_24h_usd = toUsd(burnedBy.get(id) ?? 0)
    return {
      id,
      kind: 'group',
      name,
      group: null,
      billing: null,
      balance: null,
      ...toShown(dry, tightestOf(budgets, dry)),
      burned_24h_usd,
    }
  })
  return [...ofKeys, ...ofGroups]
}

function balanceOf(available: Micros | undefined, credit: Micros) {
  const left = (available ?? 0) + credit
  const shown = { available_usd: toUsd(available ?? 0), credit_limit_usd: toUsd(credit), left_usd: toUsd(left) }
  return { left, shown }
}

function toShown(dry: Dry | null, tightest: Bound | null): Pick<Burn, 'budget' | 'runs_out' | 'time_left_seconds'> {
  const budget = tightest?.budget ?? null
  return {
    budget: tightest &&
      budget && {
        owner: tightest.owner,
        per: budget.per,
        usd: toUsd(budget.micros),
        spent_usd: toUsd(budget.micros - tightest.left),
        left_usd: toUsd(tightest.left),
        resets_at: budget.resetsAt,
      },
    runs_out: dry && kindOf(dry.bound),
    time_left_seconds: dry === null ? null : Math.floor(dry.inMs / 1000),
  }
}

const kindOf = ({ budget }: Bound) => (budget === null ? 'balance' : 'budget')

/** Sums the cost of each caller's calls since an hour began, and counts the answered ones. */
async function readCosts(store: Store, from: string): Promise<Map<string, { cost: Micros; answered: number }>> {
  const costs = new Map<string, { cost: Micros; answered: number }>()
  for (const { key, status, calls, upstream_cost_micros } of await summedRows(store, { from }, 'caller')) {
    const { cost, answered } = costs.get(key) ?? { cost: 0, answered: 0 }
    costs.set(key, {
      cost: cost + Number(upstream_cost_micros),
      answered: answered + (statusOf(status).counts === 'answer' ? Number(calls) : 0),
    })
  }
  return costs
}
