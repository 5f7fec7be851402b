import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from './folder.ts'
import { connectTo } from './http-client.ts'
import { GENERATOR, type Load, type LoadResult, sendLoad } from './http-load.ts'
import { installPortkey } from './http-portkey.ts'
import { cpuTime, type Running, residentMemory } from './http-process.ts'
import { openSetting, type Setting, type Target, type TargetName } from './http-targets.ts'
import { abandonedStreams, startUpstream } from './http-upstream.ts'
import type { Report } from './report.ts'
import { median } from './stats.ts'

const ROUNDS = 5
/** Long enough that it does not tell how soon each of them is warm again: they rest while the others have their turn. */
const SECONDS = 4
const WARMUP_SECONDS = 2
const CONNECTIONS = 64
const STREAMS = 16
const CHUNKS = 50
/** Several rounds, because the machine is not as fast in one second as in the next. */
const TIMED = { rounds: 5, warmups: 100, requests: 300 }
/** One, because the others would grow cold while Portkey, which sleeps before each stream, has its turn. */
const TIMED_STREAMS = { rounds: 1, warmups: 300, requests: 300 }
const LEAVING = 20
/** How long after the load memory is read again, to see what is given back. */
const REST_MS = 10_000
/** How long a proxy may take to end a request whose client has left. */
const LEFT_WITHIN_MS = 1000

const MESSAGES = [{ role: 'user', content: 'Say hello to the world, please.' }]
const JSON_BODY = JSON.stringify({ model: 'm', messages: MESSAGES })
const streamBody = (chunks: number) =>
  JSON.stringify({ model: 'm', messages: MESSAGES, stream: true, max_tokens: chunks })

/** The gateway over HTTP, with key, usage and call records, beside gateways and a proxy that keep none. */
export async function section(report: Report): Promise<void> {
  installPortkey()
  const folder = temporaryFolder('http')
  await measureJson(report, await openSetting(join(folder, 'json'), await startUpstream()))
  const upstream = await startUpstream()
  await measureStreams(report, await openSetting(join(folder, 'streams'), upstream), upstream)
}

async function measureJson(report: Report, setting: Setting): Promise<void> {
  const loaded = await loadInTurns(setting, { body: JSON_BODY, connections: CONNECTIONS, seconds: SECONDS })
  // After the load, when all of them have long been compiled.
  const added = await addedTime(setting, TIMED, JSON_BODY, 'wholeMs')
  const resident = ofEach(setting, ({ pid }) => residentMemory(pid))
  await delay(REST_MS)
  const rested = ofEach(setting, ({ pid }) => residentMemory(pid))
  await setting.stop()

  const what = `JSON, ${CONNECTIONS} connections (${GENERATOR})`
  const unit = 'req/s'
  const { gazeway, Portkey, nginx } = loaded.perSecond
  report.add({ what, unit, figure: gazeway, against: { what: 'Portkey', figure: Portkey }, bar: { atLeastTimes: 9 } })
  if (nginx !== undefined)
    report.add({ what, unit, figure: gazeway, against: { what: 'nginx', figure: nginx }, bar: { atLeastTimes: 0.25 } })
  if (loaded.cpu) compare('CPU per JSON request', 'µs', loaded.cpu, { times: 0.12 })
  compare('added to a JSON request, one connection, p50', 'ms', added, { times: 0.35 })
  compare(`p99, ${CONNECTIONS} connections`, 'ms', loaded.p99Ms, { times: 0.2 })
  compare('resident after the load', 'MB', resident, { times: 1 })
  report.add({ what: `resident ${REST_MS / 1000} s later`, unit: 'MB', ...besidePeers(rested) })

  function compare(what: string, unit: 'µs' | 'ms' | 'MB', figures: Figures, bar: { times: number }): void {
    report.add({ what, unit, ...besidePeers(figures), bar })
  }
}

async function measureStreams(report: Report, setting: Setting, upstream: Running): Promise<void> {
  const load = { body: streamBody(CHUNKS), connections: STREAMS, seconds: SECONDS }
  const { cpu } = await loadInTurns(setting, load)
  const added = await addedTime(setting, TIMED_STREAMS, streamBody(2), 'firstByteMs')
  const aborted: Partial<Figures> = {}
  for (const [name, target] of targetsOf(setting)) aborted[name] = await leaveStreams(target, upstream)
  await setting.stop()

  if (cpu) report.add({ what: `CPU per ${CHUNKS}-chunk stream`, unit: 'µs', ...besidePeers(cpu), bar: { times: 0.4 } })
  report.add({
    what: 'added to the first byte of a stream, p50',
    unit: 'ms',
    ...besidePeers(added),
    bar: { atMost: 0.6 },
  })
  const ended = besidePeers(aborted as Figures)
  const what = `ended upstream after ${LEAVING} clients left`
  report.add({ what, unit: 'streams', ...ended, bar: { atLeast: LEAVING } })
}

