import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startGatewayProcess, startProvider } from '../e2e/gateway-process.ts'
import { newPlace } from '../e2e/server.ts'
import { openSockets, residentMb, socketsDownTo } from './process.ts'
import { beBusy, sendTraffic } from './traffic.ts'

const CONNECTIONS = 24
const WARM_UP_MS = 20_000
const SOAK_MS = 60_000
/** Kept-alive connections to the upstream are closed after 4 s without use. */
const IDLE_MS = 10_000
const GROWTH = 1.1

it('holds its memory and its sockets through a minute of all kinds of requests', { timeout: 180_000 }, async () => {
  const upstream = await startProvider()
  beBusy(upstream)
  const gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', upstream.url] })
  const sockets = openSockets(gateway.pid)

  const load = async (durationMs: number) => {
    const { wrong, ...counts } = await sendTraffic(gateway, { connections: CONNECTIONS, durationMs })
    assert.deepEqual(wrong, [])
    const open = await socketsDownTo(gateway.pid, sockets, IDLE_MS)
    return { ...counts, open, resident: Math.round(residentMb(gateway.pid)) }
  }
  const warm = await load(WARM_UP_MS)
  const end = await load(SOAK_MS)
  console.log({ warm, end, growth: Number((end.resident / warm.resident).toFixed(3)) })
  assert.equal(end.open, sockets, 'no socket is left')
  assert.ok(end.aborted > 0)
  assert.ok(end.resident <= warm.resident * GROWTH, `${warm.resident} MB became ${end.resident} MB`)
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })
  await upstream.close()
})
