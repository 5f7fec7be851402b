import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { DatabaseSync } from '@photostructure/sqlite'
import { sql } from 'kysely'
import { PRESET_NAMES } from '../../src/providers/providers.ts'
import { copyStore } from '../../src/store/copy.ts'
import { openStore } from '../../src/store/open-store.ts'
import { call, type Instance, startInstance } from '../config/instance.ts'
import { until } from '../doubles/until.ts'
import { completion, json, startUpstream } from '../doubles/upstream.ts'

const open: Instance[] = []
/** Before the folders are removed, which happens when the file is done. */
const closeAll = () => Promise.all(open.splice(0).map((instance) => instance.close()))

async function start(options: Parameters<typeof startInstance>[0] = {}) {
  const instance = await startInstance(options)
  open.push(instance)
  const at = (path: string) => `${instance.platformUrl}${path}`
  return {
    ...instance,
    get: async (path: string, key = instance.admin) => call(at(path), key, { method: 'GET' }),
    set: async (body: unknown, { path = '/api/config', method = 'POST', key = instance.admin, headers = {} } = {}) =>
      call(at(path), key, { method, body, headers }),
    file: () => JSON.parse(readFileSync(join(instance.folder, 'config.json'), 'utf8')),
  }
}

interface Fault {
  code: string
  message: string
  param: string | null
}
const faultOf = ({ body }: { body: Record<string, unknown> }) => body.error as Fault