/** A figure for each target; nginx may not be installed. */
type Figures = { gazeway: number; Portkey: number; nginx?: number }

const targetsOf = ({ targets }: Setting) => Object.entries(targets) as [TargetName, Target][]

function ofEach(setting: Setting, read: (target: Target, name: TargetName) => number): Figures {
  return Object.fromEntries(targetsOf(setting).map(([name, target]) => [name, read(target, name)])) as Figures
}

function besidePeers({ gazeway, Portkey, nginx }: Figures) {
  const besides = nginx === undefined ? [] : [{ what: 'nginx', figure: nginx }]
  return { figure: gazeway, against: { what: 'Portkey', figure: Portkey }, besides }
}

/** Sends the load to each target in turn, in several rounds. @returns medians; `cpu` in µs a request, null without /proc */
async function loadInTurns(setting: Setting, load: Load) {
  const targets = targetsOf(setting)
  for (const [, target] of targets) await sendLoad(target, { ...load, seconds: WARMUP_SECONDS })
  const results = targets.map(([name]) => ({ name, loads: [] as (LoadResult & { cpu: number | null })[] }))
  for (let round = 0; round < ROUNDS; round++)
    for (const [i, [, target]] of targets.entries()) results[i]?.loads.push(await measuredLoad(target, load))

  const medians = (of: (result: LoadResult & { cpu: number | null }) => number) =>
    Object.fromEntries(results.map(({ name, loads }) => [name, median(loads.map(of))])) as Figures
  const hasCpu = results.every(({ loads }) => loads.every(({ cpu }) => cpu !== null))
  return {
    perSecond: medians(({ perSecond }) => perSecond),
    p99Ms: medians(({ p99Ms }) => p99Ms),
    cpu: hasCpu ? medians(({ cpu }) => cpu ?? 0) : null,
  }
}

async function measuredLoad(target: Target, load: Load): Promise<LoadResult & { cpu: number | null }> {
  const before = cpuTime(target.pid)
  const result = await sendLoad(target, load)
  const after = cpuTime(target.pid)
  return { ...result, cpu: before === null || after === null ? null : (after - before) / result.requests }
}

/** What each target adds to the median time of the upstream itself, in milliseconds. @returns medians of the rounds */
async function addedTime(setting: Setting, timed: typeof TIMED, body: string, moment: Moment): Promise<Figures> {
  const targets = targetsOf(setting)
  const added = targets.map(([name, target]) => ({ name, target, times: [] as number[] }))
  for (let round = 0; round < timed.rounds; round++)
    for (const { target, times } of added) times.push(await addedBy(target, setting.direct, timed, body, moment))
  return Object.fromEntries(added.map(({ name, times }) => [name, median(times)])) as Figures
}

type Moment = 'firstByteMs' | 'wholeMs'

/** In one round: one request after the other, in turns with the upstream. */
async function addedBy(
  target: Target,
  direct: Target,
  { warmups, requests }: typeof TIMED,
  body: string,
  moment: Moment,
): Promise<number> {
  const pair = [direct, target].map((to) => ({ client: connectTo(to), times: [] as number[] }))
  for (let turn = 0; turn < warmups + requests; turn++)
    for (const { client, times } of turn % 2 === 0 ? pair : pair.toReversed()) {
      const time = (await client.send(body))[moment]
      if (turn >= warmups) times.push(time)
    }
  await Promise.all(pair.map(({ client }) => client.close()))
  const [alone = 0, through = 0] = pair.map(({ times }) => median(times))
  return through - alone
}

/** How many of the upstream's streams end when their clients leave. */
async function leaveStreams(target: Target, upstream: Running): Promise<number> {
  const before = await abandonedStreams(upstream)
  const leaving = Array.from({ length: LEAVING }, () => connectTo(target).leave(streamBody(10_000)))
  await Promise.all(leaving)
  const deadline = performance.now() + LEFT_WITHIN_MS
  let left = 0
  while (left < LEAVING && performance.now() < deadline) {
    await delay(10)
    left = (await abandonedStreams(upstream)) - before
  }
  return left
}
