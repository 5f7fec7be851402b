import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { DatabaseSync } from '@photostructure/sqlite'
import { RECORD_TABLES } from '../../src/store/schema.ts'
import { scraped } from '../adapters/scrape.ts'
import { until } from '../doubles/until.ts'
import { type GatewayProcess, platformOf, startGatewayProcess, startProvider } from '../e2e/gateway-process.ts'
import { newPlace, putStore } from '../e2e/server.ts'
import { sendDay } from './day-traffic.ts'
import { openSockets, residentMb, socketsDownTo } from './process.ts'
import { beBusy } from './traffic.ts'

/** Length of the run. */
const MINUTES = Number(process.env.GAZEWAY_SOAK_MINUTES ?? 20)
/** Requests of a day, in the time of the run: 50,000 in 20 minutes. */
const REQUESTS = 2_500 * MINUTES
/** Days that pass on the gateway's clock meanwhile, so that what is kept for a day goes. */
const DAYS = 4
const DAY_MS = 86_400_000
/** Hours of that clock by which a sweep may be late: it is looked for once a minute, and deletes whole hours. */
const LATE_HOURS = (2 * DAYS * 24) / MINUTES + 1
const SAMPLES = 20
const MB = 2 ** 20
/** Samples between those that collect all garbage first. The others show memory as an operator sees it. */
const COLLECTED_EVERY = 5
/** Growth of what is left after a collection, from the middle of the run to its end. */
const GROWTH = 1.15
/** Growth of tables whose rows go after a day, likewise, where the pace of a busy machine differs. */
const SWING = 1.5
/** The upstream keeps connections as long as providers do. It would close them under a gateway that stalls for a second. */
const KEPT_MS = 60_000
/** Time after which the gateway has closed them, without use. */
const IDLE_MS = KEPT_MS + 15_000
const CONFIG = {
  audit: { store_content: true, retention_days: 1, content_retention_days: 1 },
  chats: { retention_days: 1 },
  gaze: { retention_days: 1 },
  pricing: { models: { 'chat-model': { input: 1, output: 2 } } },
}
/** Tables whose rows are kept for a day. */
const PRUNED = ['calls', 'call_tags', 'sessions', 'session_texts', 'gaze_packs', 'idempotency_keys'] as const

it('holds its memory, descriptors and tables through a day of calls', {
  timeout: (MINUTES + 5) * 60_000,
}, async (test) => {
  const upstream = await startProvider()
  test.after(() => upstream.close())
  upstream.keepConnections(KEPT_MS)
  beBusy(upstream)
  const began = Date.now()
  const speed = (DAYS * DAY_MS) / (MINUTES * 60_000)
  const { gateway, ...at } = await startFast(upstream.url, began, speed)
  const sockets = openSockets(gateway.pid)
  const minute = () => (Date.now() - began) / 60_000
  const load = { perSecond: REQUESTS / (MINUTES * 60), goesOn: () => minute() < MINUTES }
  const traffic = sendDay({ gateway: gateway.url, admin: gateway.key, ...at }, load)
  const samples: Sample[] = []
  for (let number = 1; number <= SAMPLES; number++) {
    await pause(began + (number * MINUTES * 60_000) / SAMPLES - 1000 - Date.now())
    const sample = await sampleOf(gateway, at.file, began + (Date.now() - began) * speed)
    if (number % COLLECTED_EVERY === 0) sample.collected = await collectedOf(gateway)
    samples.push(sample)
    console.log(JSON.stringify({ minute: minute(), ...sample }))
  }
  const { answered, expired, wrong } = await traffic
  const left = await socketsDownTo(gateway.pid, sockets, IDLE_MS)
  const idle = await collectedOf(gateway)
  console.log({ answered, expired, sockets, left, idle })
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  assert.deepEqual(wrong, [])
  assert.ok(left <= sockets, 'no socket is left')
  const [second, last] = [samples.slice(SAMPLES / 4, SAMPLES / 2), samples.slice(-SAMPLES / 4)]
  const growth = (of: (sample: Sample) => number) => Math.min(...last.map(of)) / Math.min(...second.map(of))
  const held = samples.flatMap(({ collected }) => collected ?? [])
  const [middle, end] = [held[held.length / 2 - 1], held.at(-1)] as [Collected, Collected]
  for (const of of ['liveMb', 'residentMb'] as const)
    assert.ok(end[of] <= middle[of] * GROWTH, `${of} stays flat: ${JSON.stringify({ middle, end })}`)
  assert.ok(Math.max(...samples.map(({ walMb }) => walMb)) < 8, 'the log of the store stays small')
  for (const table of PRUNED)
    assert.ok(growth(({ rows }) => rows[table] ?? 0) <= SWING, `${table} stays within its retention`)
  assert.ok(Math.max(...samples.map(({ oldestHours }) => oldestHours)) < 24 + LATE_HOURS, 'old calls go')
})