describe('the configuration over REST', () => {
  after(closeAll)

  it('is shown without secrets, with the variables that are in force and what each is over', async () => {
    const instance = await start({
      document: { upstream: { headers: { 'x-team': 'blue-team-secret' } } },
      env: { GAZEWAY_UPSTREAM: 'openai', OPENAI_API_KEY: 'sk-of-the-environment', GAZEWAY_PORT: '9' },
    })
    const { status, body } = await instance.get('/api/config')
    assert.equal(status, 200)
    const { config, env, flags } = body as unknown as Record<'env' | 'flags', Record<string, { path: string }>> & {
      config: { upstream: { api_key: string; headers: object; models: { chat: string } } }
    }
    assert.equal(config.upstream.api_key, '***')
    assert.deepEqual(config.upstream.headers, {})
    assert.equal(config.upstream.models.chat, 'llm-3-fast')
    assert.deepEqual(env, {
      GAZEWAY_UPSTREAM: { path: 'upstream.provider', value: 'openai' },
      OPENAI_API_KEY: { path: 'upstream.api_key', value: '***' },
    })
    assert.deepEqual(
      Object.keys(flags),
      ['--port', '--platform-port'],
      'the variable that a flag is over is not in force',
    )
    assert.doesNotMatch(JSON.stringify(body), /sk-of-the-environment|blue-team-secret/)
  })

  it('is read with the scope platform and written by admins alone', async () => {
    const instance = await start()
    const { key } = await instance.gateway.keys.create({ name: 'reader', scopes: ['platform'] })
    assert.equal((await instance.get('/api/config', key)).status, 200)
    assert.equal((await instance.get('/api/config/model', key)).status, 200)
    for (const path of ['/api/config', '/api/config/model']) {
      const refused = await instance.set({}, { path, key })
      assert.equal(refused.status, 403)
      assert.equal(faultOf(refused).code, 'insufficient_scope')
    }
  })

  it('changes all keys or none, and says what changed, what waits and what is overridden', async () => {
    const instance = await start({ env: { GAZEWAY_LOG_LEVEL: 'error' } })
    const done = await instance.set({
      'gaze.min_score': 0.5,
      'upstream.aliases.fast': 'fast-model',
      'http.header_timeout_ms': 5000,
      'log.level': 'debug',
    })
    assert.equal(done.status, 200)
    assert.deepEqual(done.body.changed, [
      'upstream.aliases.fast',
      'http.header_timeout_ms',
      'gaze.min_score',
      'log.level',
    ])
    assert.deepEqual(done.body.restart_required, ['http.header_timeout_ms'])
    assert.deepEqual(done.body.overridden, ['log.level'])
    assert.equal(instance.gateway.loaded.config.log.level, 'error')

    const before = instance.file()
    for (const [changes, status, code, param] of [
      [{ 'gaze.min_score': 0.1, 'gaze.min_scor': 1 }, 400, 'unknown_config_key', 'gaze.min_scor'],
      [{ 'gaze.min_score': 0.1, 'gaze.records_needed': 0 }, 422, 'validation_failed', 'gaze.records_needed'],
      [{ 'gaze.min_score': 0.1, '__proto__.x': 1 }, 400, 'unknown_config_key', '__proto__.x'],
    ] as const) {
      const refused = await instance.set(changes, { method: 'PATCH' })
      assert.equal(refused.status, status)
      assert.deepEqual([faultOf(refused).code, faultOf(refused).param], [code, param])
    }
    assert.deepEqual(instance.file(), before)
    assert.equal((await instance.set([1])).status, 422)
    const many = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`upstream.aliases.m${n}`, 'n']))
    const tooMany = await instance.set(many)
    assert.deepEqual([tooMany.status, faultOf(tooMany).code], [422, 'validation_failed'])
    assert.match(faultOf(tooMany).message, /Send at most 1000 changes at once/)
    assert.deepEqual(instance.file(), before)

    const reset = await instance.set({ 'gaze.min_score': null, http: null }, { method: 'PATCH' })
    assert.deepEqual(reset.body.changed, ['http.header_timeout_ms', 'gaze.min_score'])
    assert.deepEqual(reset.body.restart_required, [])
  })

  it('takes back what it showed without losing a secret', async () => {
    const instance = await start({ document: { upstream: { provider: 'openai', api_key: 'sk-secret-of-mine' } } })
    const { body } = await instance.get('/api/config')
    const done = await instance.set(body.config)
    assert.deepEqual([done.status, done.body.changed], [200, []])
    assert.equal(instance.gateway.loaded.config.upstream.api_key, 'sk-secret-of-mine')
    assert.deepEqual(
      instance.file(),
      { upstream: { provider: 'openai', api_key: 'sk-secret-of-mine' } },
      'no default is held fast',
    )
  })

  it('keeps a new secret out of replies and logs', async () => {
    const instance = await start()
    const done = await instance.set({ 'upstream.api_key': 'team-secret-of-ours' })
    instance.gateway.log.error('The upstream refused team-secret-of-ours.')
    assert.doesNotMatch(JSON.stringify(done.body) + instance.logged.join(''), /team-secret-of-ours/)
  })

  it('logs who changed which key, without values', async () => {
    const instance = await start()
    const [first] = (await instance.gateway.keys.list({ limit: 1 })).items
    await instance.set({ 'upstream.api_key': 'team-secret-of-ours', 'gaze.min_score': 0.25 })
    await instance.set({ 'gaze.min_score': 0.25 })
    const made = await instance.set({ name: 'of a person', scopes: ['platform'] }, { path: '/api/keys' })
    const { id, key } = made.body as { id: string; key: string }
    await instance.set({ limits: { concurrent: 7125 } }, { path: `/api/keys/${id}`, method: 'PATCH' })
    await call(`${instance.platformUrl}/api/keys/${id}`, instance.admin, { method: 'DELETE' })
    const lines = instance.logged.map((line) => JSON.parse(line)).filter(({ by }) => by !== undefined)
    assert.deepEqual(
      lines.map(({ time, pid, ...line }) => line),
      [
        {
          by: first?.id,
          level: 'info',
          changed: ['upstream.api_key', 'gaze.min_score'],
          msg: 'Configuration changed.',
        },
        { by: first?.id, level: 'info', key_id: id, scopes: ['platform'], msg: 'Key created.' },
        { by: first?.id, level: 'info', key_id: id, changed: ['limits'], msg: 'Key changed.' },
        { by: first?.id, level: 'info', key_id: id, msg: 'Key revoked.' },
      ],
    )
    assert.doesNotMatch(instance.logged.join(''), new RegExp(`team-secret-of-ours|${key}|of a person`))
  })

  it('refuses changes that would lock out their sender', async () => {
    const upstream = await startUpstream()
    const origin = 'https://console.example'
    const fixed = 'a-fixed-key-of-the-operator'
    const instance = await start({
      document: {
        upstream: { provider: upstream.url },
        identity: { api_key: fixed },
        http: { allowed_hosts: ['gw.example'], allowed_origins: [origin] },
      },
    })
    const ours = { origin }
    const refused = await instance.set({ 'http.allowed_origins': [] }, { headers: ours })
    assert.equal(refused.status, 409)
    assert.match(faultOf(refused).message, /lock yourself out/)
    assert.equal((await instance.set({ 'http.allowed_origins': [] })).status, 200, 'by who comes without an origin')
    assert.equal((await instance.set({}, { headers: ours })).status, 403, 'and it is in force at once')

    assert.equal(await statusByHost(instance, 'gw.example', { 'http.allowed_hosts': [] }), 409)
    assert.equal(
      await statusByHost(instance, 'gw.example', { 'http.allowed_hosts': ['gw.example', 'two.example'] }),
      200,
    )
    assert.equal(await statusByHost(instance, 'two.example', {}), 200)

    for (const { id } of (await instance.gateway.keys.list({ limit: 10 })).items) await instance.gateway.keys.revoke(id)
    const alone = await instance.set({ 'identity.api_key': null }, { key: fixed })
    assert.equal(alone.status, 409)
    assert.match(faultOf(alone).message, /POST \/api\/keys/)
    const other = 'another-key-of-the-operator'
    assert.equal((await instance.set({ 'identity.api_key': other }, { key: fixed })).status, 200)
    assert.equal((await instance.set({}, { key: fixed })).status, 401)
    await instance.gateway.keys.create({ name: 'second', scopes: ['admin'] })
    assert.equal((await instance.set({ 'identity.api_key': null }, { key: other })).status, 200)
    assert.equal((await instance.set({}, { key: other })).status, 401)
    await upstream.close()
  })

  it('sends no key of the environment to an address that was set over REST, nor would after a restart', async (t) => {
    const [first, second] = [await startUpstream(), await startUpstream()]
    t.after(() => Promise.all([first.close(), second.close()]))
    for (const upstream of [first, second]) upstream.on('/chat/completions', json(200, completion('hello')))
    const instance = await start({
      document: { upstream: { provider: first.url }, agent_gateway: { url: first.url } },
      env: { GAZEWAY_UPSTREAM_API_KEY: 'sk-of-the-environment', GAZEWAY_AGENT_GATEWAY_KEY: 'key-of-the-agent' },
    })
    const chat = async () => {
      const body = { messages: [{ role: 'user', content: 'hello' }] }
      return (await call(`${instance.gatewayUrl}/v1/chat/completions`, instance.admin, { body })).status
    }
    const before = instance.file()
    for (const [changes, path, variable] of [
      [{ 'upstream.provider': second.url }, '/api/config', 'GAZEWAY_UPSTREAM_API_KEY'],
      [{ upstream: { provider: 'openai' } }, '/api/config', 'GAZEWAY_UPSTREAM_API_KEY'],
      // It would be in force now, and the environment's over it after a restart.
      [{ 'upstream.provider': second.url, 'upstream.api_key': 'own' }, '/api/config', 'GAZEWAY_UPSTREAM_API_KEY'],
      [{ base_url: second.url, api_key: 'own' }, '/api/config/model', 'GAZEWAY_UPSTREAM_API_KEY'],
      [{ 'agent_gateway.url': second.url }, '/api/config', 'GAZEWAY_AGENT_GATEWAY_KEY'],
    ] as const) {
      const refused = await instance.set(changes, { path })
      assert.deepEqual([refused.status, faultOf(refused).code], [409, 'conflict'])
      assert.ok(faultOf(refused).message.includes(variable), faultOf(refused).message)
      assert.match(faultOf(refused).param ?? '', /^(upstream\.provider|agent_gateway\.url)$/)
    }
    assert.deepEqual(instance.file(), before)

    assert.equal((await instance.set({ 'upstream.provider': 'sandbox' })).status, 200, 'which is in this process')
    assert.match(instance.logged.join(''), /"warn".*"key":"upstream.api_key".*it belongs to the address at startup/)
    assert.equal((await instance.set({ 'gaze.min_score': 0.5 })).status, 200)
    assert.equal((await instance.set({ 'upstream.provider': second.url })).status, 409, 'nor by way of it')
    assert.equal((await instance.set({ 'upstream.provider': first.url })).status, 200, 'back')
    assert.equal(await chat(), 200)
    assert.equal(first.received.at(-1)?.headers.authorization, 'Bearer sk-of-the-environment')
    assert.deepEqual(second.received, [])
  })

  it('refuses what a process could not be started with', async () => {
    const instance = await start()
    for (const [changes, param] of [
      [{ 'http.host': '203.0.113.7' }, 'http.host'],
      [{ 'mpp.enabled': true }, 'mpp.secret_key'],
      [{ 'chain.settlement.mode': 'evm' }, 'chain.settlement.chain_id'],
      [{ 'store.url': `sqlite:${import.meta.filename}` }, 'store.url'],
      [{ 'skills.project': 'a\0b' }, 'skills.project'],
      [{ 'upstream.models.chat': 'a\0b' }, 'upstream.models.chat'],
    ] as const) {
      const refused = await instance.set(changes)
      assert.deepEqual(
        [refused.status, faultOf(refused).code, faultOf(refused).param],
        [422, 'validation_failed', param],
      )
    }
    assert.ok(!existsSync(join(instance.folder, 'config.json')), 'nothing was written')
  })

  it('refuses a store that the caller’s key is not in, until the records are copied there', async () => {
    const instance = await start()
    const to = `sqlite:${join(instance.folder, 'other.db')}`
    const missing = await instance.set({ 'store.url': to })
    assert.deepEqual([missing.status, faultOf(missing).param], [409, 'store.url'])
    assert.ok(!existsSync(join(instance.folder, 'other.db')), 'no store was made')
    const other = await openStore(to)
    const empty = await instance.set({ 'store.url': to })
    assert.deepEqual([empty.status, faultOf(empty).param], [409, 'store.url'])
    assert.match(faultOf(empty).message, /gazeway store copy/)
    await copyStore(instance.gateway.store, other)
    await other.close()
    const copied = await instance.set({ 'store.url': to })
    assert.deepEqual([copied.status, copied.body.restart_required], [200, ['store.url']])
  })

  it('leaves a database that no Gazeway has made as it is, and refuses it, also to the fixed key', async () => {
    const fixed = 'a-fixed-key-of-the-operator'
    const instance = await start({ document: { identity: { api_key: fixed } } })
    const place = join(instance.folder, 'theirs')
    mkdirSync(place)
    const foreign = join(place, 'foreign.db')
    const theirs = new DatabaseSync(foreign)
    theirs.exec('pragma journal_mode = wal; create table keys (id text); create table kysely_migration (name text)')
    theirs.exec("insert into kysely_migration values ('their-first')")
    theirs.close()
    const empty = join(place, 'empty.txt')
    writeFileSync(empty, '')
    execFileSync('mkfifo', [join(place, 'pipe')])
    const before = [foreign, empty].map((file) => readFileSync(file))
    for (const name of ['foreign.db', 'empty.txt', 'pipe', '.', 'missing/or.db', 'x'.repeat(300)])
      for (const key of [fixed, instance.admin]) {
        const refused = await instance.set({ 'store.url': `sqlite:${join(place, name)}` }, { key })
        assert.deepEqual([refused.status, faultOf(refused).param], [409, 'store.url'], name)
        assert.match(faultOf(refused).message, /no Gazeway store.*gazeway store copy/)
      }
    assert.deepEqual(
      [foreign, empty].map((file) => readFileSync(file)),
      before,
    )
    assert.deepEqual(readdirSync(place).sort(), ['empty.txt', 'foreign.db', 'pipe'], 'nothing was made beside them')
  })

  it('refuses the store of a newer Gazeway', async () => {
    const instance = await start()
    const file = join(instance.folder, 'newer.db')
    const store = await openStore(`sqlite:${file}`)
    await sql`insert into kysely_migration values (${'999_newer'}, ${''})`.execute(store.db)
    const newer = await instance.set({ 'store.url': `sqlite:${file}` })
    assert.deepEqual([newer.status, faultOf(newer).param], [422, 'store.url'])
    assert.match(faultOf(newer).message, /newer Gazeway/)
    await store.close()
  })

  it('refuses to listen on loopback alone where the caller’s host would be foreign then', async () => {
    const instance = await start({ document: { http: { host: '0.0.0.0' } } })
    const change = { 'http.host': '127.0.0.1' }
    assert.equal(await statusByHost(instance, 'gw.example', change), 409)
    assert.equal(await statusByHost(instance, 'gw.example', { ...change, 'http.allowed_hosts': ['gw.example'] }), 200)
  })

  it('leaves a file that a person broke to that person', async () => {
    const instance = await start()
    const file = join(instance.folder, 'config.json')
    writeFileSync(file, '{"gaze": {')
    const refused = await instance.set({ 'gaze.min_score': 0.5 })
    assert.equal(refused.status, 409)
    assert.match(faultOf(refused).message, /config\.json: line 1, column 11: not valid JSON.*Repair the file first/)
    assert.equal(readFileSync(file, 'utf8'), '{"gaze": {')
    assert.equal(instance.logged.filter((line) => line.includes('could not be applied')).length, 1)
  })

  it('turns the limit of requests on and off', async () => {
    const instance = await start()
    const { key } = await instance.gateway.keys.create({ name: 'busy', scopes: ['platform'] })
    await instance.set({ 'http.rate_limit.requests_per_minute': 2 })
    const statuses = []
    for (let n = 0; n < 3; n++) statuses.push((await instance.get('/api/config', key)).status)
    assert.deepEqual(statuses, [200, 200, 429])
    await instance.set({ 'http.rate_limit': null })
    assert.equal((await instance.get('/api/config', key)).status, 200)
  })
})

