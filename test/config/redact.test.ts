import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkConfig } from '../../src/config/check-config.ts'
import type { Config } from '../../src/config/config-schema.ts'
import { redactConfig, redactText, redactUrl, secretsOf } from '../../src/config/redact.ts'

const config = checkConfig({
  upstream: { api_key: 'xai-0123456789', headers: { 'x-team': 'team-secret', 'x-short': 'on' } },
  store: { url: 'postgres://me:p%40ssw0rd@db.example.com/gazeway' },
}).data as Config

describe('redactConfig', () => {
  it('hides every secret and shows the rest', () => {
    const shown = redactConfig(config)
    assert.equal(shown.upstream.api_key, '***')
    assert.deepEqual(shown.upstream.headers, { 'x-team': '***', 'x-short': '***' })
    assert.equal(shown.store.url, 'postgres://me:***@db.example.com/gazeway')
    assert.equal(shown.http.port, 8811)
    assert.doesNotMatch(JSON.stringify(shown), /0123456789|team-secret|ssw0rd/)
    assert.equal(config.upstream.api_key, 'xai-0123456789')
  })

  it('leaves a secret that is not set as null', () => {
    const shown = redactConfig(checkConfig({}).data as Config)
    assert.equal(shown.upstream.api_key, null)
    assert.equal(shown.store.url, null)
  })
})

describe('redactUrl', () => {
  it('hides the password wherever it is', () => {
    assert.equal(redactUrl('postgres://me:pw@db/x?sslmode=require'), 'postgres://me:***@db/x?sslmode=require')
    assert.equal(redactUrl('postgres://db/x?password=pw'), 'postgres://db/x?password=***')
    assert.equal(redactUrl('postgres://me@db/x'), 'postgres://me@db/x')
    assert.equal(redactUrl('sqlite:/some where/x.db'), 'sqlite:/some where/x.db')
  })
})

describe('redactText', () => {
  const secrets = secretsOf(config)

  it('knows the configured secrets, longest first, passwords decoded too', () => {
    assert.deepEqual(new Set(secrets), new Set(['xai-0123456789', 'team-secret', 'p%40ssw0rd', 'p@ssw0rd']))
    assert.deepEqual(
      secrets,
      [...secrets].sort((a, b) => b.length - a.length),
    )
  })

  it('knows the keys in secret URLs, however those are written, and leaves their words', () => {
    const rpc_urls = {
      1: 'https://mainnet.example.com/v3/0123456789abcdef0123456789abcdef',
      2: 'https://user-name:pass%2Fword@node.example.com/base-sepolia-testnet?apikey=query-secret&v=2',
    }
    const { data } = checkConfig({
      chain: { rpc_urls },
      mpp: { evm: { rpc_url: 'https://x.example/aa bb?k=other-key' } },
    })
    const known = secretsOf(data as Config)
    const hide = (text: string) => redactText(text, known)
    assert.equal(hide('project 0123456789abcdef0123456789abcdef is over'), 'project *** is over')
    assert.equal(hide('for pass/word, query-secret and other-key'), 'for ***, *** and ***')
    assert.equal(hide('at https://x.example/aa%20bb?k=other-key'), 'at ***')
    assert.equal(hide('mainnet v3 base-sepolia-testnet'), 'mainnet v3 base-sepolia-testnet')
  })

  it('leaves secrets of fewer than 8 characters, which are words of ordinary text', () => {
    const { data } = checkConfig({ upstream: { api_key: 'ollama' } })
    assert.equal(redactText('asked ollama for llama3', secretsOf(data as Config)), 'asked ollama for llama3')
  })

  it('replaces them inside text', () => {
    assert.equal(redactText('401 for xai-0123456789 of team-secret', secrets), '401 for *** of ***')
  })

  const looks: [before: string, after: string][] = [
    ['key gzw_01hf2x_AbCdEfGh123456 refused', 'key gzw_*** refused'],
    ['OPENAI sk-proj-abcdefghijklmnop1234', 'OPENAI sk-***'],
    ['xai-AbCdEfGhIjKlMnOp', 'xai-***'],
    ['Authorization: Bearer abc123def456', 'Authorization: Bearer ***'],
    ['{"authorization":"Basic dTpw","host":"x"}', '{"authorization":"***","host":"x"}'],
    ['{"X-Api-Key": "a\\"b"}', '{"X-Api-Key": "***"}'],
    ['postgres://me:pw@db/x failed', 'postgres://me:***@db/x failed'],
  ]
  for (const [before, after] of looks)
    it(`recognises ${JSON.stringify(before)}`, () => assert.equal(redactText(before, []), after))

  it('leaves ordinary text alone', () => {
    const text = 'task_0199f4c2c5b27a3e8f0d of ask-me, see http://localhost:8811/v1 and Bearer authentication, me@x.com'
    assert.equal(redactText(text, []), text)
  })

  it('leaves nothing of a secret, whatever stands around it', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        assert.ok(!redactText(`${before}team-secret${after}`, secrets).includes('team-secret'))
      }),
    )
  })

  it('takes time in proportion to the text, whatever is in it', () => {
    const hostile = ['a', 'bearer ', 'Bearer a', '"cookie": "', '\\', '://', 'a:', 'sk-', 'a1', ' ', '@']
    for (const piece of hostile) {
      const started = performance.now()
      redactText(piece.repeat(200_000), secrets)
      // By the square it would be an hour.
      assert.ok(performance.now() - started < 30_000, `${JSON.stringify(piece)} took too long`)
    }
  })
})
