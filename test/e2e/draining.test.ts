import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { listens } from '../doubles/listens.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { startBalancer } from './balancer.ts'
import { type GatewayProcess, platformOf, startGatewayProcess, startProvider } from './gateway-process.ts'
import { CLI, newPlace, type Place, watch } from './server.ts'

const ENDED_WELL = { code: 0, signal: null }
const READY = [200, { status: 'ready' }]
const DRAINING = [503, { status: 'unready', reason: 'draining' }]
const BOTH = ['--platform', '--platform-port', '0']
const MESSAGES = [{ role: 'user', content: 'Hello.' }]

const probe = async (url: string, path = '/readyz') => {
  const reply = await fetch(url + path)
  return [reply.status, await reply.json()]
}
const chat = (url: string, key: string, stream = false) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: MESSAGES, stream }),
  })

describe('a process that gets SIGTERM', () => {
  let upstream: double.UpstreamDouble
  before(async () => {
    upstream = await startProvider()
  })
  after(() => upstream.close())

  const start = (place: Place, env: Record<string, string>, args: string[] = []) =>
    startGatewayProcess(place, { args: ['--upstream', upstream.url, ...args], env })

  /** Streams answer the first half at once, the rest after `goOn`; other calls are answered at once. */
  function holdStreams(): () => void {
    let goOn = () => {}
    const told = new Promise<void>((resolve) => {
      goOn = resolve
    })
    upstream.on('/chat/completions', async (response, request) => {
      if (!(request.body as { stream?: boolean }).stream)
        return double.json(200, double.completion('Hello.'))(response, request)
      const [first, ...rest] = double.chunks(['Hel', 'lo.'])
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(`data: ${JSON.stringify(first)}\n\n`)
      await told
      for (const chunk of rest) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      response.end('data: [DONE]\n\n')
    })
    return goOn
  }

  it('is unready on both ports and serves on, stops to listen, and ends once its streams have', async () => {
    const goOn = holdStreams()
    const gateway = await start(newPlace(), { GAZEWAY_UNREADY_MS: '2000' }, BOTH)
    const platform = await platformOf(gateway)
    const urls = [gateway.url, platform]
    await until(async () => (await probe(platform))[0] === 200)
    assert.deepEqual(await Promise.all(urls.map((url) => probe(url))), [READY, READY])
    const headers = { authorization: `Bearer ${gateway.key}` }
    const live = await fetch(`${platform}/api/calls/live`, { headers })
    assert.equal(live.status, 200)
    const kept = await chat(gateway.url, gateway.key)
    assert.deepEqual([kept.status, kept.headers.get('connection')], [200, 'keep-alive'])
    const before = await chat(gateway.url, gateway.key, true)

    gateway.kill('SIGTERM')
    await until(async () => (await probe(gateway.url))[0] === 503)
    assert.deepEqual(await Promise.all(urls.map((url) => probe(url))), [DRAINING, DRAINING])
    assert.deepEqual(await Promise.all(urls.map((url) => probe(url, '/livez'))), Array(2).fill([200, { status: 'ok' }]))
    for (const url of urls) {
      const late = await chat(url, gateway.key)
      assert.deepEqual([late.status, late.headers.get('connection')], [200, 'close'], await late.text())
    }
    const during = await chat(platform, gateway.key, true)
    await until(async () => (await Promise.all(urls.map(listens))).every((open) => !open))
    assert.match(await live.text(), /^: live/, 'a stream without an end holds up nothing')
    goOn()
    for (const stream of [before, during]) assert.match(await stream.text(), /Hel[\s\S]*lo\.[\s\S]*data: \[DONE\]\n\n$/)
    assert.deepEqual(await gateway.exit, ENDED_WELL)
    assert.match(gateway.stderr(), /serving for 2 s[\s\S]*replies in progress have 30 s to finish/)
    const logged = gateway
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
    const [draining, drained] = ['Draining.', 'Drained.'].map((text) => logged.find(({ msg }) => msg === text))
    assert.deepEqual([draining?.unready_ms, draining?.drain_ms], [2000, 30_000])
    assert.ok(drained?.drained_ms >= 0)
  })

  it('waits for no balancer where nobody has asked /readyz', async () => {
    const gateway = await start(newPlace(), { GAZEWAY_UNREADY_MS: '600000' })
    assert.equal((await probe(gateway.url, '/livez'))[0], 200)
    assert.deepEqual(await gateway.stop(), ENDED_WELL)
    assert.doesNotMatch(gateway.stderr(), /not ready/)
  })

  it('ends at once at a second signal, also while it serves on', async () => {
    for (const second of ['SIGTERM', 'SIGINT'] as const) {
      const gateway = await start(newPlace(), { GAZEWAY_UNREADY_MS: '600000' })
      await probe(gateway.url)
      gateway.kill('SIGTERM')
      await until(async () => (await probe(gateway.url))[0] === 503)
      gateway.kill(second)
      assert.deepEqual(await gateway.exit, { code: null, signal: second })
    }
  })

  const inContainer = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child']
  const noNamespaces =
    spawnSync('unshare', [...inContainer, 'true']).status !== 0 && 'unshare(1) may not make a process 1'
  it('ends at once at a second signal as the first process of a container, too', { skip: noNamespaces }, async () => {
    const place = newPlace()
    const args = [...inContainer, process.execPath, CLI, '--http', '--port', '0', '--upstream', upstream.url]
    const env = { ...place.env, GAZEWAY_UNREADY_MS: '600000' }
    const { child, stderr, exit } = watch(spawn('unshare', args, { cwd: place.project, env }))
    const url = await until(() => /gateway on (http:\S+)\/v1 /.exec(stderr())?.[1], { what: stderr, seconds: 30 })
    await probe(url)
    const first = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8'))
    process.kill(first, 'SIGTERM')
    await until(async () => (await probe(url))[0] === 503)
    process.kill(first, 'SIGTERM')
    assert.deepEqual(await exit, { code: 143, signal: null })
  })

  it('is replaced under load without a failed call or a cut stream', { timeout: 120_000 }, async () => {
    const goOn = holdStreams()
    const place = newPlace()
    const env = { GAZEWAY_UNREADY_MS: '1500', GAZEWAY_API_KEY: 'an-admin-key-of-the-tests' }
    const started = () => start(place, env)
    let gateways: GatewayProcess[] = [await started(), await started()]
    const { key } = gateways[0] ?? assert.fail()
    const balancer = await startBalancer(gateways.map(({ url }) => url))
    const streams = await Promise.all(Array.from({ length: 6 }, () => chat(balancer.url, key, true)))
    let busy = true
    const statuses: number[] = []
    const clients = Array.from({ length: 8 }, async () => {
      while (busy) {
        const reply = await chat(balancer.url, key)
        await reply.arrayBuffer()
        statuses.push(reply.status)
      }
    })
    for (let round = 0; round < 2; round++) {
      const [oldest, other] = gateways as [GatewayProcess, GatewayProcess]
      const next = await started()
      gateways = [other, next]
      await balancer.serve([oldest, other, next].map(({ url }) => url))
      const served = statuses.length
      oldest.kill('SIGTERM')
      await until(async () => !(await listens(oldest.url)), { seconds: 20 })
      assert.ok(statuses.length > served, 'clients are served meanwhile')
    }
    busy = false
    await Promise.all(clients)
    goOn()
    for (const stream of streams) assert.match(await stream.text(), /Hel[\s\S]*lo\.[\s\S]*data: \[DONE\]\n\n$/)
    assert.deepEqual([...new Set(statuses)], [200])
    assert.deepEqual(await Promise.all(gateways.map((gateway) => gateway.stop())), [ENDED_WELL, ENDED_WELL])
    balancer.close()
  })
})
