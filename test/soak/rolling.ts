import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { scraped } from '../adapters/scrape.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { listens } from '../doubles/listens.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { startBalancer } from '../e2e/balancer.ts'
import { type GatewayProcess, startGatewayProcess, startProvider } from '../e2e/gateway-process.ts'
import { newPlace } from '../e2e/server.ts'

/** Length of the streams of agents while three gateways on PostgreSQL are replaced; of others a tenth. */
const SECONDS = Number(process.env.GAZEWAY_SOAK_STREAM_SECONDS ?? 600)
const STREAMS = 12
const CLIENTS = 4
/** Pause of a client between its calls, in milliseconds: agents work meanwhile. */
const THINKS_MS = 100
const ENDED_WELL = { code: 0, signal: null }
const ADMIN = 'an-admin-key-of-the-tests'
const WHOLE = /^data: [\s\S]*data: \[DONE\]\n\n$/

/** Gateways that are replaced one after the other, and the settings of their store. */
const CASES = [
  { engine: 'SQLite', count: 1, seconds: SECONDS / 10 },
  { engine: 'SQLite', count: 3, seconds: SECONDS / 10 },
  { engine: 'PostgreSQL', count: 1, seconds: SECONDS / 10 },
  { engine: 'PostgreSQL', count: 3, seconds: SECONDS },
] as const

describe('gateways that are replaced', () => {
  let upstream: double.UpstreamDouble
  before(async () => {
    upstream = await startProvider()
    upstream.on('/chat/completions', async (response, request) => {
      upstream.received.length = 0
      const { model, stream } = request.body as { model: string; stream?: boolean }
      if (!stream) return double.json(200, double.completion('Hello.'))(response, request)
      const words = model === 'endless' ? endless() : Array<string>(Number(model)).fill('word ')
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const [first, ...rest] = double.chunks(['a ', 'b '])
      const last = rest.slice(1)
      for (const _ of words) {
        if (response.destroyed) return
        response.write(`data: ${JSON.stringify(first)}\n\n`)
        await pause(1000)
      }
      for (const chunk of last) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      response.end('data: [DONE]\n\n')
    })
  })
  after(() => upstream.close())

  const chat = (url: string, model: string, stream = false) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello.' }], stream }),
    })

  for (const { engine, count, seconds } of CASES)
    it(`cut no stream and fail no call: ${count} on ${engine}`, { timeout: (seconds + 180) * 1000 }, async () => {
      const store = engine === 'SQLite' ? {} : { GAZEWAY_STORE: await (await sharedPostgres()).databaseWithTables() }
      const place = newPlace()
      const start = (drainMs: number) =>
        startGatewayProcess(place, {
          args: ['--upstream', upstream.url],
          env: { GAZEWAY_DRAIN_MS: String(drainMs), GAZEWAY_API_KEY: ADMIN, ...store },
        })
      const long = (seconds + 60) * 1000
      let gateways: GatewayProcess[] = []
      for (let i = 0; i < count; i++) gateways.push(await start(long))
      const balancer = await startBalancer(gateways.map(({ url }) => url))
      const streams = await Promise.all(
        Array.from({ length: STREAMS }, () => chat(balancer.url, String(seconds), true)),
      )
      const texts = Promise.all(streams.map((stream) => stream.text()))

      const statuses: Record<number, number> = {}
      let busy = true
      const clients = Array.from({ length: CLIENTS }, async () => {
        for (; busy; await pause(THINKS_MS)) {
          const reply = await chat(balancer.url, 'short')
          await reply.arrayBuffer()
          statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
        }
      })
      const replaced = gateways
      for (const old of replaced) {
        const next = await start(long)
        gateways = [...gateways.filter((one) => one !== old), next]
        await balancer.serve([old, ...gateways].map(({ url }) => url))
        old.kill('SIGTERM')
        await until(async () => (await drainingOf(old)) === 1, { seconds: 20 })
        await until(async () => !(await listens(old.url)), { seconds: 30 })
      }
      const whole = (await texts).filter((text) => WHOLE.test(text) && text.split('\n\n').length > seconds).length
      busy = false
      await Promise.all(clients)
      console.log({ engine, count, seconds, streams: whole, of: STREAMS, calls: statuses })
      assert.equal(whole, STREAMS, 'no stream is cut')
      assert.deepEqual(Object.keys(statuses), ['200'], 'no call fails')
      assert.deepEqual(
        await Promise.all(replaced.map(({ exit }) => exit)),
        replaced.map(() => ENDED_WELL),
      )

      const brief = await start(1500)
      const stuck = await chat(brief.url, 'endless', true)
      brief.kill('SIGTERM')
      assert.match(await stuck.text(), /service_stopping/, 'a stream without an end is told')
      assert.deepEqual(await brief.exit, ENDED_WELL)

      const [impatient] = gateways as [GatewayProcess]
      const cut = await chat(impatient.url, 'endless', true)
      impatient.kill('SIGTERM')
      await until(() => /draining|not ready/i.test(impatient.stderr()))
      impatient.kill('SIGTERM')
      assert.deepEqual(await impatient.exit, { code: null, signal: 'SIGTERM' })
      await assert.rejects(cut.text())
      const others = gateways.slice(1)
      assert.deepEqual(
        await Promise.all(others.map((one) => one.stop())),
        others.map(() => ENDED_WELL),
      )
      balancer.close()
    })
})

function* endless(): Generator<string> {
  for (;;) yield 'word '
}

async function drainingOf({ url }: GatewayProcess): Promise<number | undefined> {
  return (await scraped(url)).find(({ name }) => name === 'gazeway_draining')?.value
}
