import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { type RunningGateway, startGateway } from '../adapters/gateway.ts'
import { freePort } from '../doubles/free-port.ts'
import * as double from '../doubles/upstream.ts'

const CALLS = 2000
const AT_ONCE = 50
/** Every so many streams the slow upstream breaks off after its first output. */
const BREAKS = 16

/** A call as an upstream saw it. */
interface Seen {
  upstream: string
  begun: boolean
}

describe('of three upstreams one refuses, one hangs and one is slow', { timeout: 300_000 }, () => {
  let hanging: double.UpstreamDouble
  let slow: double.UpstreamDouble
  let running: RunningGateway
  /** By the number of the call, which its message names. */
  const seen = new Map<number, Seen[]>()

  before(async () => {
    hanging = await double.startUpstream()
    slow = await double.startUpstream()
    hanging.on('/chat/completions', (_, request) => void see(request, 'hanging'))
    slow.on('/chat/completions', async (response, request) => {
      const call = see(request, 'slow')
      await delay(5 + Math.random() * 20)
      call.seen.begun = true
      if (!call.stream) return double.json(200, double.completion('Hello.'))(response, request)
      const isBroken = call.number % BREAKS === 1
      const events = double.chunks(['Hello.'])
      return double.sse(isBroken ? events.slice(0, 2) : events, isBroken ? 'break' : 'done')(response, request)
    })
    running = await startGateway(
      'sandbox',
      {},
      {
        upstreams: {
          refusing: { provider: `http://127.0.0.1:${await freePort()}/v1` },
          hanging: { provider: hanging.url, first_byte_timeout_ms: 200 },
          slow: { provider: slow.url },
        },
        routes: [
          { model: 'in-order', to: ['refusing', 'hanging', 'slow'] },
          { model: 'drawn', to: ['refusing', 'hanging', 'slow'], strategy: 'weighted' },
        ],
      },
    )
  })
  after(async () => {
    await running.close()
    await hanging.close()
    await slow.close()
  })

  function see({ body }: double.Received, upstream: string) {
    const { messages, stream } = body as { messages: { content: string }[]; stream?: boolean }
    const number = Number(messages[0]?.content)
    const entry = { upstream, begun: false }
    seen.set(number, [...(seen.get(number) ?? []), entry])
    return { number, stream: stream === true, seen: entry }
  }

  async function call(number: number): Promise<{ status: number; text: string; upstream: string | null }> {
    const stream = number % 2 === 1
    const model = number % 4 < 2 ? 'in-order' : 'drawn'
    const reply = await fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${running.key}` },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: String(number) }] }),
    })
    return { status: reply.status, text: await reply.text(), upstream: reply.headers.get('x-gazeway-upstream') }
  }

  it(`${CALLS} calls: none fails that a candidate could have answered, and none is asked of another once it was begun`, async () => {
    let next = 0
    const faults: string[] = []
    const broken = (number: number) => number % 2 === 1 && number % BREAKS === 1
    async function work(): Promise<void> {
      for (let number = next++; number < CALLS; number = next++) {
        const { status, text, upstream } = await call(number)
        const isWhole = number % 2 === 1 ? text.endsWith('data: [DONE]\n\n') : text.includes('"Hello."')
        if (status !== 200 || upstream !== 'slow' || isWhole === broken(number))
          faults.push(`${number}: ${status} of ${upstream}: ${text.slice(0, 200)}`)
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    assert.deepEqual(faults.slice(0, 5), [])
    for (let number = 0; number < CALLS; number++) {
      const asked = seen.get(number) ?? []
      const begun = asked.findIndex((one) => one.begun)
      assert.equal(begun, asked.length - 1, `call ${number}: ${JSON.stringify(asked)}`)
      assert.equal(asked.filter(({ upstream }) => upstream === 'slow').length, 1)
    }
    assert.ok(
      hanging.received.length > 0 && hanging.received.length < CALLS / 2,
      'the circuit of the one that hangs opens after a while',
    )
    await running.gateway.calls.flush()
    const { totals } = await running.gateway.calls.stats({})
    assert.ok(totals.calls > CALLS, 'each attempt is a record')
  })
})
