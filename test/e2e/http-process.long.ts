import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect as connectTcp, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { DatabaseSync } from '@photostructure/sqlite'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, startGatewayProcess, startProvider } from './gateway-process.ts'
import { CLI, connect, newPlace, type Place, run, spawnServer, watch } from './server.ts'

const SANDBOX = { args: ['--upstream', 'sandbox'] }
const ENDED_WELL = { code: 0, signal: null }
/** Time of an end that waits for nothing, on a busy machine: half of what replies in progress get. */
const AT_ONCE_MS = 15_000

type Address = Pick<GatewayProcess, 'url' | 'key'>

const ask = (gateway: Address, path: string, body?: unknown, key = gateway.key) =>
  fetch(gateway.url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
const chat = (gateway: Address, stream: boolean) =>
  ask(gateway, '/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello.' }], stream })

describe('the start of the HTTP gateway', () => {
  it('makes an admin key the first time, says it once, and keeps it for its owner only', async () => {
    const place = newPlace({ withoutStore: true })
    const first = await startGatewayProcess(place, SANDBOX)
    const file = join(place.data, 'admin.key')
    assert.match(first.key, /^gzw_/)
    assert.equal(first.stderr().split(first.key).length - 1, 1)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal((await ask(first, '/v1/models')).status, 200)
    assert.deepEqual(await first.stop(), ENDED_WELL)
    assert.equal(first.stdout(), '')

    const digest = () => createHash('sha256').update(readFileSync(file)).digest('hex')
    const kept = digest()
    const second = await startGatewayProcess(place, SANDBOX)
    assert.ok(!second.stderr().includes('gzw_'))
    assert.equal((await ask(second, '/v1/models')).status, 200)
    assert.deepEqual(await second.stop(), ENDED_WELL)
    assert.equal(digest(), kept)
  })

  it('takes the key that GAZEWAY_API_KEY gives, and repeats it nowhere', async () => {
    const key = 'a-fixed-key-for-a-container'
    const place = newPlace()
    const gateway = await startGatewayProcess(place, { ...SANDBOX, env: { GAZEWAY_API_KEY: key } })
    assert.equal((await ask(gateway, '/v1/models', undefined, key)).status, 200)
    assert.equal((await ask(gateway, '/v1/models', undefined, `${key}x`)).status, 401)
    await gateway.stop()
    assert.ok(!gateway.stderr().includes(key))
    assert.ok(!readFileSync(join(place.data, 'gazeway.db'), 'latin1').includes(key))
  })

  it('says how to make an admin key where a lesser key was made first, and nothing once there is one', async () => {
    const place = newPlace()
    const served = async () => {
      const server = spawnServer(place, { args: ['--http', '--port', '0', ...SANDBOX.args] })
      await until(() => server.stderr().includes('gateway on'), { what: server.stderr, seconds: 30 })
      server.child.kill('SIGTERM')
      await server.exit
      return server.stderr()
    }
    assert.equal((await run(place, ['key', 'create', '--name', 'lesser'])).code, 0)
    assert.match(await served(), /^No key has the scope admin\. .*gazeway key create --name admin --scope \S*admin.*\n/)
    assert.equal((await run(place, ['key', 'create', '--name', 'admin', '--scope', 'admin'])).code, 0)
    assert.match(await served(), /^gazeway \S+: gateway on /)
  })

  it('names the port that is in use and the flag that chooses another', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const place = newPlace()
    const taken = await run(place, ['--http', '--port', `${port}`, '--upstream', 'sandbox'])
    const second = await run(place, ['--http', '--port', '0', '--platform', '--platform-port', `${port}`])
    other.close()
    assert.match(taken.stderr, new RegExp(`^gazeway: Port ${port} .*in use.*--port`))
    assert.match(second.stderr, new RegExp(`^gazeway: Port ${port} .*in use.*--platform-port`, 'm'))
    for (const { code, stdout, stderr } of [taken, second]) {
      assert.deepEqual([code, stdout], [1, ''])
      assert.ok(!stderr.includes('    at '), 'no stack trace')
    }
    assert.ok(!existsSync(join(place.data, 'admin.key')), 'no key was made that nobody would be shown again')
  })

  for (const port of ['70000', '-1', '80.5', 'http', ''])
    it(`refuses --port ${JSON.stringify(port)}, and says what is accepted`, async () => {
      const { code, stdout, stderr } = await run(newPlace(), ['--http', `--port=${port}`])
      assert.deepEqual([code, stdout], [2, ''])
      assert.match(stderr, /^gazeway: .*--port.*65535.*\n$/)
    })

  it('serves without an upstream key, and says how to get one', async () => {
    const gateway = await startGatewayProcess(newPlace(), { env: { GAZEWAY_UPSTREAM_API_KEY: '' } })
    const reply = await chat(gateway, false)
    assert.equal(reply.status, 503)
    const { error } = (await reply.json()) as { error: { code: string; message: string } }
    assert.equal(error.code, 'upstream_not_configured')
    assert.match(error.message, /XAI_API_KEY.*--upstream sandbox/)
    assert.equal((await ask(gateway, '/memory/store', { key: 'a', value: 1 })).status, 201)
    await gateway.stop()
  })
})

