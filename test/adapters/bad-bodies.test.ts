import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const MIB = 1024 ** 2
const ASKED = '"model":"alias","max_tokens":5,"messages":[{"role":"user","content":"x"}]'
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

/** Bodies at the limits, each with what its client gets. A chat that passes has its bytes, but for the model. */
const CASES = [
  ['of one string of 31 MB', `"x":"${'a'.repeat(31 * MIB)}"`, 200, null],
  ['of a million numbers', `"x":[${'12345,'.repeat(1_000_000)}0]`, 200, null],
  ['of depth 10,000', `"x":${nested(10_000)}`, 200, null],
  ['of 33 MB', `"x":"${'a'.repeat(33 * MIB)}"`, 413, 'payload_too_large'],
  ['of two million objects', `"x":[${'{},'.repeat(2_000_000)}{}]`, 413, 'payload_too_large'],
  ['of 2 MB that breaks off', `"x":[${'12345,'.repeat(400_000)}`, 400, 'invalid_json'],
  ['of 2 MB that is not UTF-8', `"x":"${'a'.repeat(2 * MIB)}\u00ff"`, 400, 'invalid_json'],
  ['of 20,000 messages', `"messages":[${'{"role":"user","content":"x"},'.repeat(20_000)}{}]`, 422, 'validation_failed'],
] as const

describe('a body', () => {
  let upstream: double.UpstreamDouble
  let running: RunningGateway
  before(async () => {
    upstream = await double.startUpstream()
    upstream.on('/chat/completions', double.json(200, double.completion('Hi.')))
    running = await startGateway(upstream.url, {}, { upstream: { aliases: { alias: 'real' } } })
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  for (const [what, field, status, code] of CASES)
    it(`${what} gets ${code ?? 'its answer'}`, async () => {
      const body = Buffer.from(`{${ASKED}, ${field} }`, what.endsWith('UTF-8') ? 'latin1' : 'utf8')
      const response = await fetch(`${running.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
        body,
      })
      const { error = null } = (await response.json()) as { error?: { code: string } | null }
      assert.deepEqual([response.status, error?.code ?? null], [status, code])
      const sent = upstream.received.splice(0)[0]
      if (status === 200) assert.ok(sent?.text === body.toString().replace('"alias"', '"real"'))
      else assert.equal(sent, undefined)
    })
})
