import { mkdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openStore } from '../src/store/open-store.ts'
import { freePort } from '../test/doubles/free-port.ts'
import { temporaryFolder } from './folder.ts'
import { waitsDuring } from './health-waits.ts'
import { type Running, residentMemory, startServer } from './http-process.ts'
import { startUpstream } from './http-upstream.ts'
import type { Report } from './report.ts'
import { ROOT } from './servers.ts'
import { quantile } from './stats.ts'
import { type Seeded, seedWaits } from './waits-seed.ts'

/** `BENCH_ROWS=20000 npm run bench -- waits` is over in a minute. */
const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000)
const KEY = 'bench-key-0123456789'
/** Longest wait allowed for a parallel request, in milliseconds. */
const BAR = { atMost: 100 }
/** Number of times that each request is sent, one after the other. */
const TIMES = 3
/** Requests for the largest list at once, and what a fresh process may have in memory meanwhile, in MB. */
const AT_ONCE = 64
const RESIDENT = { atMost: 400 }

interface Asked {
  method?: 'POST'
  path: string
  body?: string
  accept?: string
}

/** Longest wait of `/health` while another request is answered, for each route, at a million rows of each kind. */
export async function section(report: Report): Promise<void> {
  const data = join(temporaryFolder('waits'), 'data')
  mkdirSync(data)
  const store = await openStore(`sqlite:${join(data, 'gazeway.db')}`)
  const seeded = await seedWaits(store, ROWS)
  await store.close()
  const upstream = await startUpstream()
  const fresh = await startPlatform(data, upstream)
  await measureMany(report, fresh, { when: 'in a fresh process', bar: RESIDENT })
  await fresh.stop()
  const server = await startPlatform(data, upstream)
  const rows = `${ROWS.toLocaleString('en')} rows`
  const idle = await waitsDuring(server, () => delay(1_000))
  for (const [what, asked] of Object.entries(requests(seeded))) {
    const waits = await waitsDuring(server, async () => {
      for (let i = 0; i < TIMES; i++) await ask(server, asked)
    })
    report.add({
      what: `longest wait of /health beside ${what}, ${rows}`,
      unit: 'ms',
      figure: Math.max(...waits),
      besides: [{ what: 'beside nothing', figure: Math.max(...idle) }],
      bar: BAR,
    })
  }
  // V8 keeps what the requests before have needed.
  await measureMany(report, server, { when: 'after all of these' })
  await server.stop()
  await upstream.stop()
}

/** Everything that reads much or reckons long. */
function requests({ gazeSession, chatSession }: Seeded): Record<string, Asked> {
  const get = (path: string): Asked => ({ path })
  const post = (path: string, body: unknown): Asked => ({ method: 'POST', path, body: JSON.stringify(body) })
  const list = (path: string) => ({
    [`GET ${path}`]: get(`${path}?limit=1000`),
    [`GET ${path}, deep`]: get(`${path}?limit=1000&offset=${Math.floor(ROWS * 0.9)}`),
  })
  const stats = Object.fromEntries(
    ['model', 'caller', 'day', 'hour', 'path', 'status'].map((by) => [
      `GET /api/calls/stats by ${by}`,
      get(`/api/calls/stats?group_by=${by}`),
    ]),
  )
  const text = 'Some words of everyday use, and numbers: 4711. '
  return {
    ...list('/api/memory'),
    'GET /api/memory of large values': get('/api/memory?namespace=large&limit=1000'),
    'GET /api/memory by tag': get('/api/memory?tag=tag1&limit=1000'),
    'GET /api/memory/stats': get('/api/memory/stats'),
    'a search for a frequent word': post('/api/memory/search', { query: 'w17', limit: 100 }),
    'a search for many words': post('/api/memory/search', { query: 'w1 w22 w333 w4444 wx5 wxy66 w7', limit: 100 }),
    'a search with large values': post('/api/memory/search', { query: 'lorem zzz', limit: 100 }),
    ...list('/api/calls'),
    'GET /api/calls from a time on': get('/api/calls?from=2026-01-02T00:30:00Z&limit=1000'),
    'GET /api/calls of one status': get('/api/calls?status=error&limit=1000'),
    ...stats,
    'GET /api/calls/stats from half an hour on': get('/api/calls/stats?from=2024-11-01T00:30:00Z&group_by=caller'),
    ...list('/api/wallet/metered/usage'),
    'GET /api/wallet/metered/usage by caller': get('/api/wallet/metered/usage?group_by=caller'),
    'GET /api/wallet/metered/usage as CSV': { ...get('/api/wallet/metered/usage'), accept: 'text/csv' },
    'GET /api/wallet/ledger': get('/api/wallet/ledger?caller_id=key_0&limit=1000'),
    ...list('/api/tasks'),
    'GET /api/tasks of an agent': get('/api/tasks?agent=agent-7&limit=1000'),
    'GET /api/tasks/stats': get('/api/tasks/stats'),
    'GET /api/wallet/escrow': get('/api/wallet/escrow?limit=1000'),
    ...list('/api/gaze/history'),
    'GET /api/gaze/history at a path': get('/api/gaze/history?path=/project/file-17&limit=1000'),
    'GET /api/gaze/history of one source': get('/api/gaze/history?source=webcam&limit=1000'),
    'GET /api/gaze/sessions': get('/api/gaze/sessions?limit=1000'),
    'POST /api/gaze/analyze': post('/api/gaze/analyze', { session_id: gazeSession, narrate: false }),
    'POST /api/gaze/analyze of everything': post('/api/gaze/analyze', { narrate: false }),
    'GET /api/sessions': get('/api/sessions?limit=1000'),
    'GET /api/sessions/{id}/messages': get(`/api/sessions/${chatSession}/messages?limit=1000`),
    'GET /api/sessions/search': get('/api/sessions/search?q=words&limit=100'),
    'POST /api/memory of 250 KB': post('/api/memory', { key: 'stored', value: words(40_000) }),
    'POST /api/gaze/store of 1,000 records': post('/api/gaze/store', { records: gaze(1_000) }),
    'a chat completion of 4 MB': post('/v1/chat/completions', {
      messages: [{ role: 'user', content: text.repeat(85_000) }],
      max_tokens: 10,
    }),
    'a chat completion of 10,000 messages': post('/v1/chat/completions', {
      messages: Array.from({ length: 10_000 }, () => ({ role: 'user', content: 'hi' })),
      max_tokens: 10,
    }),
    'a metered call of 4 MB': post('/api/wallet/metered/call', {
      caller_id: KEY,
      model: 'llm-4-1-fast-reasoning',
      prompt: text.repeat(20_000),
      max_tokens: 10,
    }),
  }
}

