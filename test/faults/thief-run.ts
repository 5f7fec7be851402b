import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { sweepAllowances } from '../../src/wallet/budget/presumed-spending.ts'
import { dayOf } from '../../src/wallet/budget/spending.ts'
import { journalFolder } from '../../src/wallet/journal/journal-file.ts'
import { recoverJournals } from '../../src/wallet/journal/recover.ts'
import { until } from '../doubles/until.ts'
import { withFlatPrices } from '../e2e/flat-prices.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from '../e2e/gateway-process.ts'
import { newPlace } from '../e2e/server.ts'
import { send } from './budget-calls.ts'
import { checkBooks } from './thief-books.ts'
import { type Script, startThiefProvider } from './thief-provider.ts'
import { earlierBy, GROUPS, storeEarlier, THIEVES, type Thief, type ThiefName } from './thieves.ts'

const ADMIN = 'fixed-admin-key-0123456789'
const PROCESSES = [0, 1, 2, 3]
/** Calls that run at once. */
const AT_ONCE = 10
/** Answers between two faults. */
const ANSWERS = 6

/** A store that the processes share. */
export interface SharedStore {
  url: string
  /** Takes it away and brings it back; null where it cannot go away. */
  server: { stop(): Promise<void>; start(): Promise<void> } | null
}

/** Durations of a run. */
export interface ThiefPlan {
  /** Shortest time that a process is suspended, in milliseconds. */
  sleepMs: number
  /** True to end the lease of the process that sleeps by hand, where it sleeps for less. */
  endsLease: boolean
}

/**
 * Calls four processes on one store as thieves do, while they are killed and suspended and the store goes away, and
 * compares what the provider has billed with what is counted, presumed, owed and stated.
 */
export async function runThief(t: TestContext, { url, server }: SharedStore, plan: ThiefPlan): Promise<void> {
  const day = dayOf(new Date().toISOString())
  const provider = await startThiefProvider()
  t.after(() => provider.close())
  const store = await openStore(url)
  t.after(() => store.close())
  const places = PROCESSES.map(newThiefPlace)
  const start = (at: number) =>
    startGatewayProcess(places[at] as (typeof places)[number], {
      args: ['--upstream', provider.url, '--store', url, '--platform', '--platform-port', '0'],
      env: { GAZEWAY_API_KEY: ADMIN },
    })
  const processes: GatewayProcess[] = await Promise.all(PROCESSES.map(start))
  t.after(() => {
    // One that sleeps hears nothing else.
    for (const gateway of processes) gateway.kill('SIGKILL')
    return Promise.all(processes.map(({ exit }) => exit))
  })
  const { keys, groups } = await newThieves(await platformOf(processes[0] as GatewayProcess))
  const earlier = earlierBy(day)
  await storeEarlier(store, earlier, (thief) => {
    const { group } = THIEVES.find(({ name }) => name === thief) as Thief
    return { id: keys.get(thief)?.id ?? '', groupId: groups.get(group) ?? '' }
  })

  const outcomes = { answered: 0, refused: 0, failed: 0 }
  const refused = new Set<ThiefName>()
  const running = PROCESSES.map(() => 0)
  const callAt = async (at: number, thief: Thief, script: Omit<Script, 'by'>): Promise<void> => {
    running[at] = (running[at] ?? 0) + 1
    const as = await call(processes[at] as GatewayProcess, keys.get(thief.name)?.key ?? '', thief, script)
    running[at] = (running[at] ?? 0) - 1
    outcomes[as] += 1
    if (as !== 'refused') return
    refused.add(thief.name)
    await delay(10)
  }
  /** Processes that are called; none in a pause. */
  let called = PROCESSES
  let isOver = false
  let turn = 0
  async function steal(): Promise<void> {
    while (!isOver) {
      if (called.length === 0) {
        await delay(5)
        continue
      }
      const number = turn++
      const thief = THIEVES[number % THIEVES.length] as Thief
      await callAt(called[number % called.length] as number, thief, { words: 5 + (number % 40) })
    }
  }
  const what = () => JSON.stringify({ ...outcomes, running })
  const answered = (more: number) => {
    const from = outcomes.answered
    return until(() => outcomes.answered >= from + more, { what, seconds: 30 })
  }
  const stealing = Promise.all(Array.from({ length: AT_ONCE }, steal))
  t.after(() => {
    isOver = true
    provider.release()
  })

  await answered(ANSWERS)
  // What goes beyond a reservation is known once it is answered: no such call may be open where a process is killed.
  const overrun = THIEVES.filter(({ group }) => group === 'overrun')
  await until(() => overrun.every(({ name }) => refused.has(name)), { what, seconds: 30 })
  const [sleeping, killed, other] = processes as [GatewayProcess, GatewayProcess, GatewayProcess]
  called = []
  await until(() => running.every((calls) => calls === 0), { what })
  const held = THIEVES.filter(({ group }) => group === 'kept').map((thief) =>
    callAt(0, thief, { words: 6, isHeld: true }),
  )
  await until(() => provider.held() === held.length, { what })
  const holder = holderIn(places[0]?.data as string)
  await suspend(sleeping, store, holder)
  called = [1, 2, 3]
  const waking = delay(plan.sleepMs)
  await answered(1)
  if (plan.endsLease) await endLease(store, holder)
  killed.kill('SIGKILL')
  called = [2, 3]
  await answered(ANSWERS)
  if (server) await server.stop()
  other.kill('SIGKILL')
  called = [3]
  await server?.start()
  await Promise.all([killed.exit, other.exit])
  await answered(ANSWERS)
  await waking
  sleeping.kill('SIGCONT')
  provider.release()
  await Promise.all(held)
  called = [0, 3]
  // All that is left is stolen.
  const refusedBefore = outcomes.refused
  await until(() => outcomes.refused > refusedBefore + 20, { what, seconds: 30 })
  isOver = true
  await stealing
  await Promise.all([0, 3].map((at) => (processes[at] as GatewayProcess).stop()))
  for (const place of [places[1], places[2]]) await recover(store, place?.data as string)
  const live = store.db.selectFrom('allowances').select('id').where('presumed_at', 'is', null).where('micros', '>', 0)
  await until(async () => (await live.execute()).length === 0, { what: 'allowances' })

  const idOf = new Map([...keys].map(([name, { id }]) => [name, id]))
  await checkBooks(store, { day, earlier, billed: provider.billed, keys: idOf, groups })
  assert.ok(outcomes.answered > 3 * ANSWERS && outcomes.refused > 20, what())
}

