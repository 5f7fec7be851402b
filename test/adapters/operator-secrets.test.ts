import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { OpenApi } from '../../adapters/platform/openapi.ts'
import { freePort } from '../doubles/free-port.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

/** Part of all that a customer must not see: addresses of the operator, and what other customers have written. */
const MARK = /marked|127\.0\.0\.1|localhost/i

/** Describes the settings of any Gazeway, with their defaults, and nothing of this one. */
const SETTINGS = '/api/config/keys'

/** Address of the client in its own call records. */
const OWN_ADDRESS = '"address":"127.0.0.1"'

let running: RunningPlatform
let stranger: string
let other: string
let taskIds: string[]
before(async () => {
  const gone = `http://localhost:${await freePort()}`
  running = await startPlatform(`${gone}/marked-base/v1`, {
    document: {
      upstreams: { other: { provider: `${gone}/marked-path`, api_keys: ['marked-secret-key-of-other'] } },
      agent_gateway: { url: `${gone}/marked-agent` },
      alerts: { webhook_url: `${gone}/marked-webhook` },
      chain: { rpc_urls: { 8453: `${gone}/marked-node` } },
      context: { roots: ['/marked-root'] },
    },
  })
  const { key } = await running.gateway.keys.create({
    name: 'marked-key',
    scopes: ['platform'],
    limits: { credit_limit_usd: 10 },
  })
  other = key
  stranger = (await running.gateway.keys.create({ name: 'stranger', scopes: ['platform', 'inference'] })).key
  for (const key of [other, running.admin]) await fill(key)
})
after(() => running.close())

async function made(key: string, path: string, body: object): Promise<Record<string, string>> {
  const reply = await ask(running, 'POST', path, { key, body })
  assert.ok(reply.status < 300, `${path}: ${reply.status} ${await reply.clone().text()}`)
  return (await reply.json()) as Record<string, string>
}

/** Writes one of each record that a key may write, with the mark in it. */
async function fill(key: string): Promise<void> {
  const done = await made(key, '/api/tasks', { title: 'marked task', description: 'marked', reward_usd: 0.01 })
  const { claim_token } = await made(key, `/api/tasks/${done.id}/claim`, { agent: 'marked-agent' })
  await made(key, `/api/tasks/${done.id}/complete`, { agent: 'marked-agent', claim_token, result: 'marked result' })
  const held = await made(key, '/api/tasks', { title: 'marked task', description: 'marked' })
  await made(key, `/api/tasks/${held.id}/claim`, { agent: 'marked-agent' })
  await made(key, '/api/sessions', { title: 'marked session' })
  await made(key, '/api/memory', { key: 'marked', value: 'marked', namespace: 'marked' })
  await made(key, '/api/gaze/store', {
    records: [{ at: new Date().toISOString(), dwell_ms: 300, source: 'manual', env: { path: 'marked.ts' } }],
  })
  await made(key, '/api/connections', { user: 'marked-user', role: 'user' })
  await running.gateway.store.db
    .insertInto('swarms')
    .values({
      id: `swarm_${key.length}${'0'.repeat(30)}`,
      goal: 'marked goal',
      creator: 'key_other',
      created_at: new Date().toISOString(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  taskIds = [done.id ?? '', held.id ?? '']
}

/** Errors that the key gets without the upstream and the agent gateway. */
function refusals() {
  const messages = [{ role: 'user', content: 'Hi' }]
  const asked = [
    [running.url, { model: 'm', messages }],
    [running.gatewayUrl, { model: 'm', messages }],
    [running.gatewayUrl, { model: 'other/m', messages }],
  ] as const
  return Promise.all(
    asked.map(async ([url, body]) => {
      const headers = { authorization: `Bearer ${stranger}`, 'content-type': 'application/json' }
      return errorOf(await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body: JSON.stringify(body) }))
    }),
  )
}

/** Reads a reply: of a stream of events, which has no end, those up to the first one with data. */
async function textOf(reply: Response): Promise<string> {
  if (!reply.headers.get('content-type')?.startsWith('text/event-stream')) return reply.text()
  await refusals()
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of reply.body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (/^data: .*\n\n/m.test(text)) break
  }
  return text
}

