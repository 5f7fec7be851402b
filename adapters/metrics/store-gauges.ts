import { waitingAlerts } from '../../src/alerts/waiting-alerts.ts'
import { waitingSettlements } from '../../src/chain/chain.ts'
import { readTotals } from '../../src/escrow/escrow-tally.ts'
import { TASK_STATUSES } from '../../src/escrow/task-status.ts'
import type { Gateway } from '../../src/gateway.ts'
import { overdueSweeps } from '../../src/store/sweeps.ts'
import { type Micros, toMicros, toUsd } from '../../src/text/money.ts'
import { spentAndOwed } from '../../src/wallet/budget/open-debts.ts'
import type { Burn } from '../../src/wallet/burn/burn.ts'
import { restingRun, sharedRun } from '../../src/wire/repeated-runs.ts'
import { inTime } from '../../src/wire/with-timeout.ts'
import type { Meters, Reading } from './meters.ts'

/** Time limit of the store for a scrape, in milliseconds. */
const READ_MS = 2_000
/** Time for which a reading serves further scrapes, in milliseconds. */
const KEPT_MS = 1_000
/**
 * Times longer that the money of all keys is kept than it took to read: 0.8 s for 10,000 keys on a busy machine are read again
 * after 40 s, and a few keys at each scrape.
 */
const MONEY_RESTS = 50
/** Longest time for which they are kept, in milliseconds: a store that hung for a minute must not hide money for an hour. */
const MONEY_KEPT_MS = 60_000

const STATES = ['used', 'idle', 'waiting'] as const
const ESCROWS = ['locked', 'released', 'settled', 'expired', 'refunded'] as const

type Figures = Awaited<ReturnType<typeof readFigures>>

/**
 * Creates the gauges that are read from the store. A scrape reads them together, once. Where the store does not answer
 * in time, they are absent, and `gazeway_store_up` is 0. Scrapes of a slow store wait for the same reading, so that they
 * never take more than its connections.
 */
export function storeGauges(meters: Meters, gateway: Gateway): void {
  const readMoney = restingRun(() => moneyOf(gateway), { times: MONEY_RESTS, atMostMs: MONEY_KEPT_MS })
  const readings = sharedRun(() => readFigures(gateway, readMoney).catch(() => null))
  let reading: Promise<Figures | null> | null = null
  function figures(): Promise<Figures | null> {
    reading ??= inTime(READ_MS, readings()).then((read) => {
      setTimeout(() => {
        reading = null
      }, KEPT_MS).unref()
      return read ?? null
    })
    return reading
  }
  const read = (of: (figures: Figures) => Reading[]) => async () => {
    const found = await figures()
    return found === null ? [] : of(found)
  }
  const { calls } = gateway

  meters.gauge('gazeway_store_up', async () => [[(await figures()) === null ? 0 : 1]])
  meters.gauge('gazeway_queue_length', async () => {
    const found = await figures()
    const stored = found ? [found.webhooks, found.outbox] : []
    return [{ queue: 'call_records', length: calls.waiting() }, ...stored].map(({ queue, length }) => [length, queue])
  })
  meters.gauge('gazeway_queue_oldest_seconds', async () => {
    const found = await figures()
    const stored = found ? [found.webhooks, found.outbox] : []
    const unwritten = { queue: 'call_records', oldestMs: calls.waitingMs() }
    return [unwritten, ...stored].map(({ queue, oldestMs }) => [oldestMs / 1000, queue])
  })
  meters.gauge(
    'gazeway_webhooks_given_up',
    read(({ webhooks }) => [[webhooks.givenUp]]),
  )
  meters.gauge(
    'gazeway_sweep_overdue_seconds',
    read(({ sweeps }) => sweeps.map(({ name, overdueMs }) => [overdueMs / 1000, name])),
  )
  meters.gauge(
    'gazeway_tasks',
    read(({ totals }) => TASK_STATUSES.map((status) => [Number(totals[status]), status])),
  )
  meters.gauge(
    'gazeway_escrows',
    read(({ totals }) => ESCROWS.map((status) => [Number(totals[`escrow_${status}`]), status])),
  )
  moneyGauges(meters, read)

  meters.gauge(
    'gazeway_store_connections',
    read(({ pool }) => (pool === undefined ? [] : STATES.map((state) => [pool[state], state]))),
  )
  meters.gauge(
    'gazeway_store_connections_max',
    read(({ pool }) => (pool === undefined ? [] : [[pool.max]])),
  )
}

/** Creates the gauges of the keys and groups whose money ends first. */
function moneyGauges(meters: Meters, read: (of: (figures: Figures) => Reading[]) => () => Promise<Reading[]>): void {
  const bounds = (burn: Burn) => [
    ...(burn.budget === null
      ? []
      : [{ of: `budget_${burn.budget.per}`, left: burn.budget.left_usd, limit: burn.budget.usd }]),
    ...(burn.balance === null
      ? []
      : [{ of: 'balance', left: burn.balance.left_usd, limit: burn.balance.credit_limit_usd }]),
  ]
  meters.gauge(
    'gazeway_money_left_usd',
    read(({ burning }) =>
      burning.flatMap((burn) => bounds(burn).map(({ of, left }): Reading => [left, burn.label, burn.kind, of])),
    ),
  )
  meters.gauge(
    'gazeway_money_limit_usd',
    read(({ burning }) =>
      burning.flatMap((burn) => bounds(burn).map(({ of, limit }): Reading => [limit, burn.label, burn.kind, of])),
    ),
  )
  meters.gauge(
    'gazeway_money_lasts_seconds',
    read(({ burning }) =>
      burning.flatMap(({ time_left_seconds: seconds, label, kind }): Reading[] =>
        seconds === null ? [] : [[seconds, label, kind]],
      ),
    ),
  )
  meters.gauge(
    'gazeway_debt_usd',
    read(({ burning, owed }) =>
      burning.map(({ id, label, kind }): Reading => [toUsd(owed.get(id)?.debt ?? 0), label, kind]),
    ),
  )
}

async function readFigures({ store }: Gateway, readMoney: () => ReturnType<typeof moneyOf>) {
  const now = new Date()
  // Before this scrape takes connections itself.
  const pool = store.pool?.()
  // One after another, so that a scrape takes few connections.
  const webhooks = await waitingAlerts(store, now)
  const outbox = await waitingSettlements(store, now)
  const sweeps = await overdueSweeps(store, now)
  const totals = await readTotals(store.db)
  const money = await readMoney()
  return {
    webhooks: { queue: 'webhooks', ...webhooks },
    outbox: { queue: 'outbox', ...outbox },
    pool,
    sweeps,
    totals,
    ...money,
  }
}

/** Reads the keys and groups whose money ends first. All keys are read for it. */
async function moneyOf(gateway: Gateway) {
  const { store, loaded } = gateway
  const { items } = await gateway.burn({ limit: loaded.config.http.metrics_keys })
  const credit = () => toMicros(loaded.config.wallet.default_credit_limit_usd) as Micros
  const owed = await spentAndOwed(store, credit)(
    items.map(({ id }) => id),
    new Date(),
  )
  const names = new Set<string>()
  const burning = items.map((burn) => {
    // Keys that share a name are shown with their ids.
    const label = names.has(`${burn.kind} ${burn.name}`) ? `${burn.name} (${burn.id})` : burn.name
    names.add(`${burn.kind} ${burn.name}`)
    return { ...burn, label }
  })
  return { burning, owed }
}
