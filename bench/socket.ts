import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'undici'
import { WebSocket } from 'ws'
import { freePort } from '../test/doubles/free-port.ts'
import { temporaryFolder } from './folder.ts'
import { type Running, residentMemory, startServer } from './http-process.ts'
import { startUpstream } from './http-upstream.ts'
import type { Report } from './report.ts'
import { gazeway } from './servers.ts'
import { quantile } from './stats.ts'

const KEY = 'an-admin-key-of-the-benchmarks'
const WARMUPS = 50
const ROUNDS = 400
const IDLE = 1000
/** Sockets that are opened together. */
const AT_ONCE = 50
/** Idle time before the memory of the process is read. */
const SETTLE_MS = 2000
const KB = 1000
const QUESTION = 'Say hello.'

/** Latency of a chat over the socket, compared with the same chat over HTTP, and the memory of an idle socket. */
export async function section(report: Report): Promise<void> {
  const folder = temporaryFolder('socket')
  const upstream = await startUpstream()
  const platform = await startPlatform(folder, upstream)
  // First, while the process has not yet made room for other things that idle sockets would then take.
  await measureIdle(report, platform)
  await measureRoundTrip(report, platform)
  await platform.stop()
  await upstream.stop()
}

async function startPlatform(folder: string, upstream: Running): Promise<Running> {
  const port = await freePort()
  const { args } = gazeway(folder)
  const flags = ['--platform', '--platform-port', String(port), '--upstream', `http://127.0.0.1:${upstream.port}/v1`]
  const env = { GAZEWAY_API_KEY: KEY, GAZEWAY_UPSTREAM_API_KEY: 'k', GAZEWAY_AGENT_GATEWAY_URL: 'http://127.0.0.1:9' }
  return startServer(process.execPath, [...args, ...flags], { port, env })
}

const bearer = { authorization: `Bearer ${KEY}` }

async function openSocket({ port }: Running): Promise<WebSocket> {
  const ws = new WebSocket(`ws://127.0.0.1:${port}/agent`, { headers: bearer, perMessageDeflate: false })
  await once(ws, 'message')
  return ws
}

/** One chat by each way in every round, each in a session that is as long as the other's. */
async function measureRoundTrip(report: Report, platform: Running): Promise<void> {
  const http = new Client(`http://127.0.0.1:${platform.port}`)
  const headers = { ...bearer, 'content-type': 'application/json' }
  const post = async (path: string, body: object) => {
    const reply = await http.request({ method: 'POST', path, headers, body: JSON.stringify(body) })
    const text = await reply.body.text()
    if (reply.statusCode >= 300) throw new Error(`${path} answered ${reply.statusCode}: ${text}`)
    return JSON.parse(text)
  }
  const ws = await openSocket(platform)
  const { id } = await post('/api/sessions', {})
  const times = { http: [] as number[], socket: [] as number[] }
  const ways = {
    http: () => post(`/api/sessions/${id}/chat`, { message: QUESTION }),
    async socket() {
      ws.send(JSON.stringify({ type: 'chat', content: QUESTION }))
      const [data] = await once(ws, 'message')
      if (JSON.parse(String(data)).type !== 'reply') throw new Error(`The socket answered ${data}`)
    },
  }
  for (let round = 0; round < WARMUPS + ROUNDS; round++)
    for (const way of round % 2 === 0 ? (['http', 'socket'] as const) : (['socket', 'http'] as const)) {
      const start = performance.now()
      await ways[way]()
      if (round >= WARMUPS) times[way].push(performance.now() - start)
    }
  ws.close()
  await http.close()
  const against = { what: 'the same over HTTP, p50', figure: quantile(times.http, 0.5) }
  const socket = quantile(times.socket, 0.5)
  report.add({ what: 'chat over the agent socket, p50', unit: 'ms', figure: socket, against })
  report.add({
    what: 'what the socket adds to it, p50',
    unit: 'ms',
    figure: Math.max(0, socket - against.figure),
    bar: { atMost: 1 },
  })
}

/**
 * Measures the memory of each of a thousand sockets, opened after a thousand others. The first thousand also make V8
 * enlarge its new space once, whatever they hold.
 */
async function measureIdle(report: Report, platform: Running): Promise<void> {
  const open: WebSocket[] = []
  const grownBy = async (count: number) => {
    const before = residentMemory(platform.pid)
    for (let i = 0; i < count; i += AT_ONCE)
      open.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => openSocket(platform)))))
    await delay(SETTLE_MS)
    return ((residentMemory(platform.pid) - before) * KB) / count
  }
  await grownBy(AT_ONCE)
  const first = await grownBy(IDLE)
  const figure = await grownBy(IDLE)
  for (const ws of open) ws.terminate()
  report.add({
    what: `resident for each of ${IDLE} idle sockets`,
    unit: 'KB',
    figure,
    besides: [{ what: `of the first ${IDLE}`, figure: first }],
    bar: { atMost: 15 },
  })
}