/** CPU time of a process in seconds (Linux, 100 ticks a second). */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Memory that a process holds after all garbage was collected. */
interface Collected {
  /** Objects and buffers of its main thread. */
  liveMb: number
  residentMb: number
}

/** Has a process collect all garbage, and reads what it holds then. */
async function collectedOf(gateway: GatewayProcess): Promise<Collected> {
  const reports = () => [...gateway.stderr().matchAll(/^MEMORY (.*)$/gm)]
  const before = reports().length
  gateway.kill('SIGUSR2')
  const [, text = ''] = await until(() => reports()[before], { seconds: 30 })
  const { heapUsed, external, rss } = JSON.parse(text)
  return { liveMb: (heapUsed + external) / MB, residentMb: rss / MB }
}

interface Sample {
  residentMb: number
  collected?: Collected
  heapMb: number
  descriptors: number
  fileMb: number
  walMb: number
  cpuSeconds: number
  /** Age of the oldest call record in hours. */
  oldestHours: number
  rows: Record<string, number>
}

/** Reads what a process and its store hold. @param now of its clock, in milliseconds */
async function sampleOf({ pid, url }: GatewayProcess, file: string, now: number): Promise<Sample> {
  const heap = (await scraped(url)).find(({ name }) => name === 'nodejs_heap_size_used_bytes')?.value ?? NaN
  const db = new DatabaseSync(file, { readOnly: true })
  const read = (text: string) => Object.values(db.prepare(text).get() ?? {})[0]
  const counts = Object.keys(RECORD_TABLES).map(
    (table) => [table, Number(read(`select count(*) from ${table}`))] as const,
  )
  const oldest = read('select min(at) from calls')
  db.close()
  return {
    residentMb: residentMb(pid),
    heapMb: heap / MB,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
    fileMb: statSync(file).size / MB,
    walMb: statSync(`${file}-wal`).size / MB,
    cpuSeconds: cpuSeconds(pid),
    oldestHours: typeof oldest === 'string' ? (now - Date.parse(oldest)) / 3_600_000 : 0,
    rows: Object.fromEntries(counts.filter(([, count]) => count > 0)),
  }
}

/** Starts a gateway whose clock is fast, with a key that is charged. */
async function startFast(upstream: string, from: number, speed: number) {
  const place = newPlace()
  putStore(place)
  writeFileSync(join(place.data, 'config.json'), JSON.stringify(CONFIG))
  const preloads = ['fast-clock', 'memory-probe'].map(
    (name) => `--import=${pathToFileURL(`test/soak/${name}.mjs`).href}`,
  )
  const options = ['--expose-gc', ...preloads].join(' ')
  const env = { NODE_OPTIONS: options, SOAK_CLOCK_FROM: String(from), SOAK_CLOCK_SPEED: String(speed) }
  const args = ['--platform', '--platform-port', '0', '--upstream', upstream]
  const gateway = await startGatewayProcess(place, { args, env })
  const platform = await platformOf(gateway)
  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
    const reply = await fetch(platform + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await reply.text()
    assert.ok(reply.ok, text)
    return JSON.parse(text)
  }
  const { key, id } = await post('/api/keys', { name: 'ann', scopes: ['inference', 'platform'], billing: 'cost' })
  await post('/api/wallet/metered/deposit', { caller_id: id, amount_usd: 1000, reference: 'soak' })
  return { gateway, platform, charged: key as string, file: join(place.data, 'gazeway.db') }
}
