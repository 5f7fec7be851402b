import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startGatewayProcess, startProvider } from '../e2e/gateway-process.ts'
import { newPlace } from '../e2e/server.ts'
import { openSockets, socketsDownTo } from '../soak/process.ts'
import { beBusy, sendTraffic } from '../soak/traffic.ts'

/** Kept-alive connections to the upstream are closed after 4 s without use. */
const IDLE_MS = 15_000

it('answers all kinds of requests among clients that go away, and leaves no socket open', async () => {
  const upstream = await startProvider()
  beBusy(upstream)
  const gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', upstream.url] })
  const sockets = openSockets(gateway.pid)
  let [answered, aborted] = [0, 0]
  while (answered <= 100 || aborted <= 10) {
    const sent = await sendTraffic(gateway, { connections: 24, durationMs: 3000 })
    assert.deepEqual(sent.wrong, [])
    answered += sent.answered
    aborted += sent.aborted
  }
  assert.equal(await socketsDownTo(gateway.pid, sockets, IDLE_MS), sockets)
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  await upstream.close()
})
