import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { CallListener } from '../../src/calls/calls.ts'
import { createLiveness } from '../../src/inference/liveness.ts'
import { createProvider } from '../../src/inference/provider.ts'
import * as double from '../doubles/upstream.ts'

describe('whether the provider of models answers', () => {
  let upstream: double.UpstreamDouble
  let at = 0
  let told: CallListener = () => {}
  beforeEach(async () => {
    upstream = await double.startUpstream()
    at = 0
  })
  afterEach(() => upstream.close())

  function watch(url = upstream.url, apiKey: string | null = 'a-key-of-the-tests', provider = url) {
    const present = createProvider({
      provider,
      api_key: apiKey,
      headers: {},
      aliases: {},
      models: { primary: 'a', fallback: 'b', chat: 'c' },
      timeout_ms: 1000,
      max_retries: 0,
    })
    const listen = (listener: CallListener) => {
      told = listener
      return () => {}
    }
    return createLiveness({ provider: () => present, calls: { listen }, elapsedMs: () => at })
  }
  const asked = () => upstream.received.length
  const call = (status: string, http_status: number | null) => told({ status, http_status } as never, {} as never)

  it('is asked at most every 30 s, with its key', async () => {
    upstream.on('/models', double.json(200, { data: [] }))
    const { current } = watch()
    for (let i = 0; i < 5; i++) assert.equal(await current(), true)
    assert.equal(asked(), 1)
    assert.equal(upstream.received[0]?.headers.authorization, 'Bearer a-key-of-the-tests')
    at = 29_999
    await current()
    assert.equal(asked(), 1)
    at = 30_000
    await current()
    while (asked() < 2) await new Promise((resolve) => setImmediate(resolve))
  })

  for (const [what, behaviour, answers] of [
    ['has no list of models', double.fails(404), true],
    ['limits requests', double.fails(429), true],
    ['fails', double.fails(500), false],
    ['refuses the key', double.fails(401), false],
    ['drops the connection', double.drops, false],
  ] as const)
    it(`is ${answers} where it ${what}`, async () => {
      upstream.on('/models', behaviour)
      assert.equal(await watch().current(), answers)
    })

  it('is told by the calls that are made anyway', async () => {
    upstream.on('/models', double.json(200, { data: [] }))
    const { current } = watch()
    call('ok', 200)
    assert.equal(await current(), true)
    call('error', null)
    assert.equal(await current(), false)
    call('error', 400)
    call('aborted', null)
    assert.equal(await current(), false)
    call('ok', 200)
    assert.equal(await current(), true)
    assert.equal(asked(), 0)
  })

  it('is not known without a key, and true for the sandbox', async () => {
    assert.equal(await watch('', null, 'xai').current(), null)
    assert.equal(await watch('', null, 'sandbox').current(), true)
    assert.equal(asked(), 0)
  })
})
