import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startGatewayProcess } from './gateway-process.ts'
import { newPlace } from './server.ts'

/** Longer than V8 by itself waits, after memory has grown, until it collects everything. */
const REST_MS = 10_000

it('a service that rests keeps the code that was compiled', async () => {
  const gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', 'sandbox'], flags: ['--trace-gc'] })
  await delay(REST_MS)
  await gateway.stop()
  const collections: string[] = gateway.stdout().match(/Scavenge|Mark-Compact( \(reduce\))?/g) ?? []
  assert.ok(collections.includes('Scavenge'), 'it is told of collections')
  assert.ok(!collections.includes('Mark-Compact (reduce)'), gateway.stdout())
})
