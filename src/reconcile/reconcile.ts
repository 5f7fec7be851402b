import type { Config } from '../config/config-schema.ts'
import type { Environment } from '../config/environment.ts'
import { GazewayError } from '../errors.ts'
import type { Store } from '../store/store.ts'
import { toMicros, toUsd } from '../text/money.ts'
import { boundsOf } from '../wallet/ledger/statement-period.ts'
import { type Account, accountsOf, keyFault } from './accounts.ts'
import { anthropicBill } from './anthropic-bill.ts'
import { type Comparison, canonical, compare, type DayFacts, idsNotBilled } from './compare-bill.ts'
import { type CountedCalls, cappedCalls, countedCalls } from './counted-calls.ts'
import { billedOf } from './decimal.ts'
import { grouped } from './grouped.ts'
import { openaiBill } from './openai-bill.ts'
import { lastKeptDay, openrouterBill } from './openrouter-activity.ts'
import { type Bill, type BillPeriod, DAY_MS, NO_COUNTS } from './provider-bill.ts'

/** Age from which a day's bill counts as final, in milliseconds. */
const FINAL_MS = 48 * 3_600_000

/** Sums over days and models, in US dollars. */
export interface Totals {
  billed_usd: number
  counted_usd: number
  difference_usd: number
  elsewhere_usd: number
  /** Sum of the differences that nothing explains, without their signs. */
  unexplained_usd: number
}

/** One account: its bill beside the recorded calls. */
export interface ReconciledAccount {
  vendor: string
  upstreams: readonly string[]
  /** Origin of the bill. Null when there is none to compare with; `notes` then say why. */
  source: string | null
  notes: readonly string[]
  totals: Totals
  days: readonly Comparison[]
}

/** The bills of a month beside the recorded calls. */
export interface Reconciliation {
  month: string
  currency: 'USD'
  accounts: readonly ReconciledAccount[]
  totals: Totals
}

/** Dependencies of a reconciliation. */
export interface ReconcileDeps {
  store: Store
  config: Config
  env: Environment
  now: Date
  onProgress: (what: string) => void
}

/**
 * Compares what providers billed in a month with the recorded calls, by day, key and model.
 *
 * @param of.upstream name of one upstream; absent for all
 * @throws GazewayError `validation_failed` for a month that is malformed or has not begun, `not_found` for an unknown
 *   upstream, `upstream_not_configured` for a key of another kind, and the errors of `BillingApi`
 */
export async function reconcile(
  deps: ReconcileDeps,
  { month, upstream }: { month: string; upstream?: string | undefined },
): Promise<Reconciliation> {
  const { store, config, env, now, onProgress } = deps
  const period = periodOf(month, now)
  const all = accountsOf(config, env)
  const accounts = upstream === undefined ? all : all.filter(({ upstreams }) => upstreams.includes(upstream))
  if (accounts.length === 0)
    throw new GazewayError(
      'not_found',
      `--upstream: no upstream is named ${upstream}; there are ${all.flatMap(({ upstreams }) => upstreams).join(', ')}.`,
      { param: '--upstream' },
    )
  const faults = accounts.flatMap((account) => keyFault(account) ?? [])
  if (faults.length > 0) throw new GazewayError('upstream_not_configured', `${faults.join('. ')}.`)
  const counted = await countedCalls(store, period, onProgress)
  const capped = await cappedCalls(store, period)
  const reconciled: ReconciledAccount[] = []
  for (const account of accounts) {
    const calls = counted.filter(({ upstream: name }) => account.upstreams.includes(name))
    const isUnused = account.keys.length === 0 && account.admin === null && calls.length === 0
    if (isUnused && upstream === undefined) continue
    const facts = factsOf(
      deps,
      capped.filter((row) => account.upstreams.includes(row.upstream)),
    )
    reconciled.push(await reconcileAccount(deps, account, { period, calls, facts }))
  }
  const others = counted.filter(({ upstream: name }) => !all.some(({ upstreams }) => upstreams.includes(name)))
  const removed = upstream === undefined ? removedUpstreams(others) : []
  const shown = [...reconciled, ...removed]
  return { month, currency: 'USD', accounts: shown, totals: totalsOf(shown.map(({ totals }) => totals)) }
}

/** @throws GazewayError `validation_failed` */
function periodOf(month: string, now: Date): BillPeriod {
  const isMonth = /^\d{4}-(?:0[1-9]|1[0-2])$/.test(month)
  const { from, to } = isMonth ? boundsOf(month) : { from: '', to: '' }
  if (!isMonth || from > now.toISOString())
    throw new GazewayError(
      'validation_failed',
      `--month: must be a UTC month that has begun, such as ${now.toISOString().slice(0, 7)}.`,
      { param: '--month' },
    )
  const tomorrow = (Math.floor(now.getTime() / DAY_MS) + 1) * DAY_MS
  return { from: new Date(from), to: new Date(Math.min(Date.parse(to), tomorrow)) }
}

function factsOf(
  { config, now }: ReconcileDeps,
  capped: readonly { day: string; model: string; calls: number }[],
): DayFacts {
  const { retention_days: days } = config.audit
  const kept = days === null ? '' : new Date(now.getTime() - days * DAY_MS).toISOString().slice(0, 10)
  const byName = new Map<string, number>()
  for (const { day, model, calls } of capped) {
    const name = `${day} ${canonical(model)}`
    byName.set(name, (byName.get(name) ?? 0) + calls)
  }
  return {
    isPreliminary: (day) => now.getTime() - (Date.parse(day) + DAY_MS) < FINAL_MS,
    isDeleted: (day) => day <= kept,
    cappedCalls: (day, model) => byName.get(`${day} ${model}`) ?? 0,
  }
}

