import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { Hono } from 'hono'
import { paymentGate } from '../../adapters/platform/payments/payment-gate.ts'
import { createProxy, type Passage } from '../../adapters/platform/proxy/proxy.ts'
import { clientAddresses } from '../../adapters/web/client-address.ts'
import { errorHandler } from '../../adapters/web/error-handler.ts'
import type { Frame } from '../../adapters/web/frame-context.ts'
import { readBytes } from '../../adapters/web/json-body.ts'
import { type Listening, serve } from '../../adapters/web/serve.ts'
import { createLog } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { responseEvents } from '../../src/inference/convert/response-events.ts'
import type { Taken } from '../../src/payments/payment.ts'
import { createPayments, type Payments } from '../../src/payments/payments.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import type { SilenceWatch } from '../../src/wire/idle-watch.ts'
import { messageStream, named } from '../doubles/anthropic.ts'
import * as double from '../doubles/upstream.ts'
import { ask, type Path } from '../matrix/clients.ts'

const PATHS = { M: '/messages', R: '/responses', C: '/chat/completions' } as const
const BODIES: Readonly<Record<Path, object>> = {
  M: { max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
  R: { input: 'Hello' },
  C: { messages: [{ role: 'user', content: 'Hello' }] },
}
const PAYMENT = { id: 'one', method: 'evm', payer: '0x1', caller: '0x1', account: null, amount: 1000 }

const folder = mkdtempSync(join(tmpdir(), 'gazeway-payments-'))
let agent: double.UpstreamDouble
let store: Store
let proxy: Passage
let listening: Listening
/** Settles on a chain: the client hears something twice meanwhile. */
let settle: () => Promise<Taken>
let outcomes = new Set<string>()
/** Clients that wait, and what tells each to hear something. */
const waiting = new Set<() => void>()
const began = new EventEmitter<{ wait: [] }>()
const heartbeat: SilenceWatch = {
  begin(onSilence) {
    waiting.add(onSilence)
    setImmediate(() => began.emit('wait'))
    return { heardAt: 0, place: 0, onSilence }
  },
  heard() {},
  end: ({ onSilence }) => void waiting.delete(onSilence),
}

before(async () => {
  agent = await double.startUpstream()
  store = await openStore(`sqlite:${join(folder, 'gazeway.db')}`)
  const limit = { bytes: 1_000_000, setting: 'http.max_body_bytes', buffered: null, callerId: null }
  const forbidden = () => assert.fail('A paid request is passed on as it is.')
  proxy = createProxy({
    target: { url: agent.url.replace(/\/v1$/, ''), isOwn: true, admit: () => null },
    callAgentGateway: forbidden,
    objects: { requireOwn: forbidden },
    bodyLimit: () => limit,
    connectTimeoutMs: 5000,
    timeoutMs: 30_000,
    stopping: new AbortController().signal,
  } as never)
  const payments: Payments = {
    ...createPayments({
      ...{ store, now: () => new Date(), methods: [], credit: async () => {} },
      ...{ onError: (error) => assert.fail(String(error)), onFailed() {}, onSpent() {} },
    }),
    charge: async () => null,
    take: () => settle(),
    confirm: async () => true,
    isHeld: () => true,
    served: async () => outcomes.add('served').size > 0,
    credit: async () => void outcomes.add('credited'),
  }
  const app = new Hono<Frame>()
  const log = createLog({ level: 'silent', secrets: () => [] })
  app.onError(errorHandler(log, () => {}))
  app.use(async (c, next) => {
    c.set('requestId', 'req_1')
    await next()
  })
  const check = async (c: Parameters<typeof proxy.handle>[0]) => c.set('body', await readBytes(c.env.incoming, limit))
  app.use('/v1/*', paymentGate({ payments, price: () => 1000, keyed: async () => null, check, heartbeat }))
  app.all('/v1/*', proxy.handle)
  listening = await serve(app, {
    ...{ host: '127.0.0.1', port: 0, flag: '--platform-port', addresses: clientAddresses([]), log },
    ...{ headerTimeoutMs: 10_000, requestTimeoutMs: 60_000, keepAliveMs: 75_000, drainMs: () => 10_000 },
  })
})
after(async () => {
  await listening.stop()
  await proxy.close()
  await agent.close()
  await store.close()
  rmSync(folder, { recursive: true })
})

async function heardTwice(): Promise<void> {
  if (waiting.size === 0) await once(began, 'wait')
  for (const hear of [...waiting, ...waiting]) hear()
}
const asking = (path: Path) => {
  outcomes = new Set()
  return ask(path, { ...BODIES[path], model: 'm', stream: true }, { url: listening.url, key: 'any', headers: {} })
}

for (const path of ['M', 'R', 'C'] as const)
  it(`a paid stream of ${PATHS[path]} gets heartbeats while its payment settles, and then the answer or the reason for none`, async () => {
    settle = async () => {
      await heardTwice()
      return { payment: PAYMENT, receipt: 'a-receipt' }
    }
    const events = {
      M: named(messageStream(['Hel', 'lo'])),
      R: double.sse([...responseEvents(double.response('Hello'))], 'none'),
    }
    agent.on(PATHS[path], path === 'C' ? double.sse(double.chunks(['Hel', 'lo'])) : events[path])
    const answered = await asking(path)
    assert.deepEqual([answered.said?.text, answered.status, [...outcomes]], ['Hello', 200, ['served']], answered.reason)

    const body = JSON.stringify({ ...BODIES[path], model: 'm', stream: true })
    const plain = await fetch(`${listening.url}/v1${PATHS[path]}`, { method: 'POST', body })
    assert.match(await plain.text(), /^(?:: keepalive\n\n|event: ping\n.*\n\n){2,}: payment-receipt=a-receipt\n\n/)

    agent.on(PATHS[path], double.json(429, { error: { message: 'Slow down.', type: 'rate_limit_error' } }))
    const refused = await asking(path)
    assert.deepEqual([refused.said, refused.status, [...outcomes]], [null, 200, ['credited']])
    assert.match(refused.reason, /Slow down/)

    settle = async () => {
      await heardTwice()
      throw new GazewayError('payment_required', 'The chain did not take the payment.')
    }
    const unpaid = await asking(path)
    assert.deepEqual([unpaid.said, unpaid.status, [...outcomes]], [null, 200, []])
    assert.match(unpaid.reason, /did not take the payment/)
    assert.equal(waiting.size, 0)
  })

it('a paid stream ends with an error, and its payment is credited, where a whole reply without an end follows its head', async () => {
  settle = async () => {
    await heardTwice()
    return { payment: PAYMENT, receipt: 'a-receipt' }
  }
  const piece = Buffer.alloc(4 * 1024 * 1024, '[')
  const left = new Promise((resolve) => {
    agent.on(PATHS.C, (response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).once('close', resolve)
      const send = () => {
        while (!response.destroyed && response.write(piece));
      }
      response.on('drain', send)
      send()
    })
  })
  const endless = await asking('C')
  assert.match(endless.reason, /its reply is larger than 67108864 bytes/)
  await left
  assert.deepEqual([endless.said, [...outcomes]], [null, ['credited']])
})
