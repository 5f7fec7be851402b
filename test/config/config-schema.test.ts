import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkConfig } from '../../src/config/check-config.ts'
import { CONFIG_KEYS, schemaOf } from '../../src/config/config-keys.ts'
import { Config } from '../../src/config/config-schema.ts'
import { accepts } from '../../src/text/schema-in-words.ts'
import { parseInput } from '../../src/wire/validation.ts'

const refused = (document: unknown) => checkConfig(document).success === false

describe('the configuration schema', () => {
  it('fills in every default', () => {
    const { data } = checkConfig({})
    assert.equal(data?.upstream.provider, 'xai')
    assert.equal(data?.upstream.models.primary, 'llm-4.20-multi-agent-beta-0309')
    assert.equal(data?.http.max_body_bytes, 4 * 1024 * 1024)
    assert.equal(data?.pricing.margin_usd, 0.08)
    assert.equal(data?.store.url, null)
  })

  it('describes every key and what it accepts', () => {
    for (const { key } of CONFIG_KEYS) {
      assert.match(schemaOf(key).description ?? '', /^\S.*\.$/, key)
      assert.notEqual(accepts(schemaOf(key)), '', key)
      assert.equal(schemaOf(key).safeParse(undefined).success, true, `${key} has a default`)
    }
  })

  it('marks as secret what is one', () => {
    const secret = CONFIG_KEYS.filter((known) => known.secret !== null).map((known) => known.key)
    assert.deepEqual(secret, [
      'upstream.api_key',
      'upstream.headers',
      'upstream.proxy',
      'store.url',
      'agent_gateway.key',
      'identity.api_key',
      'remote.key',
      'wallet.private_key',
      'alerts.webhook_url',
      'alerts.webhook_secret',
      'mpp.secret_key',
      'mpp.evm.rpc_url',
      'mpp.tempo.rpc_url',
      'chain.rpc_urls',
    ])
  })

  it('checks a document section by section as it would as a whole', () => {
    const documents: unknown[] = [
      {},
      { log: { level: 'debug' }, upstream: {}, upstreams: { a: { provider: 'xai' } }, routes: undefined },
      { mpp: { evm: { chain_id: 1 } }, chain: { networks: { 1: { name: 'one' } } } },
      { http: { port: '1' }, log: { level: 'loud' } },
      { http: null },
      { htp: {}, http: { port: 1 } },
      JSON.parse('{"__proto__": {"x": 1}}'),
      [],
      null,
      'text',
      undefined,
    ]
    for (const document of documents) {
      const [found, whole] = [checkConfig(document), Config.safeParse(document)]
      assert.equal(JSON.stringify(found.data), JSON.stringify(whole.data))
      assert.deepEqual(found.error?.issues, whole.error?.issues)
    }
  })

  it('gives each document defaults of its own', () => {
    checkConfig({}).data?.http.allowed_hosts.push('changed.example')
    assert.deepEqual(checkConfig({}).data?.http.allowed_hosts, [])
  })

  it('refuses what it does not know', () => {
    assert.ok(refused({ htp: {} }))
    assert.ok(refused({ http: { prot: 1 } }))
    assert.ok(refused({ upstream: { models: { prime: 'x' } } }))
    assert.ok(refused(JSON.parse('{"__proto__": {"x": 1}}')))
  })

  it('takes a provider by name or as a base URL that carries no secret', () => {
    for (const provider of ['sandbox', 'http://localhost:11434/v1', 'https://api.example.com']) {
      assert.ok(!refused({ upstream: { provider } }), provider)
    }
    for (const provider of ['XAI', 'ftp://x', 'https://u:p@x.com', 'https://x.com/v1?key=1', 'x.com/v1', '']) {
      assert.ok(refused({ upstream: { provider } }), provider)
    }
  })

  it('takes hosts as they are named without a port', () => {
    for (const host of ['gate.example', 'localhost', '192.0.2.7', '::1', '2001:DB8:0::7'])
      assert.ok(!refused({ http: { host, allowed_hosts: [host] } }), host)
    for (const host of ['gate.example:8811', '192.0.2.7:80', '[::1]', '[::1]:8811', '1:2', 'http://gate.example', '']) {
      assert.ok(refused({ http: { allowed_hosts: [host] } }), host)
      assert.ok(refused({ http: { host } }), host)
    }
  })

  it('takes proxies by address or network', () => {
    for (const proxy of ['192.0.2.7', '10.0.0.0/8', '::1', 'fd00::/8', '0.0.0.0/0', '2001:DB8::/128'])
      assert.ok(!refused({ http: { trusted_proxies: [proxy] } }), proxy)
    for (const proxy of ['nginx', '10.0.0.0/33', '10.0.0.0/', 'fd00::/129', '10.0.0/8', 'fe80::1%eth0', '/8', ''])
      assert.ok(refused({ http: { trusted_proxies: [proxy] } }), proxy)
  })

  it('takes the absolute path of a project', () => {
    assert.ok(!refused({ skills: { project: process.cwd() } }))
    for (const project of ['.', 'project', './project', '~/project'])
      assert.ok(refused({ skills: { project } }), project)
  })

  it('refuses paths that could lead elsewhere', () => {
    for (const path of ['models', '//x', '/a/../b', '/a/./b', '/%2e%2e/x', '/a?b', 'http://x/', '/', '/a/', '/a\\b']) {
      assert.ok(refused({ upstream: { allowed_paths: [path] } }), path)
    }
    assert.ok(!refused({ upstream: { allowed_paths: ['/chat/completions', '/v2/models.list'] } }))
  })

  it('refuses keys and headers that would break a request line', () => {
    assert.ok(refused({ upstream: { api_key: 'a\nb' } }))
    assert.ok(refused({ upstream: { headers: { 'x-a': 'b\r\nc: d' } } }))
    assert.ok(refused({ upstream: { headers: { 'x a': 'b' } } }))
  })

  it('refuses headers that each request sets itself, and says so', () => {
    for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'connection', 'expect']) {
      for (const document of [
        { upstream: { headers: { [name]: '1' } } },
        { upstreams: { one: { provider: 'openai', headers: { [name]: '1' } } } },
      ]) {
        assert.throws(() => parseInput(Config, document), {
          code: 'validation_failed',
          message: /headers\.[a-z-]+: invalid name; .*which each request sets itself/i,
        })
      }
    }
  })

  it('takes every whole number of micro-dollars as a price', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), (micros) => {
        assert.ok(!refused({ pricing: { margin_usd: micros / 1_000_000 } }))
      }),
    )
    assert.ok(refused({ pricing: { margin_usd: 0.0000001 } }))
    assert.ok(refused({ pricing: { models: { a: 0.003 } } }))
    assert.ok(refused({ pricing: { models: { a: { input: 1 } } } }))
    assert.ok(refused({ pricing: { models: { a: { input: 0.1234567, output: 1 } } } }))
  })
})
