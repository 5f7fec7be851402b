import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApi } from '../../adapters/platform/openapi.ts'
import { until } from '../doubles/until.ts'
import { describedSchema } from './described-schema.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'

const CALL = { model: 'llm-4-1-fast-reasoning', prompt: 'Say hello.', max_tokens: 20 }
// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
type Json = Record<string, any>
const WALLET = `0x${'Ab'.repeat(20)}`

describe('the platform', () => {
  let running: RunningPlatform
  let described: OpenApi

  before(async () => {
    running = await startPlatform('sandbox')
    described = (await (await ask(running, 'GET', '/openapi.json', { key: null })).json()) as OpenApi
  })
  afterEach(() => {
    const logged = running.logged.join('')
    for (const secret of [running.key, running.admin]) assert.ok(!logged.includes(secret))
  })
  after(() => running.close())

  const get = (path: string, key: string | null = running.key) => ask(running, 'GET', path, { key })
  const post = (path: string, body: unknown, key: string | null = running.key, headers: Record<string, string> = {}) =>
    ask(running, 'POST', path, { key, body, headers })
  const call = (body: object, key: string | null = null, headers: Record<string, string> = {}) =>
    post('/api/wallet/metered/call', body, key, headers)

  describe('at the door', () => {
    for (const path of ['/health', '/api/gateway-status', '/openapi.json', '/docs'])
      it(`answers ${path} without a key`, async () => assert.equal((await get(path, null)).status, 200))

    it('needs a key with the scope platform for the rest', async () => {
      const inference = await running.gateway.keys.create({ name: 'inference', scopes: ['inference'] })
      for (const path of ['/api/wallet', '/api/keys', '/v1/models', '/nowhere']) {
        assert.equal((await get(path, null)).status, 401, path)
        assert.equal((await get(path, 'gzw_wrong')).status, 401, path)
        assert.equal((await get(path, inference.key)).status, 403, path)
      }
      assert.equal((await get('/api/wallet', running.admin)).status, 200)
    })

    it('keeps keys and deposits for admins', async () => {
      for (const reply of [
        await get('/api/keys'),
        await post('/api/keys', { name: 'mine' }),
        await ask(running, 'DELETE', `/api/keys/${running.keyId}`),
        await post('/api/wallet/metered/deposit', { caller_id: running.keyId, amount_usd: 1, reference: 'a' }),
      ]) {
        assert.equal(reply.status, 403)
        const { code, message } = await errorOf(reply)
        assert.equal(code, 'insufficient_scope')
        assert.match(message, /admin/)
      }
    })

    it('knows no other path, and names the methods of those it knows', async () => {
      assert.equal((await get('/nowhere')).status, 404)
      const reply = await ask(running, 'PUT', '/api/keys', { key: running.admin, body: {} })
      assert.deepEqual([reply.status, reply.headers.get('allow')], [405, 'GET, POST, HEAD'])
      assert.equal((await errorOf(reply)).code, 'method_not_allowed')
    })

    it('refuses the methods that a literal path has not, also beside paths with an id', async () => {
      for (const [path, operations] of Object.entries(described.paths)) {
        const allowed = Object.keys(operations).map((method) => method.toUpperCase())
        if (path.includes('{')) continue
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
          if (allowed.includes(method)) continue
          const reply = await ask(running, method, path, { key: running.admin })
          const allow = reply.headers.get('allow')?.split(', ')
          assert.equal(reply.status, 405, `${method} ${path}`)
          assert.deepEqual(allow, [...allowed, ...(allowed.includes('GET') ? ['HEAD'] : [])], `${method} ${path}`)
        }
      }
    })

    it('refuses foreign hosts and origins, also on open routes', async () => {
      assert.equal((await ask(running, 'GET', '/health', { headers: { origin: 'https://evil.example' } })).status, 403)
      const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
      socket.write('GET /openapi.json HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n')
      assert.match((await socket.toArray()).join(''), /^HTTP\/1\.1 403 /)
    })

    it('refuses half of a surrogate pair, of which the stores keep nothing, and names the field', async () => {
      const half = (character = '\ud800') => `a${character}`
      const cases: Array<[path: string, body: object, param: string]> = [
        ['/api/tasks', { title: 'a', capabilities: [half(), half('\ud801')] }, 'capabilities.0'],
        ['/api/tasks', { title: half() }, 'title'],
        ['/api/tasks', { title: 'a', description: half('\udc00') }, 'description'],
        ['/api/keys', { name: half() }, 'name'],
        ['/api/connections', { user: half() }, 'user'],
      ]
      for (const [path, body, param] of cases) {
        const reply = await post(path, body, running.admin)
        const error = await errorOf(reply)
        assert.deepEqual([reply.status, error.param], [422, param])
        assert.ok(error.message.startsWith(`${param}: must be well-formed Unicode, without half a surrogate pair`))
      }
      assert.equal((await post('/api/tasks', { title: '😀', capabilities: ['😀'] })).status, 201)
    })

    it('a query parameter that comes twice, of which one would go unheard', async () => {
      for (const path of ['/api/tasks?status=failed&status=nosuch', '/api/memory?limit=1&tag=a&limit=1']) {
        const reply = await get(path, running.admin)
        const { message, param } = await errorOf(reply)
        const name = /\?(\w+)/.exec(path)?.[1]
        assert.deepEqual([reply.status, message, param], [422, `${name}: sent more than once; send it once.`, name])
      }
    })

    it('refuses bodies that are no JSON, too large or not valid, and names the field', async () => {
      const path = '/api/keys'
      assert.equal((await post(path, 'x', running.admin, { 'content-type': 'text/plain' })).status, 415)
      assert.equal((await ask(running, 'POST', path, { key: running.admin })).status, 415)
      assert.equal((await post(path, '{"name": ', running.admin)).status, 400)
      assert.equal((await post(path, 'x'.repeat(5 * 1024 * 1024), running.admin)).status, 413)
      const wrong = await post(path, { name: 'x', scopes: ['root'] }, running.admin)
      assert.deepEqual([wrong.status, (await errorOf(wrong)).param], [422, 'scopes.0'])
      const unknown = await post(path, { name: 'x', scope: 'admin' }, running.admin)
      assert.deepEqual([unknown.status, (await errorOf(unknown)).param], [422, 'scope'])
      for (const [query, param] of [
        ['limit=0', 'limit'],
        ['limit=many', 'limit'],
        ['page=2', 'page'],
      ])
        assert.equal((await errorOf(await get(`${path}?${query}`, running.admin))).param, param)
    })
  })

  describe('GET /health', () => {
    it('tells of the store and the agent gateway, whose address only admins see', async () => {
      const health = async (key: string | null = running.admin) => (await (await get('/health', key)).json()) as Json
      await until(async () => (await health()).upstream.checked_at !== null)
      const { status, version, uptime_seconds, store, upstream } = await health()
      assert.deepEqual([status, store], ['ok', { engine: 'sqlite', ok: true }])
      assert.match(version, /^\d+\.\d+\.\d+/)
      assert.ok(Number.isInteger(uptime_seconds))
      const { checked_at, latency_ms, ...rest } = upstream
      assert.deepEqual(rest, {
        url: running.gatewayUrl,
        reachable: true,
        kind: 'gazeway',
        version,
        supported: true,
        target: '0.17',
        error: null,
      })
      for (const key of [null, running.key]) assert.equal((await health(key)).upstream.url, null)
    })
  })

  describe('GET /api/gateway-status', () => {
    it('names the capabilities, and only the features that it serves', async () => {
      const { mode, capabilities, features } = (await (await get('/api/gateway-status', null)).json()) as Json
      assert.equal(mode, 'portable')
      assert.deepEqual(capabilities, [
        'gaze_data_storage',
        'gaze_data_retrieval',
        'gaze_pattern_analysis',
        'context_awareness',
        'ai_chat',
        'usage_analytics',
        'tempo_billing',
        'task_escrow',
      ])
      assert.deepEqual(Object.keys(features), [
        'payments',
        'escrow',
        'gaze',
        'swarm',
        'memory',
        'sessions',
        'skills',
        'config',
        'socket',
      ])
      assert.equal(features.payments, false, 'without MPP there is nothing to pay by')
      for (const [feature, path] of [
        ['escrow', '/api/wallet/escrow'],
        ['sessions', '/api/sessions'],
        ['memory', '/api/memory'],
      ])
        assert.equal(features[feature ?? ''], path !== undefined && path in described.paths, feature)
    })
  })

  describe('its description', () => {
    it('lists each route with who may use it', () => {
      const { paths } = described
      assert.deepEqual(paths['/health']?.get?.security, [{}])
      assert.deepEqual(paths['/api/keys']?.post?.security, [{ key: [] }])
      assert.match(paths['/api/keys']?.post?.description ?? '', /scope admin/)
      for (const path of ['/api/wallet', '/api/wallet/metered/call', '/api/wallet/metered/usage', '/v1/{path}'])
        assert.ok(paths[path], path)
      const passed = ['get', 'head', 'post', 'put', 'patch', 'delete', 'options']
      assert.deepEqual(Object.keys(paths['/v1/{path}'] ?? {}), passed)
      const takesBody = passed.filter((method) => paths['/v1/{path}']?.[method]?.requestBody !== undefined)
      assert.deepEqual(takesBody, ['post', 'put', 'patch'])
    })

    it('has operations with ids of their own, and each path parameter', () => {
      const ids = new Set<string>()
      for (const [path, methods] of Object.entries(described.paths))
        for (const operation of Object.values(methods)) {
          assert.ok(!ids.has(operation.operationId), operation.operationId)
          ids.add(operation.operationId)
          const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
          const listed = operation.parameters.filter((one) => one.in === 'path').map(({ name }) => name)
          assert.deepEqual(listed, named, path)
        }
    })

    it('is what the routes answer', async () => {
      await call({ ...CALL, caller_id: running.key })
      await checkReply('/health', await get('/health', null))
      await checkReply('/api/gateway-status', await get('/api/gateway-status', null))
      for (const path of [
        '/api/wallet',
        '/api/wallet/balances',
        '/api/wallet/metered/pricing',
        '/api/wallet/metered/usage',
      ])
        await checkReply(path, await get(path))
      for (const path of ['/api/keys', '/api/keys/burn', '/api/groups'])
        await checkReply(path, await get(path, running.admin))
    })

    async function checkReply(path: string, reply: Response): Promise<void> {
      const ajv = addFormats.default(new Ajv2020({ strict: true, allowUnionTypes: true }))
      const { content } = (described.paths[path]?.get?.responses['200'] ?? assert.fail(path)) as Json
      const valid = ajv.compile(describedSchema(described, content['application/json'].schema, { closed: true }))
      assert.ok(valid(await reply.json()), `${path}: ${ajv.errorsText(valid.errors)}`)
    }

    it('is shown by a page that loads nothing from elsewhere, and makes no markup from text', async () => {
      const reply = await get('/docs', null)
      const page = await reply.text()
      const policy = reply.headers.get('content-security-policy') ?? ''
      assert.match(policy, /^default-src 'none'; script-src 'self'; .*; trusted-types 'none'$/)
      assert.ok(!/(?:src|href)=["']?(?:https?:)?\/\//i.test(page), page)
    })
  })

  describe('keys', () => {
    it('are made, shown once, listed and revoked', async () => {
      const reply = await post('/api/keys', { name: 'an agent', scopes: ['platform'], wallet: WALLET }, running.admin)
      assert.equal(reply.status, 201)
      const { key, ...record } = (await reply.json()) as Json
      assert.equal(reply.headers.get('location'), `/api/keys/${record.id}`)
      assert.equal(record.wallet, WALLET.toLowerCase())
      assert.equal((await get('/api/wallet', key)).status, 200)
      const { items, total } = (await (await get('/api/keys?limit=1', running.admin)).json()) as Json
      assert.equal(items[0].id, record.id)
      assert.ok(total > 1)
      assert.ok(!JSON.stringify(items).includes(key))
      const revoked = await ask(running, 'DELETE', `/api/keys/${record.id}`, { key: running.admin })
      assert.notEqual(((await revoked.json()) as Json).revoked_at, null)
      assert.equal((await get('/api/wallet', key)).status, 401)
    })

    it('show the balance that stays when they are revoked', async () => {
      const { record } = await running.gateway.keys.create({ name: 'rich' })
      await running.gateway.wallet.deposit({ caller_id: record.id, amount_usd: 1.5, reference: 'rich' })
      const revoked = await ask(running, 'DELETE', `/api/keys/${record.id}`, { key: running.admin })
      assert.equal(((await revoked.json()) as Json).balances.available_usd, 1.5)
    })

    it('have limits that only an admin can change', async () => {
      const { record } = await running.gateway.keys.create({ name: 'limited', scopes: ['platform'] })
      const change = (body: unknown, key = running.admin) =>
        ask(running, 'PATCH', `/api/keys/${record.id}`, { key, body })
      assert.equal((await change({ limits: { credit_limit_usd: 2 } }, running.key)).status, 403)
      const limits = { credit_limit_usd: 2.5, budgets: [{ usd: 1, per: 'day' }] }
      const changed = await change({ limits })
      assert.deepEqual(await changed.json(), { ...record, limits: { ...record.limits, ...limits }, warnings: [] })
      const refused = await change({ scopes: ['admin'] })
      assert.deepEqual([refused.status, (await errorOf(refused)).param], [422, 'scopes'])
    })

    it('are held to their new limits at once', async () => {
      const limits = { credit_limit_usd: 5, budgets: [] }
      const credit = { limits: { credit_limit_usd: 5 } }
      const { key, record } = await running.gateway.keys.create({ name: 'held', scopes: ['platform'], ...credit })
      const shown = async () => {
        const { credit_limit_usd, budgets } = ((await (await get('/api/wallet', key)).json()) as Json).ledger
        return { credit_limit_usd, budgets: budgets.map(({ usd, per }: Json) => ({ usd, per })) }
      }
      const lock = () => post('/api/tasks', { title: 'Paid', reward_usd: 1 }, key)
      assert.deepEqual(await shown(), limits)
      assert.equal((await lock()).status, 201)
      const fewer = { credit_limit_usd: 1, budgets: [{ usd: 3, per: 'day' }] }
      await ask(running, 'PATCH', `/api/keys/${record.id}`, {
        key: running.admin,
        body: { limits: { credit_limit_usd: 1, budgets: [{ usd: 3, per: 'day' }] } },
      })
      assert.deepEqual(await shown(), fewer)
      const refused = await lock()
      assert.deepEqual([refused.status, (await errorOf(refused)).code], [402, 'insufficient_credit'])
    })

    it('have what an admin names of them changed, and warn of a glob that matches no model', async () => {
      const body = {
        name: 'named',
        billing: 'cost',
        limits: { budgets: [{ usd: 20, per: 'month' }], tokens_per_minute: 9000 },
        models: ['llm-*', 'nothing-*'],
        expires_at: '2999-01-31T01:00:00+01:00',
      }
      const made = await post('/api/keys', body, running.admin)
      const { key: _, warnings, ...record } = (await made.json()) as Json
      assert.deepEqual([made.status, warnings.length], [201, 1])
      assert.match(warnings[0], /^models: "nothing-\*" matches no known model.*GET \/v1\/models/)
      assert.deepEqual(
        [record.billing, record.group, record.models, record.expires_at, record.rotated_at, record.spend.total_usd],
        ['cost', null, body.models, '2999-01-31T00:00:00.000Z', null, 0],
      )
      const unlimited = { session_usd: null, session_calls: null, session_minutes: null, repeats: null }
      const none = { ...unlimited, credit_limit_usd: null, requests_per_minute: null, concurrent: null }
      assert.deepEqual(record.limits, { ...none, ...body.limits })
      const change = (changed: unknown) =>
        ask(running, 'PATCH', `/api/keys/${record.id}`, { key: running.admin, body: changed })
      const limited = (await (await change({ limits: { concurrent: 2 } })).json()) as Json
      assert.deepEqual(limited, { ...record, limits: { ...record.limits, concurrent: 2 }, warnings: [] })
      for (const [wrong, param] of [
        [{ expires_at: '2020-01-31T00:00:00Z' }, 'expires_at'],
        [{ group: 'nowhere' }, 'group'],
        [{ limits: { budgets: [{ usd: 1, per: 'hour' }] } }, 'limits.budgets.0.per'],
        [{}, null],
      ] as const) {
        const refused = await change(wrong)
        assert.deepEqual([refused.status, (await errorOf(refused)).param], [422, param])
      }
    })

    it('are rotated once for one idempotency key, and refused once they have expired', async () => {
      const { key: first, record } = await running.gateway.keys.create({ name: 'rotated', scopes: ['platform'] })
      const rotate = (body: unknown, headers = {}) =>
        post(`/api/keys/${record.id}/rotate`, body, running.admin, headers)
      assert.equal((await post(`/api/keys/${record.id}/rotate`, {}, first)).status, 403)
      const reply = await rotate({ grace_seconds: 600 }, { 'idempotency-key': 'rotation' })
      const { key: second, previous_expires_at, ...rotated } = (await reply.json()) as Json
      assert.equal(reply.status, 200)
      assert.equal(Date.parse(previous_expires_at) - Date.parse(rotated.rotated_at), 600_000)
      assert.deepEqual({ ...rotated, rotated_at: null, last_used_at: null }, record)
      for (const key of [first, second]) assert.equal((await get('/api/wallet', key)).status, 200)
      const again = await rotate({ grace_seconds: 600 }, { 'idempotency-key': 'rotation' })
      assert.deepEqual([again.status, (await errorOf(again)).code], [409, 'idempotency_reply_not_kept'])
      for (const key of [first, second]) assert.equal((await get('/api/wallet', key)).status, 200)
      const tooLong = await rotate({ grace_seconds: 30 * 86_400 + 1 })
      assert.deepEqual([tooLong.status, (await errorOf(tooLong)).param], [422, 'grace_seconds'])

      const at = new Date().toISOString()
      const { db } = running.gateway.store
      await db.updateTable('keys').set({ expires_at: at }).where('id', '=', record.id).execute()
      await running.gateway.keys.change(record.id, { name: 'over' })
      for (const path of ['/api/wallet', '/v1/models']) {
        const expired = await get(path, second)
        const { code, type, message } = await errorOf(expired)
        assert.deepEqual([expired.status, code, type], [401, 'key_expired', 'authentication_error'])
        assert.ok(message.includes(at), message)
      }
      const called = await call({ ...CALL, caller_id: second })
      assert.deepEqual([called.status, (await errorOf(called)).code], [401, 'key_expired'])
    })

    it('share the budgets of groups, which admins make, change and delete', async () => {
      const groups = (method: string, path: string, body?: unknown, key = running.admin) =>
        ask(running, method, `/api/groups${path}`, { key, body })
      for (const [method, path] of [
        ['GET', ''],
        ['POST', ''],
        ['PATCH', `/grp_${'0'.repeat(32)}`],
        ['DELETE', `/grp_${'0'.repeat(32)}`],
      ] as const)
        assert.equal((await groups(method, path, method === 'GET' ? undefined : {}, running.key)).status, 403)
      const headers = { 'idempotency-key': 'a-group' }
      const body = { name: 'team', budgets: [{ usd: 300, per: 'month' }] }
      const made = await post('/api/groups', body, running.admin, headers)
      const record = (await made.json()) as Json
      assert.deepEqual([made.status, made.headers.get('location')], [201, `/api/groups/${record.id}`])
      assert.deepEqual(await (await post('/api/groups', body, running.admin, headers)).json(), record)
      const taken = await post('/api/groups', body, running.admin)
      assert.deepEqual([taken.status, (await errorOf(taken)).code], [409, 'conflict'])

      const { key: _, ...member } = (await (
        await post('/api/keys', { name: 'member', group: 'team' }, running.admin)
      ).json()) as Json
      assert.equal(member.group, record.id)
      const { items, total } = (await (await groups('GET', '?limit=10')).json()) as Json
      const { warnings, ...kept } = record
      assert.deepEqual(warnings, [])
      assert.deepEqual([items, total], [[{ ...kept, keys: 1 }], 1])
      const changed = await groups('PATCH', `/${record.id}`, { budgets: [{ usd: 5, per: 'day' }] })
      assert.deepEqual(((await changed.json()) as Json).budgets, [{ usd: 5, per: 'day' }])
      const inUse = await groups('DELETE', `/${record.id}`)
      assert.deepEqual([inUse.status, (await errorOf(inUse)).code], [409, 'conflict'])
      await ask(running, 'PATCH', `/api/keys/${member.id}`, { key: running.admin, body: { group: null } })
      assert.equal((await groups('DELETE', `/${record.id}`)).status, 204)
      assert.equal((await groups('DELETE', `/${record.id}`)).status, 404)
    })

    it('are not repeated under an idempotency key', async () => {
      const headers = { 'idempotency-key': 'a-key' }
      assert.equal((await post('/api/keys', { name: 'once' }, running.admin, headers)).status, 201)
      const again = await post('/api/keys', { name: 'once' }, running.admin, headers)
      assert.deepEqual([again.status, (await errorOf(again)).code], [409, 'idempotency_reply_not_kept'])
    })

    it('are made once for one idempotency key, and named, where the first answer was lost', async (t) => {
      const { keys } = running.gateway
      const { create } = keys
      async function dies(...args: Parameters<typeof create>): Promise<never> {
        await create(...args)
        throw new Error('The process died.')
      }
      t.mock.method(keys, 'create', dies, { times: 1 })
      const total = async () => ((await (await get('/api/keys', running.admin)).json()) as Json).total
      const make = () => post('/api/keys', { name: 'lost' }, running.admin, { 'idempotency-key': 'lost-key' })
      const before = await total()
      assert.equal((await make()).status, 500)
      const { items } = (await (await get('/api/keys?limit=1', running.admin)).json()) as Json
      const { code, message } = await errorOf(await make())
      assert.equal(code, 'idempotency_reply_not_kept')
      assert.match(
        message,
        new RegExp(`It made /api/keys/${items[0].id}\\. If you did not receive the reply, revoke that key`),
      )
      assert.deepEqual([items[0].name, await total()], ['lost', before + 1])
    })

    it('are not found, and not repeated, when their id is wrong', async () => {
      const unknown = await ask(running, 'DELETE', `/api/keys/key_${'0'.repeat(32)}`, { key: running.admin })
      assert.equal(unknown.status, 404)
      const asKey = await ask(running, 'DELETE', `/api/keys/${running.key}`, { key: running.admin })
      const { code, message } = await errorOf(asKey)
      assert.equal(code, 'validation_failed')
      assert.ok(!message.includes(running.key))
    })

    it('refuse limits with more than 6 decimals', async () => {
      const reply = await post('/api/keys', { name: 'x', limits: { credit_limit_usd: 0.0000001 } }, running.admin)
      assert.deepEqual([reply.status, (await errorOf(reply)).param], [422, 'limits.credit_limit_usd'])
    })
  })

  describe('GET /api/wallet/ledger', () => {
    it('tells a caller what moved in its own account, and an admin of everyone’s', async () => {
      const { key, record } = await running.gateway.keys.create({ name: 'ledger', scopes: ['platform'] })
      const deposit = { caller_id: record.id, amount_usd: 1.5, reference: 'ledger-1' }
      assert.equal((await post('/api/wallet/metered/deposit', deposit, running.admin)).status, 200)
      assert.equal((await call({ ...CALL, caller_id: key })).status, 200)
      const own = (await (await get('/api/wallet/ledger', key)).json()) as Json
      assert.deepEqual(
        own.items.map(({ kind }: Json) => kind),
        ['void', 'reserve', 'deposit'],
      )
      const sum = own.items.reduce((micros: number, { amount_usd }: Json) => micros + Math.round(amount_usd * 1e6), 0)
      assert.equal(sum, Math.round(own.balances.available_usd * 1e6))
      const path = `/api/wallet/ledger?caller_id=${record.id}`
      assert.deepEqual(await (await get(path, running.admin)).json(), own)
      assert.equal((await errorOf(await get(path))).code, 'insufficient_scope')
    })

    it('shows a key what is in the account of the wallet that it is bound to, however the address is written', async () => {
      const account = `0x${'ab'.repeat(20)}`
      const { key } = await running.gateway.keys.create({ name: 'bound', scopes: ['platform'], wallet: account })
      await running.gateway.wallet.credit({ account, micros: 1_500_000, reference: 'mpp:bound' })
      const asked = `caller_id=0x${'aB'.repeat(20)}`
      for (const by of [key, running.admin]) {
        const ledger = (await (await get(`/api/wallet/ledger?${asked}`, by)).json()) as Json
        assert.deepEqual([ledger.caller_id, ledger.total, ledger.balances.available_usd], [account, 1, 1.5])
      }
      for (const path of ['/api/wallet/ledger', '/api/wallet/metered/usage', '/api/calls', '/api/calls/stats']) {
        assert.equal((await get(`${path}?${asked}`, key)).status, 200)
        assert.equal((await get(`${path}?caller_id=0x${'00'.repeat(20)}`, key)).status, 403)
      }
    })
  })

  describe('POST /api/wallet/metered/call', () => {
    it('answers with a receipt to the key that it names, without another', async () => {
      const reply = await call({ ...CALL, caller_id: running.key })
      assert.equal(reply.status, 200)
      const { call_id, result, usage, billing, latency_ms } = (await reply.json()) as Json
      assert.match(call_id, /^call_/)
      assert.equal(result.role, 'assistant')
      assert.notEqual(result.content, '')
      assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens)
      assert.equal(billing.margin_usd, 0.08)
      assert.equal(
        Math.round(billing.total_usd * 1e6),
        Math.round((billing.upstream_cost_usd + billing.margin_usd) * 1e6),
      )
      assert.equal(billing.token, 'pathUSD')
      assert.ok(latency_ms >= 0)
      await running.gateway.calls.flush()
      const [record] = (await running.gateway.calls.history({ limit: 1 })).items
      assert.deepEqual([record?.surface, record?.caller_id], ['platform', running.keyId])
    })

    it('takes a wallet address with the key that it is bound to, in either case', async () => {
      const { key, record } = await running.gateway.keys.create({ name: 'w', scopes: ['platform'], wallet: WALLET })
      for (const caller_id of [WALLET, WALLET.toLowerCase()])
        assert.equal((await call({ ...CALL, caller_id }, key)).status, 200)
      const init = { key: null, headers: { 'x-gazeway-key': key }, body: { ...CALL, caller_id: WALLET } }
      assert.equal((await ask(running, 'POST', '/api/wallet/metered/call', init)).status, 200)
      const usage = (await (await get('/api/wallet/metered/usage', key)).json()) as Json
      assert.deepEqual([usage.total, usage.items[0].caller_id], [3, record.id])
    })

    it('answers 401 to callers that prove nothing, and does not repeat them', async () => {
      const other = `0x${'1'.repeat(40)}`
      for (const [caller_id, key] of [
        [WALLET, null],
        [other, running.key],
        [other, running.admin],
        [running.keyId, running.key],
        [running.key.slice(0, -1), null],
        ['someone', running.key],
      ] as const) {
        const reply = await call({ ...CALL, caller_id }, key)
        assert.equal(reply.status, 401)
        const error = await errorOf(reply)
        assert.deepEqual([error.code, error.param], ['invalid_api_key', 'caller_id'])
        assert.ok(!error.message.includes(caller_id))
      }
      const { key } = await running.gateway.keys.create({ name: 'inference', scopes: ['inference'] })
      assert.equal((await call({ ...CALL, caller_id: key })).status, 403)
    })

    for (const [what, change, status, param] of [
      ['max_tokens 0', { max_tokens: 0 }, 422, 'max_tokens'],
      ['negative max_tokens', { max_tokens: -1 }, 422, 'max_tokens'],
      ['fractional max_tokens', { max_tokens: 1.5 }, 422, 'max_tokens'],
      ['max_tokens over the limit', { max_tokens: 100_000_000 }, 422, 'max_tokens'],
      ['an unknown tool', { tools: ['rm'] }, 422, 'tools.0'],
      ['an empty prompt', { prompt: '' }, 422, 'prompt'],
      ['a prompt over the limit', { prompt: 'x'.repeat(3 * 1024 * 1024) }, 413, 'prompt'],
      ['an unknown model', { model: 'llm-3-fast' }, 400, 'model'],
      ['an unknown field', { temperature: 1 }, 422, 'temperature'],
      ['no caller', { caller_id: undefined }, 422, 'caller_id'],
    ] as const)
      it(`refuses ${what}, and charges nothing`, async () => {
        const before = await balance()
        const reply = await call({ ...CALL, caller_id: running.key, ...change })
        assert.deepEqual([reply.status, (await errorOf(reply)).param], [status, param])
        assert.deepEqual(await balance(), before)
      })

    it('answers 402 to a caller out of credit, and lets it go on after a deposit', async () => {
      const { key, record } = await running.gateway.keys.create({
        name: 'poor',
        scopes: ['platform'],
        limits: { credit_limit_usd: 0 },
      })
      const refused = await call({ ...CALL, caller_id: key })
      const error = await errorOf(refused)
      assert.deepEqual([refused.status, error.code, error.type], [402, 'insufficient_credit', 'payment_required'])
      const deposit = { caller_id: record.id, amount_usd: 1, reference: 'first' }
      assert.equal((await post('/api/wallet/metered/deposit', deposit, running.admin)).status, 200)
      assert.equal((await call({ ...CALL, caller_id: key })).status, 200)
    })

    it('lets one of two concurrent calls win when credit is there for one', async () => {
      const { key } = await running.gateway.keys.create({
        name: 'two',
        scopes: ['platform'],
        limits: { credit_limit_usd: 0.1 },
      })
      const replies = await Promise.all([1, 2].map(() => call({ ...CALL, caller_id: key })))
      assert.deepEqual(replies.map(({ status }) => status).sort(), [200, 402])
    })

    it('charges once under an idempotency key, and refuses another body under it', async () => {
      const headers = { 'idempotency-key': 'call-1' }
      const body = { ...CALL, caller_id: running.key }
      const first = await call(body, null, headers)
      const before = await balance()
      const again = await call(body, null, headers)
      assert.deepEqual(await again.json(), await first.json())
      assert.deepEqual(
        [first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')],
        [null, 'true'],
      )
      const other = await call({ ...body, prompt: 'Something else.' }, null, headers)
      assert.deepEqual([other.status, (await errorOf(other)).code], [422, 'idempotency_key_reused'])
      assert.deepEqual(await balance(), before)
    })
  })

  describe('deposits', () => {
    it('count once for each reference', async () => {
      const deposit = { caller_id: running.keyId, amount_usd: 2.5, reference: 'tx-1' }
      const before = await balance()
      for (const _ of [1, 2])
        assert.equal((await post('/api/wallet/metered/deposit', deposit, running.admin)).status, 200)
      assert.equal(await balance(), Math.round((before + 2.5) * 1e6) / 1e6)
      const other = await post('/api/wallet/metered/deposit', { ...deposit, amount_usd: 3 }, running.admin)
      assert.equal(other.status, 409)
    })

    for (const amount_usd of [0.0000001, -1, 0, '1'])
      it(`refuse ${JSON.stringify(amount_usd)}`, async () => {
        const deposit = { caller_id: running.keyId, amount_usd, reference: 'bad' }
        const reply = await post('/api/wallet/metered/deposit', deposit, running.admin)
        assert.deepEqual([reply.status, (await errorOf(reply)).param], [422, 'amount_usd'])
      })
  })

  describe('usage and pricing', () => {
    it('show a caller itself, and an admin everyone', async () => {
      const { key, record } = await running.gateway.keys.create({ name: 'u', scopes: ['platform'] })
      await call({ ...CALL, caller_id: key })
      const own = (await (await get('/api/wallet/metered/usage?group_by=model', key)).json()) as Json
      assert.deepEqual([own.total, own.totals.calls, own.items[0].caller_id], [1, 1, record.id])
      assert.equal(own.groups[0].key, CALL.model)
      assert.equal(own.items[0].result, undefined)
      assert.equal((await get(`/api/wallet/metered/usage?caller_id=${running.keyId}`, key)).status, 403)
      const all = (await (await get('/api/wallet/metered/usage', running.admin)).json()) as Json
      assert.ok(all.by_caller.length > 1)
      assert.ok(all.totals.calls > own.totals.calls)
      assert.ok(!JSON.stringify(all).includes('gzw_'))
    })

    it('come as CSV, all pages of it', async () => {
      const reply = await ask(running, 'GET', '/api/wallet/metered/usage?limit=1', { headers: { accept: 'text/csv' } })
      assert.match(reply.headers.get('content-type') ?? '', /^text\/csv/)
      const lines = (await reply.text()).trim().split('\r\n')
      assert.match(lines[0] ?? '', /^call_id,at,caller_id,model,/)
      const { total } = (await (await get('/api/wallet/metered/usage?limit=1')).json()) as Json
      assert.equal(lines.length, total + 1)
    })

    it('are refused as CSV as they are as JSON', async () => {
      for (const accept of ['text/csv', 'application/json']) {
        const refused = await ask(running, 'GET', '/api/wallet/metered/usage?cursor=x', { headers: { accept } })
        assert.equal(refused.status, 400)
        assert.equal((await errorOf(refused)).code, 'invalid_cursor')
      }
    })

    it('go on from a cursor', async () => {
      await call({ ...CALL, caller_id: running.key })
      const first = (await (await get('/api/wallet/metered/usage?limit=1')).json()) as Json
      const next = (await (await get(`/api/wallet/metered/usage?limit=1&cursor=${first.next_cursor}`)).json()) as Json
      assert.ok(next.items[0].call_id !== first.items[0].call_id)
      assert.equal((await get('/api/wallet/metered/usage?cursor=nonsense')).status, 400)
    })

    it('name the three models and their price', async () => {
      const pricing = (await (await get('/api/wallet/metered/pricing')).json()) as Json
      assert.deepEqual([pricing.currency, pricing.token, pricing.margin_usd], ['USD', 'pathUSD', 0.08])
      assert.equal(pricing.models.length, 3)
      for (const model of pricing.models) assert.equal(model.price_per_1k_tokens_usd, 0.003)
    })
  })

  async function balance(): Promise<number> {
    const wallet = (await (await get('/api/wallet')).json()) as Json
    assert.deepEqual([wallet.agent, wallet.settlement, wallet.balances], [running.keyId, 'ledger', []])
    assert.equal(wallet.ledger.held_usd, 0)
    return wallet.ledger.available_usd
  }
})
