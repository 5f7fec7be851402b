import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { CLI, newPlace } from './server.ts'

/** Highest resident memory of a process, in bytes. Linux only. */
const peakOf = (pid: number) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? assert.fail('no VmHWM')) * 1024

describe('64 bodies of 30 MB at once', { skip: process.platform !== 'linux' && 'needs /proc' }, () => {
  it('are refused beyond half of the total, within 1 GiB of memory, while another key is served', async (t) => {
    const upstream = await double.startUpstream()
    t.after(() => upstream.close())
    const waiting: (() => void)[] = []
    upstream.on('/chat/completions', async (response, entry) => {
      if (entry.bytes.length > 30_000_000) await new Promise<void>((resolve) => waiting.push(resolve))
      return double.json(200, double.completion('Hi.'))(response, entry)
    })
    const place = newPlace()
    const gateway = await startGatewayProcess(place, { args: ['--upstream', upstream.url] })
    t.after(() => gateway.stop())
    const create = [CLI, 'key', 'create', '--name', 'other', '--scope', 'inference']
    const other = execFileSync(process.execPath, create, { cwd: place.project, env: place.env }).toString().trim()
    async function ask(body: Buffer, key = gateway.key): Promise<number> {
      const headers = {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'content-length': body.length,
      }
      const sent = request(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, agent: false })
      // A refused body is cut off.
      sent.on('socket', (socket) => socket.on('error', () => {}))
      sent.on('error', () => {})
      sent.end(body)
      const [reply] = (await once(sent, 'response')) as [IncomingMessage]
      reply.resume()
      return reply.statusCode ?? 0
    }
    const chat = (content: string) => Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] }))
    const large = chat('x'.repeat(30_000_000))
    const small = chat('x'.repeat(2000))

    const statuses: number[] = []
    const asked = Array.from({ length: 64 }, () => ask(large).then((status) => statuses.push(status)))
    assert.equal(await ask(small, other), 200, 'another key is served meanwhile')
    await until(() => statuses.length + waiting.length >= 64, { what: 'the answers to 64 bodies', seconds: 60 })
    assert.deepEqual(new Set(statuses), new Set([503]))
    assert.ok(waiting.length > 0 && waiting.length <= 2, `${waiting.length} calls are held`)
    assert.equal(await ask(small), 200, 'and the small requests of the same key')
    const held = waiting.length
    const others = ask(large, other)
    await until(() => waiting.length > held)
    for (const answer of waiting) answer()
    assert.equal(await others, 200)
    await Promise.all(asked)

    const objects = Buffer.from(`{"messages":[],"metadata":[${'{},'.repeat(10_000_000)}{}]}`)
    const dense = await Promise.all([1, 2, 3, 4].map(() => ask(objects)))
    assert.ok(
      dense.every((status) => status === 413 || status === 503),
      `too large once parsed, or one too many: ${dense}`,
    )
    const peak = peakOf(gateway.pid)
    assert.ok(peak < 1024 ** 3, `${Math.round(peak / 1024 ** 2)} MiB`)
  })
})

describe('a body that comes byte by byte', { skip: process.platform !== 'linux' && 'needs /proc' }, () => {
  it('takes no memory for each of its chunks', async (t) => {
    const gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', 'sandbox'] })
    t.after(() => gateway.stop())
    const before = peakOf(gateway.pid)
    const client = connect(Number(new URL(gateway.url).port), '127.0.0.1')
    const reply = text(client)
    const headers = [`authorization: Bearer ${gateway.key}`, 'content-type: application/json', 'host: 127.0.0.1']
    const chunked = [...headers, 'transfer-encoding: chunked', 'connection: close']
    client.write(`POST /v1/chat/completions HTTP/1.1\r\n${chunked.join('\r\n')}\r\n\r\n`)
    const spaces = Buffer.from('1\r\n \r\n'.repeat(100_000))
    for (let sent = 0; sent < 3_000_000; sent += 100_000) if (!client.write(spaces)) await once(client, 'drain')
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }] })
    client.write(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
    assert.match(await reply, /^HTTP\/1\.1 200/)
    const taken = peakOf(gateway.pid) - before
    assert.ok(taken < 256 * 1024 ** 2, `${Math.round(taken / 1024 ** 2)} MiB`)
  })
})
