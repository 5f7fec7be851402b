import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { freePort } from '../doubles/free-port.ts'
import { until } from '../doubles/until.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from './gateway-process.ts'
import { connect, newPlace, type Place } from './server.ts'

const FACT = { key: 'deploy/staging', value: 'uses the eu-west cluster', project: null }
const QUESTION = { query: 'which cluster does staging use' }
const TIMEOUT_MS = 5_000

describe('gazeway --remote on two machines', () => {
  const team = newPlace()
  const [ann, ben] = [machine(), machine()]
  let remote: GatewayProcess
  let url = ''
  let start: () => Promise<GatewayProcess>
  before(async () => {
    const port = String(await freePort())
    const args = ['--platform', '--platform-port', port, '--upstream', 'sandbox']
    start = async () => {
      const started = await startGatewayProcess(team, { args })
      url = await platformOf(started)
      return started
    }
    remote = await start()
  })
  after(() => remote.stop())

  const toolsOf = (place: Place) =>
    connect(place, {
      args: ['--remote', url],
      env: {
        GAZEWAY_REMOTE_KEY: remote.key,
        GAZEWAY_UPSTREAM: `${remote.url}/v1`,
        GAZEWAY_UPSTREAM_API_KEY: remote.key,
      },
    })

  it('stores there what the other finds, in memories and in the work context', async () => {
    const [{ call: atAnn }, { call: atBen }] = [await toolsOf(ann), await toolsOf(ben)]
    const stored = await atAnn('gateway_memory_store', FACT)
    assert.equal(stored.structuredContent?.created, true, stored.content[0]?.text)
    const { results, notice } = (await atBen('gateway_memory_search', QUESTION)).structuredContent
    assert.deepEqual([results[0].memory.key, results[0].weak], [FACT.key, false])
    assert.doesNotMatch(notice, /copy/)
    const { memories } = (await atBen('gateway_get_context', QUESTION)).structuredContent
    assert.equal(memories[0].key, FACT.key)
  })

  it('shows the calls of the other in the audit trail', async () => {
    const [{ call: atAnn }, { call: atBen }] = [await toolsOf(ann), await toolsOf(ben)]
    const messages = [{ role: 'user', content: 'Hello.' }]
    const answered = await atAnn('gateway_chat_completion', { messages })
    assert.notEqual(answered.isError, true, answered.content[0]?.text)
    const trail = await until(async () => {
      const { total } = (await atBen('gateway_upstream_api_history', {})).structuredContent
      return total === 1
    })
    assert.ok(trail)
  })

  it('reads its last copy and says so while the remote is stopped, also after a start of its own', async () => {
    const { client, call } = await toolsOf(ben)
    await call('gateway_memory_search', QUESTION)
    await until(() => existsSync(join(ben.data, 'remote')) && readdirSync(join(ben.data, 'remote')).length === 1)
    await remote.stop()
    for (const ask of [call, (await toolsOf(ben)).call]) {
      const found = (await ask('gateway_memory_search', QUESTION)).structuredContent
      assert.equal(found.results[0].memory.key, FACT.key)
      assert.match(found.notice, /cannot be reached.* from the copy of 20.*nothing can be stored now/)
      const refused = await ask('gateway_memory_store', { key: 'a', value: 'b' })
      assert.match(refused.content[0]?.text ?? '', /^upstream_unreachable: /)
      assert.match((await ask('gateway_upstream_api_history', {})).content[0]?.text ?? '', /^upstream_unreachable: /)
    }
    remote = await start()
    const stored = await call('gateway_memory_store', { key: 'a', value: 'b', project: null })
    assert.equal(stored.structuredContent?.created, true, stored.content[0]?.text)
    assert.doesNotMatch((await call('gateway_memory_search', QUESTION)).structuredContent.notice, /copy/)
    await client.close()
  })

  it('reads its last copy after remote.timeout_ms while the remote does not answer', async () => {
    const { call } = await toolsOf(ben)
    await call('gateway_memory_search', QUESTION)
    process.kill(remote.pid, 'SIGSTOP')
    try {
      const began = performance.now()
      const { results, notice } = (await call('gateway_memory_search', QUESTION)).structuredContent
      assert.equal(results[0].memory.key, FACT.key)
      assert.match(notice, /did not answer within 5 s.* from the copy of 20/)
      await call('gateway_memory_recall', { key: FACT.key })
      const tookMs = performance.now() - began
      assert.ok(tookMs < 3 * TIMEOUT_MS, `the second read does not ask it: ${tookMs} ms`)
    } finally {
      process.kill(remote.pid, 'SIGCONT')
    }
    assert.equal((await call('gateway_memory_store', { ...FACT, value: 'moved' })).structuredContent.created, false)
  })
})

/** A machine whose Gazeway waits shortly for its remote. */
function machine(): Place {
  const place = newPlace({ withoutStore: true })
  mkdirSync(place.data, { mode: 0o700 })
  const settings = { remote: { timeout_ms: TIMEOUT_MS } }
  writeFileSync(join(place.data, 'config.json'), JSON.stringify(settings), { mode: 0o600 })
  return place
}
