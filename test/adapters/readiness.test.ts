import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Hono } from 'hono'
import type { Frame } from '../../adapters/web/frame-context.ts'
import { probes } from '../../adapters/web/probes.ts'
import { createReadiness } from '../../adapters/web/readiness.ts'

/** The probes of a process whose store answers as `store` says. */
function probed(store: { ok: boolean }) {
  let checks = 0
  const readiness = createReadiness({
    async check() {
      checks += 1
      await new Promise((resolve) => setImmediate(resolve))
      return store.ok
    },
  })
  const app = new Hono<Frame>()
  probes(app, readiness)
  const ask = async (path: string) => {
    const reply = await app.request(path)
    return [reply.status, await reply.json()]
  }
  return { readiness, ask, checks: () => checks }
}

const READY = [200, { status: 'ready' }]
const unready = (reason: string) => [503, { status: 'unready', reason }]

describe('GET /readyz', () => {
  it('is 503 until every service listens, and from the begin of a stop on, while /livez is 200', async () => {
    const { readiness, ask } = probed({ ok: true })
    assert.deepEqual(await ask('/readyz'), unready('starting'))
    readiness.open()
    assert.deepEqual(await ask('/readyz'), READY)
    const asked = ask('/readyz')
    readiness.drain()
    assert.deepEqual(await asked, unready('draining'), 'also for a stop that begins during the check')
    readiness.open()
    assert.deepEqual([await ask('/readyz'), await ask('/livez')], [unready('draining'), [200, { status: 'ok' }]])
  })

  it('is 503 while the store does not answer', async () => {
    const store = { ok: false }
    const { readiness, ask } = probed(store)
    readiness.open()
    assert.deepEqual(await ask('/readyz'), unready('store_unavailable'))
    store.ok = true
    assert.deepEqual(await ask('/readyz'), READY)
  })

  it('shares one check of the store among those who ask at once', async () => {
    const { readiness, ask, checks } = probed({ ok: true })
    readiness.open()
    for (let round = 1; round <= 2; round++) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => ask('/readyz')))
      assert.deepEqual(replies, Array(20).fill(READY))
      assert.equal(checks(), round)
    }
  })

  it('is what tells whether anybody looks at the readiness', async () => {
    const { readiness, ask } = probed({ ok: true })
    await ask('/livez')
    assert.equal(readiness.isWatched(), false)
    await ask('/readyz')
    assert.equal(readiness.isWatched(), true)
  })
})
