import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { WebSocket } from 'ws'
import { humanStream } from '../gaze/human-stream.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from './gateway-process.ts'
import { connect, newPlace, type Place, writeProject } from './server.ts'

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
type Json = Record<string, any>

/** Path of the specification's text. Without it, the rows below are still tested. */
const SPECIFICATION = join('..', 'shared', 'spec')
const CALL = { model: 'llm-4-1-fast-reasoning', prompt: 'Say hello.', max_tokens: 20, tools: ['web_search'] }
const MESSAGES = [{ role: 'user', content: 'Say hello.' }]
const WALLET = `0x${'ab'.repeat(20)}`

const gaze = () => humanStream(7, { records: 120, start: new Date(Date.now() - 90_000).toISOString() })

let place: Place
let gateway: GatewayProcess
let platform: string
/** Ids and tokens that later rows need from earlier ones. */
const made: Record<'session' | 'task' | 'token' | 'escrow' | 'attestation' | 'memory' | 'spare', string> = {
  session: '',
  task: '',
  token: '',
  escrow: '',
  attestation: '',
  memory: '',
  spare: '',
}

/** Asks, checks the status, and that the reply has the fields. @returns the reply */
async function answers(of: {
  url?: string
  method: string
  path: string
  body?: unknown
  status?: number
  fields?: readonly string[]
  key?: string | null
}): Promise<Json> {
  const { url = platform, method, path, body, status = 200, fields = [], key = gateway.key } = of
  const reply = await fetch(url + path, {
    method,
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  assert.equal(reply.status, status, text)
  assert.ok(reply.headers.get('x-request-id'), 'every reply has a request id')
  if (status === 204) return {}
  const json = JSON.parse(text) as Json
  for (const field of fields) assert.ok(field in json, `${field} is missing in ${text.slice(0, 500)}`)
  return json
}

const LIST = ['items', 'total', 'next_cursor']
const TASK = ['id', 'title', 'reward_usd', 'capabilities', 'status', 'agent', 'result', 'depends_on', 'escrow_id']
const ESCROW = ['id', 'task_id', 'amount_usd', 'payer', 'recipient', 'status', 'gaze', 'settlement', 'expires_at']
const SESSION = ['id', 'title', 'source', 'started_at', 'last_active', 'message_count', 'preview']

/** A row of a table of the platform's REST endpoints → what it answers. */
const REST: Record<string, () => Promise<unknown>> = {
  'POST /api/gaze/store': () =>
    answers({
      method: 'POST',
      path: '/api/gaze/store',
      body: { records: gaze() },
      status: 201,
      fields: ['session_id', 'stored', 'duplicates', 'attestation'],
    }),
  'GET /api/gaze/history': () =>
    answers({ method: 'GET', path: '/api/gaze/history?source=eye_tracker&limit=2', fields: LIST }),
  'POST /api/verify-session': async () => {
    const { tier, valid } = await answers({
      method: 'POST',
      path: '/api/verify-session',
      body: { key: gateway.key },
      fields: ['valid', 'tier', 'subject', 'expires_at', 'capabilities', 'limits'],
    })
    assert.deepEqual([tier, valid], ['admin', true])
  },
  'GET /api/attestation/status': async () => {
    const { items } = await answers({ method: 'GET', path: '/api/gaze/history?limit=1' })
    const path = `/api/attestation/status?session_id=${items[0].session_id}`
    await answers({ method: 'GET', path, fields: ['status', 'poa_score', 'components', 'progress', 'records_needed'] })
  },
  'GET /api/sessions': async () => {
    const session = await answers({ method: 'POST', path: '/api/sessions', body: { title: 'A' }, status: 201 })
    made.session = session.id
    await answers({ method: 'POST', path: `/api/sessions/${session.id}/chat`, body: { message: 'Say hello.' } })
    const { items } = await answers({
      method: 'GET',
      path: '/api/sessions',
      fields: [...LIST, 'object', 'data', 'sessions', 'limit', 'offset', 'has_more'],
    })
    for (const field of SESSION) assert.ok(field in items[0], field)
  },
  'GET /api/sessions/{id}': () =>
    answers({ method: 'GET', path: `/api/sessions/${made.session}`, fields: ['object', 'session', ...SESSION] }),
  'GET /api/sessions/{id}/messages': async () => {
    const fields = ['object', 'session_id', 'items', 'data', 'messages', 'total']
    const { messages } = await answers({ method: 'GET', path: `/api/sessions/${made.session}/messages`, fields })
    assert.deepEqual(
      messages.map(({ role }: Json) => role),
      ['user', 'assistant'],
    )
  },
  'DELETE /api/sessions/{id}': async () => {
    await answers({ method: 'DELETE', path: `/api/sessions/${made.session}` })
    await answers({ method: 'GET', path: `/api/sessions/${made.session}`, status: 404, fields: ['error'] })
  },
  'GET /api/skills': async () => {
    const { items } = await answers({
      method: 'GET',
      path: '/api/skills?category=tests&search=parcels',
      fields: ['items', 'skills', 'total'],
    })
    assert.equal(items[0].id, 'parcels')
  },
  'GET /api/skills/{id}': () =>
    answers({
      method: 'GET',
      path: '/api/skills/parcels',
      fields: ['id', 'name', 'description', 'category', 'tags', 'source', 'metadata', 'warnings', 'content'],
    }),
  'GET /api/memory': async () => {
    await answers({ method: 'GET', path: '/api/memory?namespace=default&tag=a', fields: LIST })
  },
  'POST /api/memory': async () => {
    const body = { key: 'deploy', value: 'uses the eu-west cluster', tags: ['a'] }
    const { memory } = await answers({ method: 'POST', path: '/api/memory', body, status: 201, fields: ['created'] })
    made.memory = memory.id
  },
  'POST /api/memory/search': async () => {
    const body = { query: 'cluster', filters: { tags: ['a'] }, limit: 5 }
    const { results } = await answers({ method: 'POST', path: '/api/memory/search', body, fields: ['total'] })
    assert.equal(results[0].memory.key, 'deploy')
  },
  'GET /api/memory/recall': async () => {
    await answers({ method: 'GET', path: '/api/memory/recall?key=deploy', fields: ['found', 'memory'] })
    await answers({ method: 'GET', path: '/api/memory/recall?q=cluster', fields: ['found', 'memory'] })
  },
  'DELETE /api/memory/{id}': () =>
    answers({ method: 'DELETE', path: `/api/memory/${made.memory}`, status: 204 }).then(() =>
      answers({ method: 'DELETE', path: `/api/memory/${made.memory}`, status: 404 }),
    ),
  'GET /api/memory/stats': () =>
    answers({
      method: 'GET',
      path: '/api/memory/stats',
      fields: ['engine', 'count', 'bytes', 'namespaces', 'oldest_at', 'newest_at'],
    }),
  'POST /api/tasks': async () => {
    const body = { title: 'Write it', reward_usd: 2, capabilities: ['prose'] }
    const task = await answers({ method: 'POST', path: '/api/tasks', body, status: 201, fields: TASK })
    made.task = task.id
    made.escrow = task.escrow_id
  },
  'GET /api/tasks': () => answers({ method: 'GET', path: '/api/tasks?status=open&agent=ada', fields: LIST }),
  'GET /api/tasks/{id}': () => answers({ method: 'GET', path: `/api/tasks/${made.task}`, fields: TASK }),
  'POST /api/tasks/{id}/claim': async () => {
    const path = `/api/tasks/${made.task}/claim`
    const { claim_token } = await answers({ method: 'POST', path, body: { agent: 'ada' }, fields: TASK })
    made.token = claim_token
  },
  'POST /api/tasks/{id}/complete': async () => {
    const body = { agent: 'ada', claim_token: made.token, result: 'It.' }
    const { status } = await answers({ method: 'POST', path: `/api/tasks/${made.task}/complete`, body, fields: TASK })
    assert.equal(status, 'completed')
  },
  'DELETE /api/tasks/{id}': async () => {
    const body = { title: 'Never mind', reward_usd: 1 }
    const { id } = await answers({ method: 'POST', path: '/api/tasks', body, status: 201 })
    const { status } = await answers({ method: 'DELETE', path: `/api/tasks/${id}` })
    assert.equal(status, 'cancelled')
  },
  'POST /api/tasks/swarm': () =>
    answers({
      method: 'POST',
      path: '/api/tasks/swarm',
      body: { goal: 'Read the log. Find the fault. Write the fix.', dry_run: true },
      fields: ['swarm_id', 'goal', 'tasks', 'edges', 'order', 'call_id'],
    }),
  'GET /api/tasks/stats': () =>
    answers({ method: 'GET', path: '/api/tasks/stats', fields: ['total', 'by_status', 'reward_usd'] }),
  'GET /api/config': async () => {
    const { config } = await answers({ method: 'GET', path: '/api/config', fields: ['config', 'env'] })
    assert.ok(!JSON.stringify(config).includes('upstream-secret-key'), 'secrets are redacted')
  },
  'POST /api/config': () =>
    answers({ method: 'POST', path: '/api/config', body: { 'gaze.min_score': 0.5 }, fields: ['config', 'changed'] }),
  'GET /api/config/model': () =>
    answers({
      method: 'GET',
      path: '/api/config/model',
      fields: ['provider', 'base_url', 'models', 'aliases', 'api_key_set'],
    }),
  'POST /api/config/model': () =>
    answers({ method: 'POST', path: '/api/config/model', body: { aliases: { quick: 'llm-3-fast' } } }),
  'POST /api/wallet/metered/call': async () => {
    const receipt = await answers({
      method: 'POST',
      path: '/api/wallet/metered/call',
      body: { ...CALL, caller_id: gateway.key },
      key: null,
      fields: ['call_id', 'result', 'usage', 'billing', 'latency_ms'],
    })
    const { usage, billing } = receipt
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
    assert.equal(billing.margin_usd, 0.08)
    assert.equal(Math.round(billing.total_usd * 1e6), Math.round((billing.upstream_cost_usd + 0.08) * 1e6))
  },
  'GET /api/wallet/metered/usage': () =>
    answers({ method: 'GET', path: '/api/wallet/metered/usage', fields: [...LIST, 'totals', 'by_caller'] }),
  'GET /api/wallet/metered/pricing': async () => {
    const { models } = await answers({ method: 'GET', path: '/api/wallet/metered/pricing', fields: ['margin_usd'] })
    assert.deepEqual(
      models.map(({ id }: Json) => id),
      ['llm-4.20-multi-agent-beta-0309', 'llm-4.20-0309-reasoning', 'llm-4-1-fast-reasoning'],
    )
  },
  'GET /api/wallet': () =>
    answers({ method: 'GET', path: '/api/wallet', fields: ['address', 'agent', 'settlement', 'ledger', 'balances'] }),
  'GET /api/wallet/balances': () =>
    answers({ method: 'GET', path: '/api/wallet/balances', fields: ['items', 'total'] }),
  'POST /api/wallet/escrow': async () => {
    const { id } = await answers({ method: 'POST', path: '/api/tasks', body: { title: 'Paid later' }, status: 201 })
    const body = { task_id: id, amount_usd: 1, recipient: WALLET, ttl_seconds: 60 }
    const escrow = await answers({ method: 'POST', path: '/api/wallet/escrow', body, status: 201, fields: ESCROW })
    assert.equal(escrow.status, 'locked')
    made.spare = id
  },
  'GET /api/wallet/escrow': async () => {
    const path = `/api/wallet/escrow?status=locked&task_id=${made.spare}`
    assert.equal((await answers({ method: 'GET', path, fields: LIST })).total, 1)
  },
  'GET /api/wallet/escrow/{id}': () =>
    answers({ method: 'GET', path: `/api/wallet/escrow/${made.escrow}`, fields: ESCROW }),
  'POST /api/wallet/escrow/release': async () => {
    const stored = { task_id: made.task, records: gaze() }
    const { attestation } = await answers({ method: 'POST', path: '/api/gaze/store', body: stored, status: 201 })
    const body = { escrow_id: made.escrow, attestation_id: attestation.id }
    const path = '/api/wallet/escrow/release'
    // The same stream was stored before: a replay proves no attention.
    await answers({ method: 'POST', path, body, status: 403, fields: ['error'] })
    const records = humanStream(8, { start: new Date().toISOString() })
    const fresh = { task_id: made.task, records }
    const { attestation: own } = await answers({ method: 'POST', path: '/api/gaze/store', body: fresh, status: 201 })
    const released = await answers({
      method: 'POST',
      path,
      body: { ...body, attestation_id: own.id },
      fields: ESCROW,
    })
    assert.equal(released.status, 'released')
  },
  'POST /api/wallet/escrow/{id}/refund': async () => {
    const { items } = await answers({ method: 'GET', path: `/api/wallet/escrow?task_id=${made.spare}` })
    const path = `/api/wallet/escrow/${items[0].id}/refund`
    await answers({ method: 'POST', path, body: {}, status: 409, fields: ['error'] })
    await answers({ method: 'DELETE', path: `/api/tasks/${made.spare}` })
    const { items: after } = await answers({ method: 'GET', path: `/api/wallet/escrow?task_id=${made.spare}` })
    if (after[0].status === 'locked') await answers({ method: 'POST', path, body: {}, fields: ESCROW })
    else assert.equal(after[0].status, 'refunded')
  },
  'GET /health': async () => {
    const fields = ['status', 'version', 'uptime_seconds', 'store', 'upstream', 'mode']
    await answers({ method: 'GET', path: '/health', key: null, fields })
  },
  'GET /api/gateway-status': async () => {
    const { capabilities, features } = await answers({ method: 'GET', path: '/api/gateway-status', key: null })
    assert.equal(capabilities.length, 8)
    const { payments, ...served } = features
    assert.equal(payments, false, 'nothing to pay by is enabled')
    assert.ok(
      Object.values(served).every((feature) => feature === true),
      JSON.stringify(features),
    )
  },
  'any /v1/*': async () => {
    await answers({ method: 'GET', path: '/v1/models', fields: ['object', 'data'] })
    const body = { model: 'llm-3-fast', messages: MESSAGES }
    await answers({ method: 'POST', path: '/v1/chat/completions', body, fields: ['choices', 'usage'] })
    await answers({ method: 'DELETE', path: '/v1/nothing', status: 404 })
  },
}

/** The same for the gateway's own endpoints. */
const HTTP: Record<string, () => Promise<unknown>> = {
  'POST /v1/chat/completions': async () => {
    const path = '/v1/chat/completions'
    const body = { model: 'llm-3-fast', messages: MESSAGES }
    await answers({ url: gateway.url, method: 'POST', path, body, fields: ['id', 'choices', 'usage'] })
    const reply = await fetch(gateway.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, stream: true }),
    })
    assert.match(await reply.text(), /data: \[DONE\]\n\n$/)
  },
  'POST /v1/responses': async () => {
    const body = { input: 'Say hello.', tools: [{ type: 'web_search' }, { type: 'x_search' }] }
    const fields = ['id', 'output', 'usage']
    await answers({ url: gateway.url, method: 'POST', path: '/v1/responses', body, fields })
  },
  'GET /v1/models': async () => {
    const { data } = await answers({ url: gateway.url, method: 'GET', path: '/v1/models', fields: ['object'] })
    const ids = data.map(({ id }: Json) => id)
    for (const id of ['llm-4.20-multi-agent-beta-0309', 'llm-4.20-0309-reasoning', 'llm-3-fast'])
      assert.ok(ids.includes(id), id)
    await answers({ url: gateway.url, method: 'GET', path: '/v1/models', key: null, status: 401 })
  },
  'POST /memory/store': () =>
    answers({ url: gateway.url, method: 'POST', path: '/memory/store', body: { key: 'b', value: 1 }, status: 201 }),
  'GET /memory/recall': () =>
    answers({ url: gateway.url, method: 'GET', path: '/memory/recall?key=b', fields: ['found', 'memory'] }),
  'GET /memory/recent': () => answers({ url: gateway.url, method: 'GET', path: '/memory/recent', fields: LIST }),
}