async function reconcileAccount(
  deps: ReconcileDeps,
  account: Account,
  { period, calls, facts }: { period: BillPeriod; calls: readonly CountedCalls[]; facts: DayFacts },
): Promise<ReconciledAccount> {
  const { vendor, upstreams } = account
  const bill = await billOf(deps, account, period, calls)
  const days = 'lines' in bill ? compare(bill, calls, facts) : []
  return {
    vendor,
    upstreams,
    source: 'lines' in bill ? bill.source : null,
    notes: 'lines' in bill ? [...bill.notes, ...notesOfIds(idsNotBilled(bill, calls))] : bill.notes,
    totals: 'lines' in bill ? totalsOfDays(days) : countedAlone(calls),
    days,
  }
}

const notesOfIds = (ids: readonly string[]): string[] =>
  ids.length === 0
    ? []
    : [`The bill names no key ${ids.join(', ')} (key_id, key_ids): its calls are compared with keys without an id.`]

/** Reads the bill of an account. Where there is none, `notes` say why and what to do. */
async function billOf(
  { store, now, onProgress }: ReconcileDeps,
  account: Account,
  period: BillPeriod,
  calls: readonly CountedCalls[],
): Promise<Bill | Pick<Bill, 'notes'>> {
  const { vendor, admin, variable, provider } = account
  if (admin !== null && vendor === 'openai') return openaiBill(account, period, onProgress)
  if (admin !== null && vendor === 'anthropic') return anthropicBill(account, period, onProgress)
  if (admin !== null && vendor === 'openrouter') return openrouterBill(store, account, period, now, onProgress)
  const setIt = variable === null ? [] : [`Set ${variable} to compare with the bill itself.`]
  if (provider.statesCost) return statedBill(calls, setIt)
  if (setIt.length > 0) return { notes: setIt }
  if (vendor === 'gemini')
    return { notes: ['Google bills by the export of Cloud Billing to BigQuery, which Gazeway does not read.'] }
  if (provider.inProcess || provider.resolve(undefined, 'chat').isLocal) return { notes: ['Bills nothing.'] }
  return { notes: [`Gazeway reads no bill of ${vendor}: compare its invoice with the counted sum.`] }
}

/** A bill from the cost that the provider states in each answer. */
function statedBill(calls: readonly CountedCalls[], notes: readonly string[]): Bill {
  return {
    source: 'the cost that the provider states in each answer',
    isByKey: false,
    keys: [],
    notes: [...notes, 'Only answers that reached Gazeway state a cost: calls past it are not known.'],
    lines: calls
      .filter(({ stated_calls }) => stated_calls > 0)
      .map(({ day, model, stated_micros, stated_calls }) => ({
        ...NO_COUNTS,
        day,
        model,
        key: null,
        fee: null,
        amount: billedOf(stated_micros),
        requests: stated_calls,
      })),
  }
}

function removedUpstreams(calls: readonly CountedCalls[]): ReconciledAccount[] {
  return [...grouped(calls, ({ upstream }) => upstream)].map(([upstream, of]) => ({
    vendor: upstream,
    upstreams: [upstream],
    source: null,
    notes: [
      `No upstream has this name here: its bill is not known. If the gateway is started with --upstream ${upstream}, add that.`,
    ],
    totals: countedAlone(of),
    days: [],
  }))
}

const countedAlone = (calls: readonly CountedCalls[]): Totals => ({
  billed_usd: 0,
  counted_usd: toUsd(calls.reduce((sum, { micros }) => sum + micros, 0)),
  difference_usd: 0,
  elsewhere_usd: 0,
  unexplained_usd: 0,
})

const FIGURES = ['billed_usd', 'counted_usd', 'difference_usd', 'elsewhere_usd', 'unexplained_usd'] as const

const totalsOfDays = (days: readonly Comparison[]): Totals =>
  totalsOf(days.map((day) => ({ ...day, unexplained_usd: day.is_explained ? 0 : Math.abs(day.difference_usd) })))

/** Adds up in micro-dollars, which is exact. */
function totalsOf(parts: readonly Totals[]): Totals {
  const sums = FIGURES.map((figure) => [
    figure,
    toUsd(parts.reduce((sum, part) => sum + (toMicros(part[figure]) ?? 0), 0)),
  ])
  return Object.fromEntries(sums) as unknown as Totals
}

/** Reports the admin keys, for `gazeway doctor`. */
export async function checkBilling(
  store: Store,
  config: Config,
  env: Environment,
): Promise<string | { warning: string }> {
  const accounts = accountsOf(config, env).filter(({ variable, admin }) => variable !== null || admin !== null)
  const faults = accounts.flatMap((account) => keyFault(account) ?? [])
  if (faults.length > 0) return { warning: `${faults.join('; ')}.` }
  const lines = await Promise.all(
    accounts.map(async (account) => {
      const { vendor, admin, variable, keys, keyIds } = account
      if (admin === null) return `${vendor}: set ${variable} to compare its bill (gazeway reconcile)`
      const day = vendor === 'openrouter' ? await lastKeptDay(store, account) : null
      // A single key needs no id.
      const unnamed = keys.length > 1 ? keys.length - keyIds.length : 0
      const ids = unnamed > 0 ? `, ${unnamed} of ${keys.length} keys without an id (key_ids)` : ''
      return `${vendor}: ${admin.variable}${day === null ? '' : `, kept to ${day}`}${ids}`
    }),
  )
  return lines.length === 0 ? 'no upstream has a bill that Gazeway reads' : lines.join('; ')
}
