import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import * as double from '../doubles/upstream.ts'
import { connect, newPlace, type Place, spawnServer } from './server.ts'

const ASK = { messages: [{ role: 'user', content: 'Count.' }] }
/** Time that a client waits before it kills the server, with room for a busy machine. */
const SOON_MS = 8000
/** Longer than a server waits for its next answer once stdin is closed. */
const ASLEEP_MS = 5000

describe('the end of a server', () => {
  let upstream: double.UpstreamDouble
  let place: Place
  before(async () => {
    upstream = await double.startUpstream()
    upstream.on('/chat/completions', double.hangs)
  })
  beforeEach(() => {
    place = newPlace()
    upstream.received.splice(0)
  })
  after(() => upstream.close())

  /** A server in the middle of a call that never ends. */
  async function busy() {
    const server = spawnServer(place, { env: { GAZEWAY_UPSTREAM: upstream.url } })
    await server.initialize()
    const asked = new Promise<void>((resolve) => {
      upstream.on('/chat/completions', () => resolve())
    })
    server.callTool('busy', 'gateway_chat_completion', { ...ASK, model: 'double-chat' })
    await asked
    return server
  }

  /** Call records in the store, as the next server reads them. */
  async function calls() {
    const { call } = await connect(place)
    const { structuredContent } = await call('gateway_upstream_api_history')
    return structuredContent.items.map(({ status, path }: { status: string; path: string }) => [status, path])
  }

  const stopped: Record<string, (server: ReturnType<typeof spawnServer>) => void> = {
    SIGINT: ({ child }) => child.kill('SIGINT'),
    SIGTERM: ({ child }) => child.kill('SIGTERM'),
    SIGHUP: ({ child }) => child.kill('SIGHUP'),
    'stdin closes and SIGTERM follows at once': ({ child }) => {
      child.stdin.end()
      child.kill('SIGTERM')
    },
  }
  const ends: Record<string, (server: ReturnType<typeof spawnServer>) => void> = {
    'stdin closes': ({ child }) => child.stdin.end(),
    ...stopped,
  }
  for (const [what, end] of Object.entries(ends))
    it(`comes soon after ${what} in the middle of a call, which is recorded`, async () => {
      const server = await busy()
      const began = Date.now()
      end(server)
      assert.deepEqual(await server.exit, { code: what in stopped ? 0 : 1, signal: null })
      assert.ok(Date.now() - began < SOON_MS, `it took ${Date.now() - began} ms`)
      await upstream.received[0]?.aborted
      assert.deepEqual(await calls(), [[what in stopped ? 'error' : 'aborted', '/v1/chat/completions']])
      const lost = 'gazeway: 1 request got no answer before the end, and may not be done: gateway_chat_completion\n'
      assert.equal(server.stderr(), what in stopped ? '' : lost)
      server.assertProtocolOnly()
      if (what in stopped) assert.equal((await server.answer('busy')).result._meta.error.code, 'service_stopping')
    })

  it('comes at once when nothing is under way', async () => {
    for (const end of Object.values(ends)) {
      const server = spawnServer(place, { args: ['--upstream', 'sandbox'] })
      await server.initialize()
      end(server)
      assert.deepEqual(await server.exit, { code: 0, signal: null })
      assert.equal(server.stderr(), '')
    }
  })

  it('comes after the answers to all that was sent before stdin closed', async () => {
    const server = spawnServer(place, { args: ['--upstream', 'sandbox'] })
    await server.initialize()
    server.callTool(1, 'gateway_memory_store', { key: 'last', value: 'words' })
    server.callTool(2, 'gateway_chat_completion', ASK)
    server.write('{"jsonrpc":"2.0","id":3,"method":"ping"}')
    server.child.stdin.end()
    assert.deepEqual(await server.exit, { code: 0, signal: null })
    assert.equal((await server.answer(1)).result.structuredContent.created, true)
    assert.match((await server.answer(2)).result.content[0].text, /sandbox/)
    assert.deepEqual((await server.answer(3)).result, {})
    assert.deepEqual(await calls(), [['ok', '/v1/chat/completions']])
  })

  it('comes after these answers also when the machine sleeps meanwhile', async () => {
    const server = spawnServer(place, { args: ['--upstream', 'sandbox'] })
    await server.initialize()
    server.callTool(1, 'gateway_memory_store', { key: 'last', value: 'words' })
    server.callTool(2, 'gateway_chat_completion', ASK)
    server.child.stdin.end()
    await delay(20)
    server.child.kill('SIGSTOP')
    await delay(ASLEEP_MS)
    server.child.kill('SIGCONT')
    assert.deepEqual(await server.exit, { code: 0, signal: null })
    assert.equal((await server.answer(1)).result.structuredContent.created, true)
    assert.match((await server.answer(2)).result.content[0].text, /sandbox/)
    assert.equal(server.stderr(), '')
  })

  it('comes without a word when there never was a message', async () => {
    const server = spawnServer(place, { args: ['--upstream', 'sandbox'] })
    server.child.stdin.end()
    assert.deepEqual(await server.exit, { code: 0, signal: null })
    assert.equal(server.stdout() + server.stderr(), '')
  })

  it('comes when the client reads no more, and its call is recorded', async () => {
    const server = await busy()
    server.child.stdout.destroy()
    server.send({ id: 1, method: 'ping' }, { id: 2, method: 'ping' })
    assert.deepEqual(await server.exit, { code: 0, signal: null })
    assert.equal(server.stderr(), '', 'and no stack trace')
    assert.deepEqual(await calls(), [['aborted', '/v1/chat/completions']])
  })

  it('comes although its client has stopped to read in the middle of a long answer', async () => {
    const server = spawnServer(place)
    await server.initialize()
    server.child.stdout.pause()
    server.send(...Array.from({ length: 200 }, (_, id) => ({ id, method: 'tools/list' })))
    server.child.stdin.end()
    const [code] = await once(server.child, 'exit')
    assert.equal(code, 0)
    server.child.stdout.resume()
  })

  it('comes although another program keeps the store locked, and says what is not recorded', {
    timeout: 90_000,
  }, async () => {
    const server = spawnServer(place, { args: ['--upstream', 'sandbox'] })
    await server.initialize()
    server.callTool(1, 'gateway_memory_store', { key: 'first', value: 1 })
    await server.answer(1)
    const other = new DatabaseSync(join(place.data, 'gazeway.db'))
    other.exec('begin immediate')
    server.callTool(2, 'gateway_chat_completion', ASK)
    await server.answer(2)
    for (let n = 3; n < 7; n++) server.callTool(n, 'gateway_memory_store', { key: `k${n}`, value: n })
    const began = Date.now()
    server.child.stdin.end()
    assert.deepEqual(await server.exit, { code: 1, signal: null })
    assert.ok(Date.now() - began < 40_000, `it took ${Date.now() - began} ms`)
    assert.match(server.stderr(), /gazeway: 1 of the call records could not be written: /)
    other.close()
  })

  it('does not take what was stored before with it', async () => {
    const server = spawnServer(place)
    await server.initialize()
    for (let n = 0; n < 20; n++) server.callTool(n, 'gateway_memory_store', { key: `k${n}`, value: n })
    // Each: the answers may come in any order.
    for (let n = 0; n < 20; n++) await server.answer(n)
    server.child.kill('SIGKILL')
    await server.exit
    const { call } = await connect(place)
    for (let n = 0; n < 20; n++)
      assert.equal((await call('gateway_memory_recall', { key: `k${n}` })).structuredContent.memory?.value, n)
  })
})
