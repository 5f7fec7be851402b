import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import type { Micros } from '../../src/text/money.ts'
import { readPresumed, sweepAllowances } from '../../src/wallet/budget/presumed.ts'
import { spendOf } from '../../src/wallet/budget/spending.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { until } from '../doubles/until.ts'
import { type Behaviour, chunks, completion, json, sse, startUpstream } from '../doubles/upstream.ts'
import { withFlatPrices } from '../e2e/flat-prices.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from '../e2e/gateway-process.ts'
import { newPlace } from '../e2e/server.ts'
import { send } from './budget-calls.ts'

const ADMIN = 'fixed-admin-key-0123456789'
const PROCESSES = 4
/** The flat price, in micro-dollars a token. */
const TOKEN = 3
const PROMPT_TOKENS = 60
const GROUP_MICROS = 90_000

/** Keys of the thief. They share a group. */
const THIEVES = [
  { name: 'recorded', billing: 'recorded', limits: { budgets: [{ usd: 0.04, per: 'day' }] } },
  { name: 'grouped', billing: 'recorded', limits: {} },
  { name: 'charged', billing: 'cost', limits: { credit_limit_usd: 1, budgets: [{ usd: 0.03, per: 'month' }] } },
] as const
type Thief = (typeof THIEVES)[number]['name']

/** A store that the processes share. */
export interface SharedStore {
  url: string
  /** Takes it away and brings it back; null where it cannot go away. */
  server: { stop(): Promise<void>; start(): Promise<void> } | null
}

/** Durations of a run. */
export interface ThiefPlan {
  /** Time that a process is suspended, in milliseconds. */
  sleepMs: number
  /** True to end the lease of the process that sleeps by hand, where it sleeps for less. */
  endsLease: boolean
}

interface Script {
  by: Thief
  words: number
}

/**
 * Calls four processes on one store as a thief does, while they are killed and suspended and the store goes away, and
 * compares what the provider has billed with what is counted and presumed.
 */
export async function runThief(t: TestContext, { url, server }: SharedStore, plan: ThiefPlan): Promise<void> {
  const billed = new Map<Thief, Micros>()
  const upstream = await startUpstream()
  t.after(() => upstream.close())
  upstream.on('/chat/completions', billing(billed))
  const store = await openStore(url)
  t.after(() => store.close())
  const places = Array.from({ length: PROCESSES }, newThiefPlace)
  const start = (at: number) =>
    startGatewayProcess(places[at] as (typeof places)[number], {
      args: ['--upstream', upstream.url, '--store', url, '--platform', '--platform-port', '0'],
      env: { GAZEWAY_API_KEY: ADMIN },
    })
  const processes: GatewayProcess[] = await Promise.all(places.map((_, at) => start(at)))
  t.after(() => {
    // One that sleeps hears nothing else.
    for (const gateway of processes) gateway.kill('SIGKILL')
    return Promise.all(processes.map(({ exit }) => exit))
  })

  const platform = await platformOf(processes[0] as GatewayProcess)
  const group = await made<{ id: string }>(
    send(`${platform}/api/groups`, 'POST', ADMIN, {
      name: 'thieves',
      budgets: [{ usd: GROUP_MICROS / 1e6, per: 'total' }],
    }),
  )
  const keys = await Promise.all(
    THIEVES.map((terms) =>
      made<{ id: string; key: string }>(
        send(`${platform}/api/keys`, 'POST', ADMIN, { ...terms, scopes: ['inference'], group: group.id }),
      ),
    ),
  )

  const outcomes = { answered: 0, refused: 0, failed: 0 }
  /** Processes that answer. */
  let awake = [0, 1, 2, 3]
  let isOver = false
  let turn = 0
  async function steal(): Promise<void> {
    while (!isOver) {
      const number = turn++
      const thief = number % THIEVES.length
      const at = awake[number % awake.length] as number
      const as = await call(processes[at] as GatewayProcess, (keys[thief] as { key: string }).key, {
        by: (THIEVES[thief] as { name: Thief }).name,
        words: 5 + (number % 40),
      })
      outcomes[as] += 1
      if (as !== 'answered') await delay(10)
    }
  }
  const stealing = Promise.all(Array.from({ length: 12 }, steal))
  t.after(() => {
    isOver = true
  })
  const answered = (more: number) => {
    const from = outcomes.answered
    return until(() => outcomes.answered >= from + more, { what: () => JSON.stringify(outcomes), seconds: 30 })
  }

  await answered(20)
  const [sleeping, killed, other] = processes as [GatewayProcess, GatewayProcess, GatewayProcess]
  const holder = holderIn(places[0]?.data as string)
  await suspend(sleeping, store, holder)
  awake = [1, 2, 3]
  const waking = delay(plan.sleepMs)
  if (plan.endsLease) await endLease(store, holder)
  killed.kill('SIGKILL')
  awake = [2, 3]
  await answered(20)
  if (server) {
    await server.stop()
    await delay(300)
    other.kill('SIGKILL')
    await server.start()
  } else other.kill('SIGKILL')
  awake = [3]
  await Promise.all([killed.exit, other.exit])
  await answered(20)
  await waking
  sleeping.kill('SIGCONT')
  awake = [0, 3]
  // All that is left is stolen.
  const spentBefore = outcomes.refused
  await until(() => outcomes.refused > spentBefore + 30, { what: () => JSON.stringify(outcomes), seconds: 30 })
  for (const at of [1, 2]) processes[at] = await start(at)
  isOver = true
  await stealing
  for (const at of [0, 3]) await (processes[at] as GatewayProcess).stop()
  for (const at of [0, 3]) processes[at] = await start(at)
  const live = store.db.selectFrom('allowances').select('id').where('presumed_at', 'is', null).where('micros', '>', 0)
  await until(async () => (await live.execute()).length === 0)

  const owners = [...keys.map(({ id }) => id), group.id]
  const counted = await spendOf(store.db, owners, new Date())
  const presumed = await readPresumed(store.db, owners)
  const of = (owner: string) => ({ counted: counted.get(owner)?.total ?? 0, presumed: presumed.get(owner) ?? 0 })
  let all = 0
  for (const [i, { id }] of keys.entries()) {
    const { name, limits } = THIEVES[i] as (typeof THIEVES)[number]
    const bill = billed.get(name) ?? 0
    all += bill
    const { counted, presumed } = of(id)
    const found = `${name}: billed ${bill}, counted ${counted}, presumed ${presumed}`
    assert.ok(bill <= counted + presumed, found)
    assert.ok(counted <= bill, `${found}: a call counted twice`)
    const [budget] = 'budgets' in limits ? limits.budgets : []
    if (budget) assert.ok(counted + presumed <= budget.usd * 1e6, found)
  }
  const ofGroup = of(group.id)
  assert.ok(all <= ofGroup.counted + ofGroup.presumed, `group: billed ${all}, ${JSON.stringify(ofGroup)}`)
  assert.ok(ofGroup.counted + ofGroup.presumed <= GROUP_MICROS, JSON.stringify(ofGroup))
  assert.ok(outcomes.answered > 60 && outcomes.refused > 30, JSON.stringify(outcomes))
  assert.deepEqual((await verifyLedger(store)).faults, [])
  assert.deepEqual(await callFaults(store), [])
}

