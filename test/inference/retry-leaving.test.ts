import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { withRetries } from '../../src/inference/attempt/retry.ts'
import { signalClient } from '../../src/inference/client/signal-client.ts'
import { webReceiver } from '../../src/inference/client/web-receiver.ts'
import { createLateReads, lateReceiver } from '../../src/inference/relay/abandoned-reads.ts'
import type { Relay } from '../../src/inference/relay/relay.ts'
import { createRelays } from '../../src/inference/relay/relays.ts'
import { poolSend, type RequestPool } from '../../src/inference/relay/request-pool.ts'
import { upstreamAt } from '../doubles/routing.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'

let server: double.UpstreamDouble
let pool: RequestPool
let relay: Relay
before(async () => {
  server = await double.startUpstream()
  const one = upstreamAt(server.url, { timeout_ms: 5000 })
  pool = poolSend(one.provider, 5000)
  relay = createRelays(one, pool.send).all[0]
})
after(async () => {
  await pool.close()
  await server.close()
})

/** A call whose answer is read on for a budget once its client has left. */
function readOn(client: AbortController) {
  const receiver = webReceiver(signalClient(client.signal), relay.provider, () => {})
  return lateReceiver(receiver, { reads: createLateReads(), forMs: null, overtakenForMs: 0 })
}

for (const [what, behaviour] of [
  ['the connection was lost', double.drops],
  ['the provider asked to wait', double.fails(429, { 'retry-after-ms': '300' })],
] as const)
  it(`a request is not sent again where ${what} and its client has left in the pause`, async () => {
    const answers = double.json(200, double.completion('Hello.'))
    server.on('/chat/completions', behaviour, answers)
    const client = new AbortController()
    const late = readOn(client)
    const before = server.received.length
    let isPausing = false
    const call = withRetries(
      2,
      late,
      () =>
        relay.open('/chat/completions', { body: '{}', stream: false }, late).finally(() => {
          isPausing = true
        }),
      () => assert.fail('sent again'),
    ).then(
      ({ status }) => status,
      (error: Error) => error.message,
    )
    await until(() => isPausing)
    client.abort()
    assert.equal(await call, behaviour === double.drops ? 'The client has disconnected.' : 429)
    assert.equal(server.received.length, before + 1)
  })