describe('a platform key', () => {
  it('finds nothing of the operator or of other keys on any route that reads', async () => {
    await refusals()
    const described = (await (await fetch(`${running.url}/openapi.json`)).json()) as OpenApi
    const paths = Object.keys(described.paths).filter(
      (path) => described.paths[path]?.get && !path.includes('{') && path !== SETTINGS,
    )
    const asked = [
      ...paths,
      '/api/memory?key=marked',
      '/api/memory/recall?key=marked',
      '/api/sessions/search?q=mark',
      '/api/available-models?provider=custom',
      '/api/calls?status=error',
      '/v1/models',
      ...taskIds.map((id) => `/api/tasks/${id}`),
    ].map((path) => running.url + path)
    for (const path of [
      '/health',
      '/metrics',
      '/v1/models',
      '/memory/recent',
      '/memory/recall?key=marked',
      '/v1/files',
    ])
      asked.push(running.gatewayUrl + path)
    assert.ok(asked.length > 35, `${asked.length}`)
    const found: string[] = []
    for (const key of [stranger, null])
      for (const path of asked) {
        const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
        const text = await textOf(await fetch(path, { headers }))
        // A client knows what it has asked for, and at which address.
        const own = [
          running.url,
          running.gatewayUrl,
          'There is no memory marked',
          'such as http://localhost',
          OWN_ADDRESS,
        ].reduce((rest, known) => rest.replaceAll(known, ''), text)
        const at = MARK.exec(own)?.index
        if (at !== undefined) found.push(`${path}: ${own.slice(Math.max(0, at - 80), at + 80)}`)
      }
    assert.deepEqual(found, [])
  })

  it('has the paths of its calls below the base URL, in records, sums and metrics', async () => {
    await refusals()
    const calls = await (await ask(running, 'GET', '/api/calls', { key: stranger })).json()
    const { items } = calls as { items: { path: string }[] }
    const paths = items.map(({ path }) => path)
    assert.ok(paths.includes('/v1/chat/completions'))
    assert.ok(paths.every((path) => path.startsWith('/v1/')))
    const metrics = await (await fetch(`${running.gatewayUrl}/metrics`)).text()
    assert.match(metrics, /path="\/v1\/chat\/completions",outcome="error"/)
  })

  it('counts the open tasks and its own, with the rewards of its own', async () => {
    await made(running.admin, '/api/tasks', { title: 'open task', description: 'open', reward_usd: 0.02 })
    const statsOf = async (key: string) => (await ask(running, 'GET', '/api/tasks/stats', { key })).json()
    const none = { blocked: 0, open: 1, claimed: 0, completed: 0, failed: 0, cancelled: 0 }
    const reward_usd = { locked: 0, paid: 0, refunded: 0 }
    assert.deepEqual(await statsOf(stranger), { total: 1, by_status: none, reward_usd })
    assert.deepEqual(await statsOf(other), {
      total: 3,
      by_status: { ...none, claimed: 1, completed: 1 },
      reward_usd: { ...reward_usd, locked: 0.01 },
    })
    const all = (await statsOf(running.admin)) as { total: number; reward_usd: { locked: number } }
    assert.deepEqual([all.total, all.reward_usd.locked], [5, 0.04])
  })

  it('reads that an upstream does not answer, without its address, which the log has', async () => {
    for (const { code, message } of await refusals()) {
      assert.equal(code, 'upstream_unreachable')
      assert.doesNotMatch(message, MARK)
    }
    assert.match(running.logged.join('\n'), /ECONNREFUSED.*A service was not reached/)
  })
})