/** A message on the agent socket → the fields of its answer. */
const SOCKET: Record<string, { send: object; type: string; fields: readonly string[] }> = {
  chat: {
    send: { user: 'ada', content: 'Say hello.' },
    type: 'reply',
    fields: ['content', 'tensor', 'poa_score', 'session_id', 'message_id'],
  },
  wallet_status: { send: {}, type: 'wallet_status', fields: [] },
  wallet_metadata: { send: {}, type: 'wallet_metadata', fields: [] },
  x402_policy: {
    send: {},
    type: 'x402_policy',
    fields: ['enabled', 'max_amount_usd', 'networks', 'assets', 'pay_to'],
  },
  bridge_status: { send: {}, type: 'bridge_status', fields: ['chains', 'vault', 'attestation'] },
}

/** A tool → what it is called with. */
const TOOLS: Record<string, () => Record<string, unknown>> = {
  gateway_llm_query: () => ({ query: 'What is here?' }),
  gateway_get_context: () => ({}),
  gateway_store_gaze_data: () => ({ records: humanStream(9, { records: 30 }) }),
  gateway_retrieve_gaze_data: () => ({ limit: 2 }),
  gateway_analyze_gaze_pattern: () => ({}),
  gateway_chat_completion: () => ({ messages: MESSAGES }),
  gateway_upstream_api_history: () => ({}),
  gateway_upstream_api_stats: () => ({}),
  gateway_gateway: () => ({ method: 'GET', path: '/models' }),
  gateway_memory_store: () => ({ key: 'c', value: 'd' }),
  gateway_memory_recall: () => ({ key: 'c' }),
  gateway_memory_search: () => ({ query: 'd' }),
}