/** A place whose gateway soon refuses what does not fit. */
function newThiefPlace() {
  const place = newPlace()
  mkdirSync(place.data, { mode: 0o700 })
  writeFileSync(join(place.data, 'config.json'), JSON.stringify({ wallet: { wait_ms: 200 } }), { mode: 0o600 })
  return withFlatPrices(place)
}

/** Bills each answer as a whole when it begins, and streams it slowly. */
const billing =
  (billed: Map<Thief, Micros>): Behaviour =>
  async (reply, request) => {
    const {
      messages,
      stream,
      max_tokens = Infinity,
    } = request.body as {
      messages: { content: string }[]
      stream?: boolean
      max_tokens?: number
    }
    const { by, words } = JSON.parse(messages.at(-1)?.content ?? '') as Script
    const completion_tokens = Math.min(words, max_tokens)
    const usage = {
      prompt_tokens: PROMPT_TOKENS,
      completion_tokens,
      total_tokens: PROMPT_TOKENS + completion_tokens,
    }
    billed.set(by, (billed.get(by) ?? 0) + usage.total_tokens * TOKEN)
    await delay(words)
    const text = Array.from({ length: completion_tokens }, () => 'word ')
    if (stream) return sse(chunks(text, usage))(reply, request)
    return json(200, completion(text.join(''), usage))(reply, request)
  }

/** Makes a call: whole, streamed, or left after its first words. */
async function call({ url }: GatewayProcess, key: string, script: Script): Promise<'answered' | 'refused' | 'failed'> {
  const leaving = new AbortController()
  // A process that sleeps answers nobody.
  const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(2_000)])
  const content = JSON.stringify(script)
  const body = {
    model: 'gpt-test',
    messages: [{ role: 'user', content }],
    max_tokens: 50,
    stream: script.words % 2 === 0,
  }
  try {
    const reply = await send(`${url}/v1/chat/completions`, 'POST', key, body, signal)
    if (reply.status === 402) return 'refused'
    if (reply.status !== 200) return 'failed'
    if (script.words % 5 === 0) {
      await reply.body?.getReader().read()
      leaving.abort()
      return 'answered'
    }
    await reply.text()
    return 'answered'
  } catch {
    return 'failed'
  }
}

/** Name under which the process of a data folder reserves. */
function holderIn(data: string): string {
  const lock = readdirSync(join(data, 'journal')).find((name) => name.endsWith('.lock'))
  assert.ok(lock)
  return lock.slice(0, -'.lock'.length)
}

/**
 * Suspends a process that is not in the middle of a write: the locks of one would hold up the others, until the server
 * ends it or it goes on.
 */
async function suspend(gateway: GatewayProcess, store: Store, holder: string): Promise<void> {
  const lockAll = () =>
    store.write(async (trx) => {
      await trx.updateTable('ledger_accounts').set({ transfers: sql`transfers` }).execute()
      await trx.updateTable('allowances').set({ turn: sql`turn` }).where('holder', '=', holder).execute()
      await trx.updateTable('spending').set({ day: 'total' }).where('day', '=', 'total').execute()
    })
  for (;;) {
    gateway.kill('SIGSTOP')
    // Twice: a statement of the process may wait for the first, and have its locks only then.
    const isFree = lockAll()
      .then(() => delay(50))
      .then(lockAll)
      .then(
        () => true,
        () => false,
      )
    if (await Promise.race([isFree, delay(1_000, false)])) return
    gateway.kill('SIGCONT')
    await isFree
  }
}

/** Ends the lease of a process that sleeps, as 45 s do. */
async function endLease(store: Store, holder: string): Promise<void> {
  await store.db
    .updateTable('allowances')
    .set({ renewed_at: '2026-01-01T00:00:00.000Z' })
    .where('holder', '=', holder)
    .execute()
  await sweepAllowances(store, new Date(), 1_000)
}

async function made<Made>(sent: Promise<Response>): Promise<Made> {
  const reply = await sent
  const body = await reply.text()
  assert.equal(reply.status, 201, body)
  return JSON.parse(body)
}