/** Creates the keys of the thieves and their groups. */
async function newThieves(platform: string) {
  const groups = new Map<Thief['group'], string>()
  for (const name of ['kept', 'overrun'] as const) {
    const group = await made<{ id: string }>(
      send(`${platform}/api/groups`, 'POST', ADMIN, { name, budgets: GROUPS[name] }),
    )
    groups.set(name, group.id)
  }
  const keys = new Map<ThiefName, { id: string; key: string }>()
  for (const { name, group, terms } of THIEVES) {
    const asked = { name, ...terms, scopes: ['inference'], group: groups.get(group) }
    keys.set(name, await made(send(`${platform}/api/keys`, 'POST', ADMIN, asked)))
  }
  return { groups, keys }
}

/** A place whose gateway soon refuses what does not fit, and has a receipt of each call. */
function newThiefPlace() {
  const place = newPlace()
  mkdirSync(place.data, { mode: 0o700 })
  const wallet = { wait_ms: 200, search_tokens: 1000, receipts: 'all' }
  writeFileSync(join(place.data, 'config.json'), JSON.stringify({ wallet }), { mode: 0o600 })
  return withFlatPrices(place)
}

/** Makes a call: whole, streamed, or left after its first words. */
async function call(
  { url }: GatewayProcess,
  key: string,
  { name, kind }: Thief,
  script: Omit<Script, 'by'>,
): Promise<'answered' | 'refused' | 'failed'> {
  const leaving = new AbortController()
  // A process that sleeps answers nobody.
  const signal = AbortSignal.any([leaving.signal, AbortSignal.timeout(2_000)])
  const content = JSON.stringify({ ...script, by: name })
  const chat = { messages: [{ role: 'user', content }], max_tokens: 50, stream: script.words % 2 === 0 }
  const beside = { stored: { previous_response_id: 'resp_0' }, searching: { tools: [{ type: 'web_search' }] } }
  const [path, body] =
    kind === 'stored' || kind === 'searching'
      ? ['responses', { input: content, max_output_tokens: 50, ...beside[kind] }]
      : ['chat/completions', chat]
  try {
    const reply = await send(`${url}/v1/${path}`, 'POST', key, { model: 'gpt-test', ...(body as object) }, signal)
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

/** Reads what a process that was killed has noted, as its next start does. */
async function recover(store: Store, data: string): Promise<void> {
  const onError = (error: unknown) => assert.fail(String(error))
  const of = { folder: journalFolder(data), own: null, keptSince: null, now: () => new Date() }
  const { processes } = await recoverJournals({ store, onError, ...of })
  assert.equal(processes, 1)
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
