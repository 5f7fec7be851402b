import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { freePort } from '../doubles/free-port.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { ask, type RunningPlatform, startPlatform } from './platform.ts'

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
type Json = Record<string, any>

describe('the health of both services', () => {
  let running: RunningPlatform
  let address: string
  before(async () => {
    address = `http://127.0.0.1:${await freePort()}/v1`
    running = await startPlatform(address, { document: { upstream: { max_retries: 0 } } })
  })
  after(() => running.close())

  const gateway = async () => (await (await fetch(`${running.gatewayUrl}/health`)).json()) as Json
  const platform = async () => (await (await ask(running, 'GET', '/health', { key: null })).json()) as Json
  const chat = () =>
    running.gateway.upstream.chat(
      { messages: [{ role: 'user', content: 'Hello?' }] },
      { surface: 'stdio', callerId: null },
    )

  it('is degraded while the provider of models is dead, and ok once a call is answered', async () => {
    await until(async () => (await platform()).upstream.checked_at !== null)
    const { status, upstream } = await gateway()
    assert.deepEqual([status, upstream.configured, upstream.reachable], ['degraded', true, false])
    const dead = await platform()
    assert.deepEqual([dead.status, dead.provider.reachable, dead.upstream.reachable], ['degraded', false, true])
    await assert.rejects(chat(), { code: 'upstream_unreachable' })

    const provider = await double.startUpstream(undefined, Number(new URL(address).port))
    provider.on('/chat/completions', double.json(200, double.completion('Hello.')))
    await chat()
    assert.deepEqual([(await gateway()).status, (await platform()).status], ['ok', 'ok'])
    await provider.close()
    await assert.rejects(chat(), { code: 'upstream_unreachable' })
    assert.deepEqual([(await gateway()).status, (await platform()).status], ['degraded', 'degraded'])
  })
})