/** In the order in which each finds what it needs. */
const ORDER = [
  'POST /api/memory',
  'POST /api/tasks',
  'POST /api/tasks/{id}/claim',
  'POST /api/tasks/{id}/complete',
] as const
const first = new Set<string>(ORDER)
const walked = [...ORDER, ...Object.keys(REST).filter((row) => !first.has(row))]

describe('every row of the specification', () => {
  before(async () => {
    place = newPlace()
    writeProject(place.project, {
      '.claude/skills/tests/parcels/SKILL.md': '---\nname: parcels\ndescription: Tests parcels.\n---\nRun them.\n',
    })
    gateway = await startGatewayProcess(place, {
      args: ['--platform', '--platform-port', '0', '--upstream', 'sandbox'],
    })
    platform = await platformOf(gateway)
    const { subject } = await answers({ method: 'POST', path: '/api/verify-session', body: { key: gateway.key } })
    const deposit = { caller_id: subject, amount_usd: 20, reference: 'walk' }
    await answers({ method: 'POST', path: '/api/wallet/metered/deposit', body: deposit })
  })
  after(async () => assert.deepEqual(await gateway.stop(), { code: 0, signal: null }))

  describe('of the platform is answered', () => {
    for (const row of walked)
      it(row, async () => {
        await REST[row]?.()
      })
  })

  describe('of the gateway over HTTP is answered', () => {
    for (const [row, walk] of Object.entries(HTTP))
      it(row, async () => {
        await walk()
      })
  })

  describe('of the agent socket is answered', () => {
    for (const [type, { send, type: expected, fields }] of Object.entries(SOCKET))
      it(type, async () => {
        const ws = new WebSocket(`${platform.replace('http', 'ws')}/agent`, {
          headers: { authorization: `Bearer ${gateway.key}` },
        })
        const frame = await new Promise<Json>((resolve, reject) => {
          ws.on('error', reject)
          ws.on('close', (code) => reject(new Error(`It closed with ${code}.`)))
          ws.on('message', (data) => {
            const said = JSON.parse(String(data)) as Json
            if (said.type === 'ready') ws.send(JSON.stringify({ type, ...send }))
            else resolve(said)
          })
        })
        ws.terminate()
        assert.equal(frame.type, expected, JSON.stringify(frame))
        for (const field of fields) assert.ok(field in frame, field)
      })
  })

  describe('of the tools is answered', () => {
    let session: Awaited<ReturnType<typeof connect>>
    before(async () => {
      session = await connect(place, { args: ['--upstream', 'sandbox'] })
    })
    after(() => session.client.close())

    it('and there are those twelve', async () => {
      const { tools } = await session.client.listTools()
      assert.deepEqual(tools.map(({ name }) => name).sort(), Object.keys(TOOLS).sort())
    })
    for (const [name, input] of Object.entries(TOOLS))
      it(name, async () => {
        const result = await session.client.callTool({ name, arguments: input() })
        assert.ok(!result.isError && result.structuredContent, JSON.stringify(result.content))
      })
  })

  it('is walked here', { skip: !existsSync(SPECIFICATION) && 'the specification is not beside this folder' }, () => {
    const text = readdirSync(SPECIFICATION)
      .map((file) => readFileSync(join(SPECIFICATION, file), 'utf8'))
      .join('\n')
    const cells = text.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
    const routes = cells.flatMap(([, method, path]) =>
      /^(GET|POST|PATCH|DELETE|any)$/.test(method ?? '') && path?.startsWith('/') ? [`${method} ${path}`] : [],
    )
    const names = cells.flatMap(([, name]) => (/^gateway_\w+$/.test(name ?? '') ? [name ?? ''] : []))
    const frames = cells.flatMap(([, type, access]) =>
      /^(authenticated|admin only)$/.test(access ?? '') ? [type ?? ''] : [],
    )
    assert.deepEqual([routes.length > 40, names.length, frames.length], [true, 12, 5])
    for (const row of routes) assert.ok(row in REST || row in HTTP, row)
    for (const name of names) assert.ok(name in TOOLS, name)
    for (const type of frames) assert.ok(type in SOCKET, type)
  })
})
