import { Hono } from 'hono'
import { budgetsIn } from '../../adapters/command/key-flags.ts'
import { arrivalOf, type Endpoint } from '../../adapters/web/arrival.ts'
import { clientAddresses } from '../../adapters/web/client-address.ts'
import { errorHandler } from '../../adapters/web/error-handler.ts'
import { fastLane } from '../../adapters/web/fast-lane.ts'
import { frame } from '../../adapters/web/frame.ts'
import type { Frame } from '../../adapters/web/frame-context.ts'
import { hostRules } from '../../adapters/web/hosts.ts'
import { ALREADY_SENT } from '../../adapters/web/http-receiver.ts'
import { serve } from '../../adapters/web/serve.ts'
import { type CallRecord, CallStatus } from '../../src/calls/call-record.ts'
import { createLog } from '../../src/config/log.ts'
import { createKeys } from '../../src/identity/keys.ts'
import { toSpend } from '../../src/identity/spend.ts'
import { watchRecentCalls } from '../../src/inference/status/recent-calls.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import type { Period } from '../../src/text/period.ts'
import { takeAllowance } from '../../src/wallet/budget/allowances.ts'
import { addSpending, spendOf } from '../../src/wallet/budget/spending.ts'

/** Uses what one-place.long.ts adds to a copy of the sources, beside which it then stands, and prints what happens. */

const store = await openStore(`sqlite:${process.argv[2]}`)
console.log(JSON.stringify({ period: await period(store), status: status(), guard: await guard(store) }))
await store.close()

/** Spends 850 of 1,000 in October, and asks for 151 more in November. */
async function period(store: Store) {
  const spender = { id: 'key_a', groupId: null }
  const day = '2026-11-21'
  await store.db
    .insertInto('budgets')
    .values({ owner: spender.id, per: 'quarter' as Period, micros: 1000 })
    .execute()
  await store.write((trx) => addSpending(trx, 'recorded', [{ spender, day: '2026-10-01', micros: 850 }]))
  const of = { id: 'alw_1', holder: 'here', spender, day, creditMicros: null }
  const asked = takeAllowance(store, of, {
    turn: 1,
    at: `${day}T00:00:00.000Z`,
    least: 151,
    most: 151,
    size: 0,
    free: 0,
    unwritten: 0,
    owed: () => 0,
  })
  const spends = await spendOf(store.db, [spender.id], new Date(day))
  return {
    refused: await asked.catch(({ code }) => code),
    spent: spends.get(spender.id),
    flag: budgetsIn(['5/quarter']),
    shown: Object.keys(toSpend(undefined)),
  }
}

/** Ends two calls at one upstream, one of them with the new status. */
function status() {
  const listeners: ((record: CallRecord) => void)[] = []
  const recentOf = watchRecentCalls({
    listen(listener) {
      listeners.push((record) => listener(record, { surface: 'http', callerId: null }))
      return () => {}
    },
  })
  for (const status of ['ok', 'expired'])
    for (const listener of listeners) listener({ upstream: 'a', status, latency_ms: 1 } as CallRecord)
  return { accepted: CallStatus.safeParse('expired').success, error_rate: recentOf('a').error_rate }
}

/** Asks a path of the fast lane, and one of the router, without and with the header that the guard refuses. */
async function guard(store: Store) {
  const log = createLog({ level: 'error', secrets: () => [], destination: process.stderr })
  const keys = createKeys({ store, now: () => new Date(), fixedKey: null, onError: console.error })
  const { key } = await keys.create({ name: 'a' })
  await keys.authenticate(key)
  const hosts = hostRules('127.0.0.1', [], [])
  const answer: Endpoint = async ({ outgoing }) => void outgoing.writeHead(200).end()
  const app = new Hono<Frame>()
  app.onError(errorHandler(log, () => {}))
  app.use(frame({ keys, scope: 'inference', hosts, open: () => false }))
  app.post('*', async (c) => {
    await answer(arrivalOf(c))
    return ALREADY_SENT
  })
  let taken = 0
  const began = () => void taken++
  const endpoints = { '/lane': answer }
  const lane = fastLane({ endpoints, keys, scope: 'inference', hosts, unlimited: () => true, began, log, refused() {} })
  const { url, stop } = await serve(app, {
    host: '127.0.0.1',
    port: 0,
    flag: '--port',
    headerTimeoutMs: 10_000,
    requestTimeoutMs: 10_000,
    keepAliveMs: 1_000,
    drainMs: () => 10_000,
    addresses: clientAddresses([]),
    log,
    lane,
  })
  async function asked(path: string, headers: Record<string, string>): Promise<number> {
    const authorization = `Bearer ${key}`
    const reply = await fetch(url + path, { method: 'POST', body: '{}', headers: { authorization, ...headers } })
    await reply.arrayBuffer()
    return reply.status
  }
  const statuses: Record<string, number[]> = {}
  for (const path of ['/lane', '/router'])
    statuses[path] = [await asked(path, {}), await asked(path, { 'x-scratch': '1' })]
  await stop()
  return { statuses, taken }
}