/** SYNTHETIC words, most of them different. */
const words = (count: number): string => Array.from({ length: count }, (_, i) => `w${(i * 7919) % 9_973}`).join(' ')

/** SYNTHETIC eye tracking. */
const gaze = (count: number): unknown[] =>
  Array.from({ length: count }, (_, i) => ({
    at: new Date(Date.now() - 600_000 + i * 200).toISOString(),
    dwell_ms: 180,
    source: 'eye_tracker',
    confidence: 0.9,
    cog: { focus: 0.5, load: 0.4 },
    emo: { valence: 0, arousal: 0.2 },
    env: { path: `/project/file-${i % 97}`, x: (i % 97) / 97, y: (i % 89) / 89 },
  }))

/** 64 requests for the largest list at once: how long others wait, and what the process has in memory. */
async function measureMany(
  report: Report,
  server: Running,
  { when, bar }: { when: string; bar?: typeof RESIDENT },
): Promise<void> {
  let resident = 0
  const watching = setInterval(() => {
    resident = Math.max(resident, residentMemory(server.pid))
  }, 50)
  const waits = await waitsDuring(server, () =>
    Promise.all(Array.from({ length: AT_ONCE }, () => ask(server, { path: '/api/memory?namespace=large&limit=1000' }))),
  )
  clearInterval(watching)
  const beside = `beside ${AT_ONCE} requests for 1,000 memories of 250 KB, ${when}`
  report.add({ what: `/health ${beside}, p99`, unit: 'ms', figure: quantile(waits, 0.99), bar: BAR })
  report.add({ what: `resident ${beside}`, unit: 'MB', figure: resident, ...(bar && { bar }) })
}

async function startPlatform(data: string, upstream: Running): Promise<Running> {
  const [port, ahead] = [await freePort(), await freePort()]
  const args = [
    join(ROOT, 'dist/cli.js'),
    '--platform',
    '--http',
    '--port',
    String(ahead),
    '--platform-port',
    String(port),
  ]
  const options = ['--data', data, '--upstream', `http://127.0.0.1:${upstream.port}/v1`]
  return startServer(process.execPath, [...args, ...options], { port, env: { GAZEWAY_API_KEY: KEY } })
}

/** Sends a request and reads its reply, of which nothing is kept. @throws Error when it is refused */
function ask({ port }: Running, { method, path, body, accept }: Asked): Promise<void> {
  const headers = {
    authorization: `Bearer ${KEY}`,
    ...(accept && { accept }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, method: method ?? 'GET' }, (reply) => {
      const isGood = reply.statusCode === 200 || reply.statusCode === 201
      const said: string[] = []
      reply.on('data', (chunk) => isGood || said.push(String(chunk)))
      reply.once('end', () => {
        if (isGood) resolve()
        else reject(new Error(`${path} answered ${reply.statusCode}: ${said.join('')}`))
      })
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
