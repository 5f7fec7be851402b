import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openStore } from '../src/store/open-store.ts'
import { spendOf } from '../src/wallet/budget/spending.ts'
import { startPostgres } from '../test/contract/postgres-server.ts'
import { freePort } from '../test/doubles/free-port.ts'
import { temporaryFolder } from './folder.ts'
import { connectTo } from './http-client.ts'
import { GENERATOR, sendLoad } from './http-load.ts'
import { installPortkey, portkeyHeaders, startPortkey } from './http-portkey.ts'
import { type Running, startServer } from './http-process.ts'
import type { Target } from './http-targets.ts'
import { startUpstream } from './http-upstream.ts'
import type { Report } from './report.ts'
import { ROOT } from './servers.ts'
import { measureStatement } from './statement.ts'
import { interleave, median } from './stats.ts'

const run = promisify(execFile)

/** `BENCH_SHORT=1 BENCH_ROWS=20000 npm run bench -- budgets` tells only whether the section runs to its end. */
const IS_SHORT = process.env.BENCH_SHORT === '1'
const ROUNDS = IS_SHORT ? 1 : 6
const SECONDS = IS_SHORT ? 1 : 3
const CONNECTIONS = 64
const TIMED = { warmups: 100, requests: 300 }
const RECEIPTS = Number(process.env.BENCH_ROWS ?? 1_000_000)
const BODY = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Say hello to the world, please.' }] })

/** Flags that each key is created with. The first key has no limits; the others are compared with it. */
const KEYS = {
  'without limits': [],
  'with budgets and rate limits': [
    ...['--budget', '100000/day', '--budget', '900000/month'],
    ...['--requests-per-minute', '1000000', '--tokens-per-minute', '1000000000', '--concurrent', '1000'],
  ],
  metered: ['--billing', 'metered', '--credit', '1000000'],
} as const
type Name = keyof typeof KEYS

const BARS = {
  SQLite: { 'with budgets and rate limits': { times: 0.85, addedMs: 0.1 }, metered: { times: 0.4, addedMs: 0.8 } },
  PostgreSQL: { 'with budgets and rate limits': { times: 0.85, addedMs: 0.1 }, metered: { times: 0.1, addedMs: null } },
} as const
/** Header of a session, as Claude Code sends it. */
const SESSION = { 'x-claude-code-session-id': '5f0c7a52-9a4e-4f0e-8d57-0c1f6a3f3b11' }
/** Keys that are also measured with calls of a session. */
const OF_SESSIONS = ['without limits', 'with budgets and rate limits'] as const
/** Least throughput of calls of a session, as a multiple of the same key's calls that say none. */
const SESSION_TIMES = 0.98
/** Least throughput of a metered key on SQLite, as a multiple of Portkey's. */
const PORTKEY_TIMES = 2.5

/** Requests of keys with budgets, and of keys that pay, beside those of a key without limits; and a month's statement. */
export async function section(report: Report): Promise<void> {
  installPortkey()
  const folder = temporaryFolder('budgets')
  await measureEngine(report, 'SQLite', join(folder, 'data'), null)
  const server = await startPostgres({ durable: true })
  process.once('exit', () => void server.stop())
  await measureEngine(report, 'PostgreSQL', join(folder, 'data-of-postgres'), await server.database())
  await server.remove()
  await measureSpend(report, join(folder, 'receipts.db'))
  await measureStatement(report, join(folder, 'month.db'), RECEIPTS)
}

async function measureEngine(
  report: Report,
  engine: keyof typeof BARS,
  data: string,
  storeUrl: string | null,
): Promise<void> {
  const upstream = await startUpstream()
  const store = storeUrl === null ? [] : ['--store', storeUrl]
  const keys = await makeKeys([...store, '--data', data])
  mkdirSync(data, { recursive: true, mode: 0o700 })
  writeFileSync(join(data, 'config.json'), JSON.stringify({ pricing: { unknown: 'flat' } }), { mode: 0o600 })
  const gazeway = await startGazeway([...store, '--data', data], upstream)
  const portkey = await startPortkey()
  const names = Object.keys(KEYS) as Name[]
  const targets: Record<string, Target> = {
    'without limits': targetOf(gazeway, keys['without limits']),
    'with budgets and rate limits': targetOf(gazeway, keys['with budgets and rate limits']),
    // Between them: a metered key's load leaves work behind.
    Portkey: targetOf(portkey, keys['without limits'], portkeyHeaders(upstream)),
    metered: targetOf(gazeway, keys.metered),
  }
  for (const name of OF_SESSIONS) targets[inSession(name)] = withHeaders(targets[name] as Target, SESSION)
  const perSecond = await loadInTurns(targets)
  const added: Record<string, number> = {}
  // In pairs: work that a metered call leaves behind would be counted as the time of whichever key comes next.
  for (const name of names.slice(1)) {
    const [bareMs = 0, ms = 0] = await timesInTurns([targets['without limits'] as Target, targets[name] as Target])
    added[name] = ms - bareMs
  }
  await Promise.all([gazeway.stop(), portkey.stop()])
  await upstream.stop()

  const what = (name: string) => `JSON of a key ${name}, ${engine}, ${CONNECTIONS} connections (${GENERATOR})`
  const bare = perSecond['without limits'] ?? 0
  for (const name of names.slice(1)) {
    const bars = BARS[engine][name as keyof (typeof BARS)['SQLite']]
    report.add({
      what: what(name),
      unit: 'req/s',
      figure: perSecond[name] ?? 0,
      against: { what: 'a key without limits', figure: bare },
      bar: { atLeastTimes: bars.times },
    })
    report.add({
      what: `added by a key ${name}, ${engine}, one connection, p50`,
      unit: 'ms',
      figure: added[name] ?? 0,
      ...(bars.addedMs !== null && { bar: { atMost: bars.addedMs } }),
    })
  }
  for (const name of OF_SESSIONS)
    report.add({
      what: what(inSession(name)),
      unit: 'req/s',
      figure: perSecond[inSession(name)] ?? 0,
      against: { what: 'without a session', figure: perSecond[name] ?? 0 },
      bar: { atLeastTimes: SESSION_TIMES },
    })
  report.add({
    what: what('that is metered'),
    unit: 'req/s',
    figure: perSecond.metered ?? 0,
    against: { what: 'Portkey', figure: perSecond.Portkey ?? 0 },
    ...(engine === 'SQLite' && { bar: { atLeastTimes: PORTKEY_TIMES } }),
  })
}

