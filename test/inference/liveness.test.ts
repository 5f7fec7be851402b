import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { CallListener } from '../../src/calls/calls.ts'
import type { Route } from '../../src/inference/route/routing.ts'
import { createLiveness } from '../../src/inference/status/liveness.ts'
import type { NamedUpstream } from '../../src/inference/upstreams/named-upstream.ts'
import { routingTo, upstreamAt } from '../doubles/routing.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'

/** Other upstreams, and routes to them. */
interface Beside {
  others?: readonly NamedUpstream[]
  routes?: readonly Route[]
}

describe('whether the upstreams answer', () => {
  let upstream: double.UpstreamDouble
  let at = 0
  let told: CallListener = () => {}
  let name = ''
  beforeEach(async () => {
    upstream = await double.startUpstream()
    at = 0
  })
  afterEach(() => upstream.close())

  function watch(
    url = upstream.url,
    apiKey: string | null = 'a-key-of-the-tests',
    provider = url,
    { others = [], routes = [] }: Beside = {},
  ) {
    const first = upstreamAt(url, { provider, api_key: apiKey })
    const routing = routingTo(first, others, routes)
    name = first.provider.name
    const listen = (listener: CallListener) => {
      told = listener
      return () => {}
    }
    const { current: all } = createLiveness({ routing: () => routing, calls: { listen }, elapsedMs: () => at })
    return { all, current: async () => (await all()).upstreams[0]?.reachable }
  }
  const asked = () => upstream.received.length
  const call = (status: string, http_status: number | null) =>
    told({ status, http_status, upstream: name } as never, {} as never)

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
    await until(() => asked() >= 2)
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

  it('is derived from regular calls', async () => {
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

  it('is no for a role only where none of its upstreams answers', async () => {
    upstream.on('/models', double.fails(500))
    const dead = await double.startUpstream()
    dead.on('/models', double.drops)
    const others = [
      upstreamAt(dead.url, { id: 'dead' }),
      upstreamAt('sandbox', { id: 'here' }),
      upstreamAt('groq', { id: 'keyless', provider: 'groq', api_key: null }),
    ]
    const routed = (model: string, ...to: string[]): Route => ({ model, to, strategy: 'order' })
    try {
      const { all } = watch(upstream.url, 'a-key-of-the-tests', upstream.url, {
        others,
        routes: [routed('*', 'default', 'dead', 'here')],
      })
      assert.deepEqual(await all(), {
        upstreams: [
          { name: 'default', configured: true, reachable: false },
          { name: 'dead', configured: true, reachable: false },
          { name: 'here', configured: true, reachable: true },
          { name: 'keyless', configured: false, reachable: null },
        ],
        answers: true,
      })
      const none = watch(upstream.url, 'a-key-of-the-tests', upstream.url, {
        others,
        routes: [routed('c', 'default', 'dead'), routed('*', 'here')],
      })
      assert.equal((await none.all()).answers, false, 'nobody answers for the chat role')
    } finally {
      await dead.close()
    }
  })

  it('is not known without a key, and true for the sandbox', async () => {
    assert.equal(await watch('', null, 'xai').current(), null)
    assert.equal(await watch('', null, 'sandbox').current(), true)
    assert.equal(asked(), 0)
  })
})
