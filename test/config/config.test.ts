import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { loadConfig } from '../../src/config/config.ts'
import type { ConfigFlags, Environment } from '../../src/config/environment.ts'
import { newFolder } from './folder.ts'

/** A data folder whose config.json holds `document`, and what loads it. */
function folderWith(document?: unknown, env: Environment = {}, flags: ConfigFlags = {}) {
  const home = newFolder()
  const file = join(home, 'config.json')
  if (document !== undefined) writeFileSync(file, typeof document === 'string' ? document : JSON.stringify(document))
  const request = { env: { GAZEWAY_HOME: home, ...env }, flags, cwd: '/work-folder' }
  return { home, file, request }
}

describe('loadConfig', () => {
  it('puts flags over the environment over config.json over the defaults, and says which', async () => {
    const { request } = folderWith(
      { http: { host: '::1', port: 1, platform_port: 1 }, upstream: { aliases: { a: 'b' } } },
      { GAZEWAY_PORT: '2', GAZEWAY_PLATFORM_PORT: '2' },
      { platformPort: '3' },
    )
    const { config, sources } = await loadConfig(request)
    assert.deepEqual([config.http.host, config.http.port, config.http.platform_port], ['::1', 2, 3])
    assert.equal(sources['http.host'], 'file')
    assert.equal(sources['http.port'], 'environment')
    assert.equal(sources['http.platform_port'], 'flag')
    assert.equal(sources['upstream.aliases'], 'file')
    assert.equal(sources['gaze.min_score'], 'default')
  })

  it('creates nothing, not even the data folder', async () => {
    const { home } = folderWith()
    const { dataDir } = await loadConfig({ env: { GAZEWAY_HOME: join(home, 'new') }, flags: {} })
    assert.equal(dataDir, join(home, 'new'))
    assert.deepEqual(readdirSync(home), [])
  })

  it('freezes what it returns', async () => {
    const { config } = await loadConfig(folderWith().request)
    assert.throws(() => {
      config.http.port = 1
    }, TypeError)
    assert.throws(() => config.http.allowed_hosts.push('x'), TypeError)
  })

  it('makes the store absolute, from where it was written', async () => {
    const inFile = folderWith({ store: { url: 'sqlite:a.db' } })
    assert.equal((await loadConfig(inFile.request)).storeUrl, `sqlite:${join(inFile.home, 'a.db')}`)
    const inVariable = folderWith({}, { GAZEWAY_STORE: 'sqlite:c.db' })
    assert.equal((await loadConfig(inVariable.request)).storeUrl, `sqlite:${join(inVariable.home, 'c.db')}`)
    const flagged = folderWith({}, {}, { store: 'sqlite:b.db' })
    assert.equal((await loadConfig(flagged.request)).storeUrl, 'sqlite:/work-folder/b.db')
    const atHome = folderWith({}, { GAZEWAY_STORE: 'sqlite:~/d.db' })
    assert.equal((await loadConfig(atHome.request)).storeUrl, `sqlite:${join(homedir(), 'd.db')}`)
    const unset = folderWith()
    assert.equal((await loadConfig(unset.request)).storeUrl, `sqlite:${join(unset.home, 'gazeway.db')}`)
    const postgres = folderWith({}, { GAZEWAY_STORE: 'postgres://me:hunter22@db/x' })
    const loaded = await loadConfig(postgres.request)
    assert.equal(loaded.storeUrl, 'postgres://me:hunter22@db/x')
    assert.deepEqual(loaded.secrets, ['hunter22'])
  })

  it('takes the key from its own variable, else from that of the provider, else from config.json', async () => {
    const env = { XAI_API_KEY: 'xai-env', OPENAI_API_KEY: 'sk-env' }
    const keyOf = async (document: unknown, more: Environment, flags: ConfigFlags = {}) =>
      (await loadConfig(folderWith(document, more, flags).request)).config.upstream.api_key
    assert.equal(await keyOf({ upstream: { api_key: 'in-file' } }, {}), 'in-file')
    assert.equal(await keyOf({ upstream: { api_key: 'in-file' } }, env), 'xai-env')
    assert.equal(await keyOf({}, { ...env, GAZEWAY_UPSTREAM_API_KEY: 'own' }), 'own')
    assert.equal(await keyOf({}, env, { upstream: 'openai' }), 'sk-env')
    assert.equal(await keyOf({}, env, { upstream: 'ollama' }), null)
  })

  it('never sends the key of config.json to another provider', async () => {
    const document = { upstream: { provider: 'openai', api_key: 'sk-file', headers: { 'x-key': 'secret' } } }
    const { config } = await loadConfig(folderWith(document, {}, { upstream: 'https://elsewhere.example/v1' }).request)
    assert.equal(config.upstream.api_key, null)
    assert.deepEqual(config.upstream.headers, {})
    const same = await loadConfig(folderWith(document, { GAZEWAY_UPSTREAM: 'openai' }).request)
    assert.equal(same.config.upstream.api_key, 'sk-file')
  })

  it('reads a file that begins with a byte order mark', async () => {
    assert.equal((await loadConfig(folderWith('\uFEFF{"http":{"port":5}}').request)).config.http.port, 5)
  })

  it('sends the agent gateway’s key in config.json to no other agent gateway', async () => {
    const document = { agent_gateway: { url: 'http://one.example', key: 'key-of-one' } }
    const keyWith = async (env: Record<string, string>) =>
      (await loadConfig(folderWith(document, env).request)).config.agent_gateway.key
    assert.equal(await keyWith({}), 'key-of-one')
    assert.equal(await keyWith({ GAZEWAY_AGENT_GATEWAY_URL: 'http://one.example' }), 'key-of-one')
    assert.equal(await keyWith({ GAZEWAY_AGENT_GATEWAY_URL: 'http://two.example' }), null)
    const both = { GAZEWAY_AGENT_GATEWAY_URL: 'http://two.example', GAZEWAY_AGENT_GATEWAY_KEY: 'key-of-two' }
    assert.equal(await keyWith(both), 'key-of-two')
  })

  const broken: [name: string, text: string, message: RegExp, param: string | null][] = [
    ['JSON that ends too early', '{"http": {', /: line 1, column 11: not valid JSON; must be a JSON object/, null],
    ['a stray comma', '{\n  "http": {\n    "port": 1,\n  }\n}', /: line 4, column 3: not valid JSON/, null],
    ['a word that is no value', '{\n  "a": yes\n}', /: line 2, column 8: not valid JSON/, null],
    ['an empty file', '', /: line 1, column 1: not valid JSON/, null],
    ['a list', '[]', /: configuration: got a list; must be an object\./, null],
    ['a wrong type', '{"http": {"port": "80"}}', /: http\.port: got text; must be a whole number from 0/, 'http.port'],
    [
      'an unknown key',
      '{"htp": {}}',
      /: htp: unknown field; must be one of upstream, upstreams, routes, store, http/,
      'htp',
    ],
    [
      'what other programs call a setting',
      '{"upstream": {"base_url": "http://127.0.0.1:1/v1"}}',
      /: upstream\.base_url: unknown field; .*\. The nearest is upstream\.provider, which takes an address; beside the name of a provider it is upstreams\.NAME\.base_url\.$/,
      'upstream.base_url',
    ],
    [
      'a field that only the other upstreams have',
      '{"upstream": {"weight": 3}}',
      /: upstream\.weight: unknown field; .*\. The nearest is upstreams\.NAME\.weight\.$/,
      'upstream.weight',
    ],
    [
      'the address of an upstream as other programs call it',
      '{"upstreams": {"mine": {"provider": "openai", "apiBase": "http://127.0.0.1:1/v1"}}}',
      /: upstreams\.mine\.apiBase: unknown field; .*\. The nearest is upstreams\.mine\.base_url\.$/,
      'upstreams.mine.apiBase',
    ],
    [
      'a misspelt field of an entry',
      '{"upstreams": {"mine": {"provider": "openai", "apikeys": ["secret-of-mine"]}}}',
      /: upstreams\.mine\.apikeys: unknown field; [^"]*\. The nearest is upstreams\.mine\.api_keys\.$/,
      'upstreams.mine.apikeys',
    ],
    [
      'a value out of range',
      '{"gaze": {"min_score": 2}}',
      /: gaze\.min_score: too large; must be a number from 0 to 1/,
      'gaze.min_score',
    ],
    ['null where a value is needed', '{"http": null}', /: http: got null; must be an object/, 'http'],
  ]
  for (const [name, text, message, param] of broken) {
    it(`stops at ${name}, and leaves the file byte for byte`, async () => {
      const { home, file, request } = folderWith(text)
      await assert.rejects(loadConfig(request), (error: Error & { code: string; param: string | null }) => {
        assert.equal(error.code, 'config_invalid')
        assert.ok(error.message.startsWith(`${file}: `), error.message)
        assert.match(error.message, message)
        assert.equal(error.param, param)
        return true
      })
      assert.equal(readFileSync(file, 'utf8'), text)
      assert.deepEqual(readdirSync(home), ['config.json'])
    })
  }

  it('keeps secrets in broken JSON out of the error', async () => {
    const { request } = folderWith('{"upstream": {"api_key": "xai-0123456789abc" yes}}')
    await assert.rejects(loadConfig(request), (error: Error) => {
      assert.doesNotMatch(`${error.stack} ${String(error.cause)}`, /0123456789/)
      return true
    })
  })

  it('says so when config.json cannot be read', async () => {
    const { file, request } = folderWith()
    mkdirSync(file)
    await assert.rejects(loadConfig(request), {
      code: 'config_invalid',
      message: `${file}: cannot be read (EISDIR); must be a readable JSON file.`,
    })
  })

  it('refuses a config.json that is a pipe or a device, and waits for neither', async () => {
    const pipe = folderWith()
    execFileSync('mkfifo', [pipe.file])
    const device = folderWith()
    symlinkSync('/dev/zero', device.file)
    for (const { file, request } of [pipe, device])
      await assert.rejects(loadConfig(request), {
        code: 'config_invalid',
        message: `${file}: a pipe, socket or device; must be a readable JSON file.`,
      })
  })
})
