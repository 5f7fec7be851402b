import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { temporaryFolder } from './folder.ts'
import { connectTo } from './http-client.ts'
import { GENERATOR } from './http-load.ts'
import { addedTime, loadInTurns, SECONDS, TIMED, TIMED_STREAMS } from './http-measures.ts'
import { installPortkey } from './http-portkey.ts'
import { type Running, residentMemory } from './http-process.ts'
import { openSetting, type Setting, type Target, type TargetName } from './http-targets.ts'
import { abandonedStreams, startUpstream } from './http-upstream.ts'
import type { Report } from './report.ts'

const CONNECTIONS = 64
const STREAMS = 16
const CHUNKS = 50
const LEAVING = 20
/** Pause between the load and the second reading of memory, which shows how much is released. */
const REST_MS = 10_000
/** Time limit for a proxy to abort a request whose client has left. */
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
  const loaded = await loadInTurns(setting.targets, { body: JSON_BODY, connections: CONNECTIONS, seconds: SECONDS })
  // After the load, when all of them have long been compiled.
  const added = await addedTime(setting.targets, setting.direct, { ...TIMED, body: JSON_BODY, moment: 'wholeMs' })
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
  const { cpu } = await loadInTurns(setting.targets, load)
  const added = await addedTime(setting.targets, setting.direct, {
    ...TIMED_STREAMS,
    body: streamBody(2),
    moment: 'firstByteMs',
  })
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

/** Counts the upstream's streams that end after their clients leave. */
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