it('says what an upstream that falls silent has done, and goes on', async () => {
  const upstream = await startProvider()
  const place = newPlace()
  mkdirSync(place.data, { mode: 0o700 })
  writeFileSync(join(place.data, 'config.json'), JSON.stringify({ upstream: { timeout_ms: 2000 } }))
  const gateway = await startGatewayProcess(place, { args: ['--upstream', upstream.url] })
  upstream.on('/chat/completions', double.hangs)
  const reply = await chat(gateway, false)
  assert.equal(reply.status, 504)
  assert.match(await reply.text(), /"upstream_timeout"/)
  upstream.on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
  assert.match(await (await chat(gateway, true)).text(), /Hel[\s\S]*"upstream_timeout"/)
  upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
  assert.equal((await chat(gateway, false)).status, 200)
  assert.deepEqual(await gateway.stop(), ENDED_WELL)
  await upstream.close()
})

describe('the end of the HTTP gateway', () => {
  let upstream: double.UpstreamDouble
  before(async () => {
    upstream = await startProvider()
  })
  after(() => upstream.close())

  it('lets a reply that is still being sent arrive', async () => {
    const gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', upstream.url] })
    const long = 'x'.repeat(20_000_000)
    upstream.on('/chat/completions', double.json(200, double.completion(long)))
    const socket = connectTcp(Number(new URL(gateway.url).port), '127.0.0.1')
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello.' }] })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${gateway.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await once(socket, 'readable')
    gateway.kill('SIGTERM')
    await refused(gateway)
    let arrived = 0
    for await (const piece of socket) arrived += piece.length
    assert.ok(arrived > long.length, `${arrived} bytes arrived`)
    assert.deepEqual(await gateway.exit, ENDED_WELL)
  })

  /** A gateway with a stream under way, whose upstream goes on when it is told to. */
  async function streamingIn(place: Place, env: Record<string, string> = {}) {
    const gateway = await startGatewayProcess(place, { args: ['--upstream', upstream.url], env })
    return { gateway, ...(await streaming(gateway)) }
  }

  /** A stream under way, whose upstream goes on when it is told to. */
  async function streaming(gateway: Address) {
    let goOn = () => {}
    const told = new Promise<void>((resolve) => {
      goOn = resolve
    })
    upstream.on('/chat/completions', async (response) => {
      const [first, ...rest] = double.chunks(['Hel', 'lo.'])
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(first)}\n\n`)
      await told
      for (const chunk of rest) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      response.end('data: [DONE]\n\n')
    })
    const reader = ((await chat(gateway, true)).body ?? assert.fail()).pipeThrough(new TextDecoderStream()).getReader()
    await reader.read()
    async function rest(): Promise<string> {
      let text = ''
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value
      return text
    }
    return { goOn, rest }
  }

  it('is announced to each of many busy clients once, without a warning', async () => {
    const gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', upstream.url] })
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    let answered = 0
    const clients = Array.from({ length: 40 }, async () => {
      for (;;) {
        const response = await chat(gateway, false).catch(() => null)
        if (response === null) return
        await response.text()
        if (++answered === 400) gateway.kill('SIGTERM')
      }
    })
    await Promise.all(clients)
    assert.deepEqual(await gateway.exit, ENDED_WELL)
    assert.doesNotMatch(gateway.stderr(), /Warning/)
  })

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    it(`lets a stream finish after ${signal}, takes no more requests, and then comes at once`, async () => {
      const { gateway, goOn, rest } = await streamingIn(newPlace())
      gateway.kill(signal)
      await refused(gateway)
      const began = Date.now()
      goOn()
      assert.match(await rest(), /lo\..*data: \[DONE\]\n\n$/s)
      assert.deepEqual(await gateway.exit, ENDED_WELL)
      assert.ok(Date.now() - began < AT_ONCE_MS, `it took ${Date.now() - began} ms after the last reply`)
    })

  const terminal = spawnSync('script', ['--version']).status === 0
  const noTerminal = !terminal && 'there is no script(1) to make a terminal with'
  it('lets a stream finish after its terminal is closed, and records it', { skip: noTerminal }, async () => {
    const place = newPlace()
    const command = `exec "${process.execPath}" "${CLI}" --http --port 0 --upstream ${upstream.url}`
    const { child, stdout } = watch(
      spawn('script', ['-qec', command, '/dev/null'], { cwd: place.project, env: { ...place.env, SHELL: '/bin/sh' } }),
    )
    await until(() => stdout().includes('gateway on'), { what: stdout, seconds: 30 })
    const url = /gateway on (http:\S+)\/v1 /.exec(stdout())?.[1] ?? assert.fail(stdout())
    const key = readFileSync(join(place.data, 'admin.key'), 'utf8').trim()
    const { goOn, rest } = await streaming({ url, key })
    child.kill('SIGKILL')
    await refused({ url })
    goOn()
    assert.match(await rest(), /lo\..*data: \[DONE\]\n\n$/s)
    const { call } = await connect(place)
    await until(async () => {
      const { structuredContent } = await call('gateway_upstream_api_history')
      return structuredContent.items[0]?.status === 'ok'
    })
  })

  it('comes when replies are over, not when it hears again that its terminal is closed', async () => {
    const { gateway, goOn, rest } = await streamingIn(newPlace())
    gateway.kill('SIGHUP')
    await refused(gateway)
    gateway.kill('SIGHUP')
    goOn()
    assert.match(await rest(), /data: \[DONE\]\n\n$/)
    assert.deepEqual(await gateway.exit, ENDED_WELL)
  })

  it('ends a stream that goes on for http.drain_ms after SIGTERM, says so, and records it', {
    timeout: 40_000,
  }, async () => {
    const place = newPlace()
    const { gateway, rest } = await streamingIn(place, { GAZEWAY_DRAIN_MS: '10000' })
    const began = Date.now()
    gateway.kill('SIGTERM')
    assert.match(await rest(), /"code":"service_stopping"/)
    const waited = Date.now() - began
    assert.ok(waited > 9000 && waited < 25_000, `it waited ${waited} ms, not the 10 s that are set, nor the usual 30`)
    assert.deepEqual(await gateway.exit, ENDED_WELL)
    await upstream.received.at(-1)?.aborted

    const { call } = await connect(place)
    const { structuredContent } = await call('gateway_upstream_api_history')
    assert.deepEqual(
      structuredContent.items.map(({ status, error }: { status: string; error: string }) => [status, error]),
      [['error', 'Gazeway stopped before the answer was complete. Retry the request.']],
    )
  })

  it('comes although another program keeps the store locked, and says what is not recorded', {
    timeout: 90_000,
  }, async () => {
    const place = newPlace()
    const gateway = await startGatewayProcess(place, {
      args: ['--upstream', upstream.url],
      env: { GAZEWAY_DRAIN_MS: '10000' },
    })
    upstream.on('/chat/completions', double.json(200, double.completion('Hello.')))
    assert.equal((await ask(gateway, '/memory/recent')).status, 200)
    const other = new DatabaseSync(join(place.data, 'gazeway.db'))
    other.exec('begin immediate')
    const replies = await Promise.all(Array.from({ length: 3 }, () => chat(gateway, false)))
    assert.ok(replies.every(({ ok }) => ok))
    const writes = Array.from({ length: 4 }, (_, key) => ask(gateway, '/memory/store', { key: `k${key}`, value: 1 }))
    const outcome = Promise.allSettled(writes)
    const began = Date.now()
    assert.deepEqual(await gateway.stop(), { code: 1, signal: null })
    assert.ok(Date.now() - began < 40_000, `it took ${Date.now() - began} ms`)
    assert.match(gateway.stderr(), /gazeway: 3 of the call records could not be written: /)
    await outcome
    other.close()
  })

  it('comes at once at a second signal', async () => {
    for (const second of ['SIGTERM', 'SIGINT'] as const) {
      const { gateway, rest } = await streamingIn(newPlace())
      gateway.kill('SIGTERM')
      await refused(gateway)
      gateway.kill(second)
      await assert.rejects(rest())
      assert.deepEqual(await gateway.exit, { code: null, signal: second })
    }
  })

  it('comes at once although connections are open that ask for nothing', async () => {
    const gateway = await startGatewayProcess(newPlace(), SANDBOX)
    const silent = connectTcp(Number(new URL(gateway.url).port), '127.0.0.1')
    await once(silent, 'connect')
    await (await ask(gateway, '/health')).text()
    const began = Date.now()
    assert.deepEqual(await gateway.stop(), ENDED_WELL)
    assert.ok(Date.now() - began < AT_ONCE_MS)
    silent.destroy()
  })
})

/** Waits until a gateway takes no more connections. */
async function refused({ url }: Pick<Address, 'url'>): Promise<void> {
  await until(async () => {
    const socket = connectTcp(Number(new URL(url).port), '127.0.0.1')
    const open = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    return !open
  })
}
