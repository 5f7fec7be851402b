import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from '../doubles/free-port.ts'
import { until } from '../doubles/until.ts'
import type { UpstreamDouble } from '../doubles/upstream.ts'
import { type GatewayProcess, platformOf, startGatewayProcess, startProvider } from './gateway-process.ts'
import { CLI, newPlace, PATIENCE_MS, run, watch } from './server.ts'

/** Some more than a start needs, which opens the modules that it imports together. */
const OPEN_FILES = 176
/** Connections that are opened together, to take the descriptors. */
const AT_ONCE = 16
const MESSAGES = [{ role: 'user', content: 'hi' }]
/** A number that JSON.parse would round, so that the exact parser is wanted. */
const EXACT = `{"messages":${JSON.stringify(MESSAGES)},"seed":12345678901234567890}`

describe('a process that has no file descriptor left for a while', { skip: process.platform !== 'linux' }, () => {
  let upstream: UpstreamDouble
  let gateway: GatewayProcess
  let platform: string
  before(async () => {
    upstream = await startProvider()
    gateway = await startGatewayProcess(newPlace(), {
      args: ['--platform', '--platform-port', '0', '--upstream', upstream.url],
      openFiles: OPEN_FILES,
    })
    platform = await platformOf(gateway)
  })
  after(async () => {
    await gateway.stop()
    await upstream.close()
  })

  it('serves all there is once they are free again', async () => {
    const http = keptConnection(gateway.url, gateway.key)
    const api = keptConnection(platform, gateway.key)
    const requests = [
      () => http('/v1/chat/completions', { messages: MESSAGES }),
      () => http('/v1/chat/completions', EXACT),
      () => http('/v1/responses', { input: 'hi' }),
      () =>
        api('/api/wallet/metered/call', {
          caller_id: gateway.key,
          model: 'llm-4-1-fast-reasoning',
          prompt: 'hi',
          max_tokens: 9,
        }),
      () => api('/api/config', { 'gaze.min_score': 0.7 }),
      () => api('/api/skills'),
    ]
    await Promise.all([http('/health'), api('/health')])

    const idle: Socket[] = []
    await until(() => {
      for (let i = 0; i < AT_ONCE; i++)
        idle.push(connect(Number(new URL(platform).port), '127.0.0.1').on('error', () => {}))
      return idle.length > OPEN_FILES && openFilesOf(gateway) >= OPEN_FILES - 1
    })
    for (const send of requests) await send()
    for (const socket of idle) socket.destroy()
    await until(() => openFilesOf(gateway) < OPEN_FILES / 2)

    for (const send of requests) {
      const { status, body } = await send()
      assert.equal(status, 200, `${body}\n${gateway.stderr()}`)
    }
  })
})

it('a process with too few file descriptors for its code says so in one line', async () => {
  for (const args of [['--http', '--platform', '--port', '0', '--platform-port', '0'], ['doctor']]) {
    const command = ['-c', 'ulimit -n 40; exec "$@"', 'sh', process.execPath, CLI, ...args]
    const { status, signal, stderr } = spawnSync('sh', command, { env: newPlace().env, encoding: 'utf8' })
    assert.deepEqual([status, signal], [1, null])
    assert.match(stderr, /^gazeway: No file descriptor was left [^\n]+ulimit -n 1024[^\n]+\n$/)
  }
})

/** Starts the command with few file descriptors. Node itself needs 18. */
const limited = (openFiles: number, args: readonly string[]): [string, string[]] => [
  'sh',
  ['-c', `ulimit -n ${openFiles}; exec "$@"`, 'sh', process.execPath, CLI, ...args],
]
const ONE_LINE = /^(gazeway: No file descriptor was left [^\n]+ulimit -n 1024[^\n]+\n)?$/

for (const openFiles of [20, 32, 56, 64])
  describe(`with ${openFiles} file descriptors`, { skip: process.platform === 'win32' }, () => {
    const place = newPlace()
    before(() => run(place, ['key', 'create', '--name', 'ann']))

    it('a command does its work, or says in one line why not', () => {
      for (const args of [
        ['key', 'list'],
        ['doctor', '--upstream', 'sandbox'],
        ['hook', 'session-start'],
      ]) {
        const input = JSON.stringify({ cwd: place.project })
        const options = { env: place.env, encoding: 'utf8', timeout: PATIENCE_MS, input } as const
        const { status, signal, stderr } = spawnSync(...limited(openFiles, args), options)
        assert.equal(signal, null, `${args}: ${stderr}`)
        assert.match(stderr, ONE_LINE)
        assert.equal(stderr === '', status === 0, `${args}: ${status} ${stderr}`)
      }
    })

    it('a tool server answers each call, or says why not, and ends as it should', async () => {
      const server = watch(
        spawn(...limited(openFiles, ['--upstream', 'sandbox']), { cwd: place.project, env: place.env }),
      )
      await server.initialize()
      server.send({ id: 'tools', method: 'tools/list' })
      assert.equal((await server.answer('tools')).result.tools.length, 12)
      const calls = [
        ['gateway_memory_store', { key: 'k', value: 1 }],
        ['gateway_get_context', { root: place.project, query: 'retries' }],
        ['gateway_llm_query', { query: 'hi' }],
      ] as const
      for (const [name, input] of calls) server.callTool(name, name, input)
      for (const [name] of calls) {
        const { error, result } = await server.answer(name)
        const text = error?.message ?? result.content[0].text
        if (error !== undefined || result.isError) assert.match(text, /No file descriptor was left/, name)
      }
      server.child.stdin.end()
      const { code, signal } = await server.exit
      assert.equal(signal, null)
      assert.match(server.stderr(), ONE_LINE)
      assert.equal(code, server.stderr() === '' ? 0 : 1)
      server.assertProtocolOnly()
    })
  })

it('a process whose clients come back while it starts, and take the last file descriptor, goes on', {
  skip: process.platform !== 'linux',
}, async () => {
  const port = await freePort()
  const clients = new Set<Socket>()
  let dialling = true
  function dial(): void {
    if (!dialling) return
    const client = connect(port, '127.0.0.1').on('error', () => {})
    clients.add(client)
    client.on('close', () => {
      clients.delete(client)
      setTimeout(dial, 10)
    })
  }
  function hangUp(): void {
    dialling = false
    for (const client of clients) client.destroy()
  }
  for (let i = 0; i < 2 * OPEN_FILES; i++) dial()
  const gateway = await startGatewayProcess(newPlace(), {
    args: ['--port', String(port), '--upstream', 'sandbox'],
    openFiles: OPEN_FILES,
  }).catch((error: unknown) => {
    hangUp()
    throw error
  })
  // As long as it may take to load what it would load late.
  await Promise.race([gateway.exit, delay(1000)])
  hangUp()
  await until(() => openFilesOf(gateway) < OPEN_FILES / 2)
  assert.equal((await keptConnection(gateway.url, gateway.key)('/health')).status, 200)
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
})

const openFilesOf = ({ pid }: GatewayProcess) => readdirSync(`/proc/${pid}/fd`).length

/** Sends requests over one connection, which is made with the first. */
function keptConnection(url: string, key: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return (path: string, body?: object | string) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const sent = request(`${url}${path}`, { agent, method: body ? 'POST' : 'GET', headers }, (response) => {
        let text = ''
        response
          .setEncoding('utf8')
          .on('data', (piece: string) => {
            text += piece
          })
          .on('end', () => resolve({ status: response.statusCode, body: text }))
      })
      sent.on('error', reject)
      sent.end(typeof body === 'string' ? body : JSON.stringify(body))
    })
}