async function makeKeys(where: readonly string[]): Promise<Record<Name, string>> {
  const keys: Partial<Record<Name, string>> = {}
  for (const [name, flags] of Object.entries(KEYS)) {
    const args = [join(ROOT, 'dist/cli.js'), 'key', 'create', '--name', name, ...flags, ...where]
    const { stdout } = await run(process.execPath, args)
    keys[name as Name] = /gzw_\S+/.exec(stdout)?.[0] ?? ''
  }
  return keys as Record<Name, string>
}

async function startGazeway(where: readonly string[], upstream: Running): Promise<Running> {
  const port = await freePort()
  const env = { GAZEWAY_UPSTREAM: `http://127.0.0.1:${upstream.port}/v1` }
  const args = [join(ROOT, 'dist/cli.js'), '--http', '--port', String(port), ...where]
  return startServer(process.execPath, args, { port, env })
}

function targetOf({ pid, port }: Running, key: string, headers: Record<string, string> = {}): Target {
  const url = `http://127.0.0.1:${port}/v1/chat/completions`
  return { pid, url, headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers } }
}

const inSession = (name: string) => `${name}, in a session`

function withHeaders(target: Target, headers: Record<string, string>): Target {
  return { ...target, headers: { ...target.headers, ...headers } }
}

/** Requests per second of each target, the median of rounds in turns, every other one backwards. */
async function loadInTurns(targets: Record<string, Target>): Promise<Record<string, number>> {
  const figures: Record<string, number[]> = {}
  const order = Object.entries(targets)
  for (let round = -1; round < ROUNDS; round++)
    for (const [name, target] of round % 2 === 0 ? order : order.toReversed()) {
      const { perSecond } = await sendLoad(target, { body: BODY, connections: CONNECTIONS, seconds: SECONDS })
      // The first round warms up.
      if (round >= 0) figures[name] = [...(figures[name] ?? []), perSecond]
    }
  return Object.fromEntries(Object.entries(figures).map(([name, all]) => [name, median(all)]))
}

/** Median response time of each target, in milliseconds. The targets take turns, one request each. */
async function timesInTurns(targets: readonly Target[]): Promise<number[]> {
  const clients = targets.map((target) => ({ client: connectTo(target), times: [] as number[] }))
  for (let turn = 0; turn < TIMED.warmups + TIMED.requests; turn++)
    for (const { client, times } of turn % 2 === 0 ? clients : clients.toReversed()) {
      const { wholeMs } = await client.send(BODY)
      if (turn >= TIMED.warmups) times.push(wholeMs)
    }
  await Promise.all(clients.map(({ client }) => client.close()))
  return clients.map(({ times }) => median(times))
}

/** Times reading the spend of a key that has spent on 1,000 days. */
async function measureSpend(report: Report, file: string): Promise<void> {
  const store = await openStore(`sqlite:${file}`)
  const now = new Date('2026-11-24T12:00:00Z')
  const days = Array.from({ length: 1_000 }, (_, i) =>
    new Date(now.getTime() - i * 86_400_000).toISOString().slice(0, 10),
  )
  await store.write(async (trx) => {
    for (const day of [...days, 'total'])
      await trx
        .insertInto('spending')
        .values({
          owner: 'key_a',
          day,
          charged_micros: 1_000_000,
          recorded_micros: 0,
          beyond_micros: 0,
          forgiven_micros: 0,
        })
        .execute()
  })
  const { spend } = await interleave({ spend: () => spendOf(store.db, ['key_a'], now) }, { warmups: 20, rounds: 300 })
  await store.close()
  report.add({
    what: 'spend of a key that spent on 1,000 days',
    unit: 'ms',
    figure: spend,
    bar: { atMost: 2 },
  })
}
