import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { openSpanExport } from '../../adapters/http/span-export.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { until } from '../doubles/until.ts'
import { ask, startPlatform } from './platform.ts'

const LONG = 1024 * 1024
/** Megabytes of contents that may wait. */
const MOST = 32

it('keeps a bounded part of the contents of calls while the collector is slow, and all again when it takes them', async (t) => {
  const running = await startPlatform('sandbox', { document: { audit: { store_content: true } } })
  const bodies: string[] = []
  let answer: (() => void) | null = () => {}
  const waiting: (() => void)[] = []
  const collector = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    bodies.push(text)
    if (answer === null) response.end('{}')
    else waiting.push(() => response.end('{}'))
  }).listen(0, '127.0.0.1')
  t.after(() => collector.close().closeAllConnections())
  await until(() => collector.listening)
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`
  process.env.OTEL_BSP_SCHEDULE_DELAY = '20'
  const spans = openSpanExport({ url, upstream: running.gateway.upstream, log: running.gateway.log })
  delete process.env.OTEL_BSP_SCHEDULE_DELAY
  try {
    const body = { messages: [{ role: 'user', content: 'Hello.' }] }
    await ask(running, 'POST', '/v1/chat/completions', { body })
    const record = await until(async () => (await running.gateway.calls.history({ limit: 1 })).items[0] ?? null)
    const add = (i: number) => {
      const content = {
        request: { messages: [{ role: 'user', content: `long-${i} `.padEnd(LONG, 'x') }] },
        answer: 'ok',
      }
      spans.add({ ...record, call_id: `call_${i}`, content } as CallRecord, undefined)
    }
    for (let i = 0; i < 2 * MOST; i++) add(i)
    await until(() => waiting.length)
    answer = null
    for (const end of waiting) end()
    const sent = () => bodies.join('')
    await until(() => sent().includes(`call_${2 * MOST - 1}"`))
    assert.equal(sent().match(/long-\d+ /g)?.length, MOST - 1)
    let more = 1000
    await until(async () => {
      add(more++)
      await delay(50)
      return /long-1\d{3} /.test(sent())
    })
  } finally {
    await spans.close()
    await running.close()
  }
})