describe('the models over REST', () => {
  after(closeAll)

  it('are shown and changed part by part, and the next call goes there', async () => {
    const upstream = await startUpstream()
    upstream.on('/chat/completions', json(200, completion('hello')))
    const path = '/api/config/model'
    const instance = await start({ document: { upstream: { provider: 'openai', api_key: 'sk-of-openai' } } })
    const shown = (await instance.get(path)).body
    assert.equal(shown.provider, 'openai')
    assert.equal(shown.base_url, 'https://api.openai.com/v1')
    assert.equal(shown.api_key_set, true)

    const echoed = await instance.set(shown, { path })
    assert.deepEqual([echoed.status, echoed.body.changed], [200, []])

    const moved = await instance.set({ base_url: upstream.url, models: { chat: 'their-chat' } }, { path })
    assert.equal(moved.body.provider, 'custom')
    assert.equal(moved.body.base_url, upstream.url)
    assert.equal(moved.body.api_key_set, false, 'the key of another provider')
    const { value } = await instance.gateway.upstream.chat(
      { messages: [{ role: 'user', content: 'hello' }] },
      { surface: 'platform', callerId: null },
    )
    assert.equal(value.choices[0]?.message.content, 'hello')
    assert.equal(upstream.received[0]?.headers.authorization, undefined)
    assert.equal(Object(upstream.received[0]?.body).model, 'their-chat')

    const keyed = await instance.set({ api_key: 'key-of-theirs', aliases: { a: 'b' } }, { path })
    assert.equal(keyed.body.api_key_set, true)
    assert.deepEqual(keyed.body.aliases, { a: 'b' })
    assert.doesNotMatch(JSON.stringify(keyed.body), /key-of-theirs/)
    assert.equal(
      (await instance.set({ models: { chat: null } }, { path })).body.changed?.toString(),
      'upstream.models.chat',
    )

    for (const [body, param] of [
      [{ provider: 'openai', base_url: 'http://other.example/v1' }, 'base_url'],
      [{ provider: 'nobody' }, 'upstream.provider'],
      [{ model: 'x' }, 'model'],
    ] as const) {
      const refused = await instance.set(body, { path })
      assert.deepEqual([refused.status, faultOf(refused).param], [422, param])
    }
    assert.equal((await instance.set({ provider: 'sandbox' }, { path })).body.provider, 'sandbox')
    await upstream.close()
  })

  it('take a key for the provider that a variable names with that provider alone, and keep both', async () => {
    const path = '/api/config/model'
    const document = { upstream: { provider: 'openrouter', api_key: 'sk-of-openrouter' } }
    const instance = await start({ document, env: { GAZEWAY_UPSTREAM: 'openai' } })
    for (const refused of [
      await instance.set({ api_key: 'sk-of-openai' }, { path }),
      await instance.set({ 'upstream.api_key': 'sk-of-openai' }),
      await instance.set({ upstream: { headers: { 'x-team': 'of-openai' } } }),
    ]) {
      assert.deepEqual([refused.status, faultOf(refused).code], [409, 'conflict'])
      assert.match(
        faultOf(refused).message,
        /GAZEWAY_UPSTREAM sets another one\. Send upstream\.provider with it to store both/,
      )
      assert.deepEqual(instance.file(), document)
    }
    const shown = (await instance.get(path)).body
    assert.deepEqual((await instance.set(shown, { path })).body.changed, [], 'sent back as it was shown')

    const kept = await instance.set({ provider: 'openai', api_key: 'sk-of-openai' }, { path })
    assert.deepEqual(kept.body.changed, ['upstream.provider', 'upstream.api_key'])
    assert.equal(kept.body.api_key_set, true)
    assert.deepEqual(instance.file(), { upstream: { provider: 'openai', api_key: 'sk-of-openai' } })
    assert.equal(instance.gateway.loaded.config.upstream.api_key, 'sk-of-openai')

    const other = await instance.set({ 'upstream.provider': 'xai', 'upstream.api_key': 'sk-of-xai' })
    assert.deepEqual(other.body.overridden, ['upstream.provider', 'upstream.api_key'], 'neither is in force')
    assert.deepEqual(instance.file(), { upstream: { provider: 'xai', api_key: 'sk-of-xai' } })
    assert.equal(instance.gateway.loaded.config.upstream.api_key, null)
  })

  it('give up one of several headers of the provider that is stored, whichever a variable names', async () => {
    const document = { upstream: { provider: 'openrouter', headers: { 'x-team': 'blue', 'x-title': 'Ours' } } }
    const instance = await start({ document, env: { GAZEWAY_UPSTREAM: 'openai' } })
    assert.equal((await instance.set({ 'upstream.headers.x-title': null })).status, 200)
    assert.deepEqual(instance.file(), { upstream: { provider: 'openrouter', headers: { 'x-team': 'blue' } } })
  })

  it('take a key for what is stored while the sandbox is in force, and say that it is not', async () => {
    const instance = await start({ env: { GAZEWAY_UPSTREAM: 'sandbox' } })
    const kept = await instance.set({ 'upstream.api_key': 'sk-of-xai' })
    assert.deepEqual([kept.body.changed, kept.body.overridden], [['upstream.api_key'], ['upstream.api_key']])
    assert.deepEqual(instance.file(), { upstream: { api_key: 'sk-of-xai' } })
  })

  it('are listed with the providers that are known', async (t) => {
    const upstream = await startUpstream()
    t.after(() => upstream.close())
    upstream.on('/models', json(200, { data: [{ id: 'their-model', object: 'model', created: 1, owned_by: 'them' }] }))
    const instance = await start({
      document: { upstream: { provider: upstream.url, aliases: { fast: 'their-model' } } },
      env: { XAI_API_KEY: 'xai-of-the-environment' },
    })
    const { body } = await instance.get('/api/available-models')
    const ids = (body.models as { id: string; description: string }[]).map(({ id }) => id)
    assert.ok(ids.includes('their-model') && ids.includes('fast'), ids.join())
    assert.deepEqual(body.items, body.models)
    assert.equal(body.total, ids.length)
    const providers = body.providers as { id: string; authenticated: boolean }[]
    const authenticated = Object.fromEntries(providers.map((provider) => [provider.id, provider.authenticated]))
    assert.deepEqual(Object.keys(authenticated), [...PRESET_NAMES, 'custom'])
    const { xai, openai, gemini, ollama, sandbox, custom } = authenticated
    assert.deepEqual(
      { xai, openai, gemini, ollama, sandbox, custom },
      {
        xai: true,
        openai: false,
        gemini: false,
        ollama: true,
        sandbox: true,
        custom: true,
      },
    )
    const asked = () => upstream.received.filter(({ path }) => path === '/v1/models').length
    // By the request above, and for the health of the gateway, which the platform asks for as it starts.
    await until(() => asked() >= 2)
    const other = await instance.get('/api/available-models?provider=openai')
    assert.equal(other.body.provider, 'openai')
    assert.deepEqual((other.body.models as { description: string }[])[0]?.description, 'gpt-5')
    assert.equal(asked(), 2, 'no other provider is asked')
  })
})

/** Status of a change under a Host header, which `fetch` cannot set. */
function statusByHost({ platformUrl, admin }: Instance, host: string, changes: object): Promise<number | undefined> {
  const text = JSON.stringify(changes)
  return new Promise((resolve, reject) => {
    const headers = { host, authorization: `Bearer ${admin}`, 'content-type': 'application/json' }
    const sent = httpRequest(`${platformUrl}/api/config`, { method: 'PATCH', headers }, (reply) => {
      reply.resume().on('end', () => resolve(reply.statusCode))
    })
    sent.on('error', reject).end(text)
  })
}
