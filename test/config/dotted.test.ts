import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { checkConfig } from '../../src/config/check-config.ts'
import { CONFIG_KEYS, schemaOf } from '../../src/config/config-keys.ts'
import type { Config, ConfigDocument } from '../../src/config/config-schema.ts'
import { setDotted } from '../../src/config/dotted.ts'
import { redactConfig } from '../../src/config/redact.ts'
import { GazewayError } from '../../src/errors.ts'

const inForce = (document: ConfigDocument) => checkConfig(document).data as Config
const set = (document: ConfigDocument, changes: Record<string, unknown>) =>
  setDotted(document, changes, inForce(document))

function refusal(document: ConfigDocument, changes: Record<string, unknown>): GazewayError {
  const before = structuredClone(document)
  try {
    set(document, changes)
  } catch (error) {
    assert.ok(error instanceof GazewayError)
    assert.deepEqual(document, before, 'the document was touched')
    return error
  }
  assert.fail('the change was accepted')
}

describe('setDotted', () => {
  it('sets keys and leaves the rest', () => {
    const document = { gaze: { min_score: 0.7 } }
    assert.deepEqual(set(document, { 'gaze.records_needed': 5, 'http.port': 1 }), {
      gaze: { min_score: 0.7, records_needed: 5 },
      http: { port: 1 },
    })
    assert.deepEqual(document, { gaze: { min_score: 0.7 } })
  })

  it('resets a key, an entry or a section with null', () => {
    const document = {
      http: { port: 1, host: '::1' },
      upstream: { aliases: { a: 'b', c: 'd' } },
      gaze: { min_score: 1 },
    }
    assert.deepEqual(set(document, { 'http.port': null, 'upstream.aliases.a': null, gaze: null }), {
      http: { host: '::1' },
      upstream: { aliases: { c: 'd' } },
    })
    assert.deepEqual(set({}, { 'http.port': null, store: null }), {})
  })

  it('takes the rest of the key as the name of an entry, dots included', () => {
    assert.deepEqual(
      set(
        {},
        {
          'pricing.models.llm-4.20': { input: 1, output: 2 },
          'upstream.aliases.a\\.b': 'c',
          'upstream.aliases.20': 'd',
        },
      ),
      {
        pricing: { models: { 'llm-4.20': { input: 1, output: 2 } } },
        upstream: { aliases: { 'a.b': 'c', '20': 'd' } },
      },
    )
  })

  it('takes a section as changes inside it', () => {
    assert.deepEqual(set({ http: { port: 1 } }, { http: { host: '::1', rate_limit: { requests_per_minute: 5 } } }), {
      http: { port: 1, host: '::1', rate_limit: { requests_per_minute: 5 } },
    })
    assert.equal(refusal({}, { http: 5 }).param, 'http')
    assert.equal(refusal({}, { http: { prot: 5 } }).code, 'unknown_config_key')
  })

  it('makes all changes or none', () => {
    const error = refusal({ http: { port: 1 } }, { 'gaze.min_score': 0.5, 'http.port': 70_000 })
    assert.equal(error.code, 'validation_failed')
    assert.equal(error.param, 'http.port')
    assert.equal(error.message, 'http.port: too large; must be a whole number from 0 to 65535.')
  })

  it('refuses one port for both services, whatever flags and variables lie over it', () => {
    const flagged = inForce({ http: { port: 1, platform_port: 2 } })
    const error = { code: 'validation_failed', param: 'http.platform_port' }
    for (const changes of [{ 'http.port': 9000, 'http.platform_port': 9000 }, { http: { port: 8812 } }])
      assert.throws(() => setDotted({}, changes, flagged), error)
    assert.ok(setDotted({}, { 'http.port': 0, 'http.platform_port': 0 }, flagged))
    const already = { http: { port: 8812 } }
    assert.ok(setDotted(already, { 'gaze.min_score': 0.7 }, flagged), 'what was so before is not what is changed')
  })

  it('names the nearest key to an unknown one', () => {
    const error = refusal({}, { 'gaze.min_scor': 1 })
    assert.equal(error.code, 'unknown_config_key')
    assert.equal(error.status, 400)
    assert.equal(error.param, 'gaze.min_scor')
    assert.match(error.message, /nearest is gaze\.min_score/)
  })

  it('refuses keys that reach a prototype', () => {
    const keys = ['__proto__', '__proto__.x', 'constructor.prototype.x', 'http.__proto__.x', 'http.constructor']
    for (const key of [...keys, 'upstream.aliases.__proto__', 'upstream.aliases.constructor', 'upstream.aliases.']) {
      assert.equal(refusal({}, JSON.parse(`{${JSON.stringify(key)}: "x"}`)).code, 'unknown_config_key', key)
    }
    assert.equal(refusal({}, { 'upstream.aliases': JSON.parse('{"__proto__": "x"}') }).code, 'unknown_config_key')
    assert.equal(({} as Record<string, unknown>).x, undefined)
  })

  it('never reaches a prototype, whatever the key', () => {
    const part = fc.constantFrom(
      '__proto__',
      'constructor',
      'prototype',
      'http',
      'upstream',
      'aliases',
      'models',
      'x',
      '0',
    )
    const before = Object.getOwnPropertyNames(Object.prototype).length
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), fc.jsonValue(), (parts, value) => {
        try {
          set({}, { [parts.join('.')]: value })
        } catch (error) {
          assert.ok(error instanceof GazewayError)
        }
        assert.equal(Object.getOwnPropertyNames(Object.prototype).length, before)
      }),
    )
  })

  it('changes nothing where a secret comes back as it was shown', () => {
    const document: ConfigDocument = {
      upstream: { api_key: 'xai-secret', headers: { 'x-team': 'blue-team', 'x-old': 'gone' } },
      store: { url: 'postgres://me:hunter22@db/x' },
    }
    const shown = redactConfig(inForce(document))
    const after = set(document, {
      'upstream.api_key': '***',
      'upstream.headers': { 'x-team': '***', 'x-new': 'value', 'x-unknown': '***' },
      'store.url': shown.store.url,
    })
    assert.equal(shown.store.url, 'postgres://me:***@db/x')
    assert.equal(after.upstream?.api_key, 'xai-secret')
    assert.deepEqual(after.upstream?.headers, { 'x-team': 'blue-team', 'x-new': 'value' })
    assert.equal(after.store?.url, 'postgres://me:hunter22@db/x')
    assert.deepEqual(set(document, { 'upstream.headers.x-team': '***' }), document)
  })

  it('takes the whole redacted configuration back without losing a secret', () => {
    const document: ConfigDocument = { upstream: { api_key: 'xai-secret' }, store: { url: 'postgres://me:pw@db/x' } }
    const after = set(document, redactConfig(inForce(document)))
    assert.deepEqual(inForce(after), inForce(document))
  })

  it('refuses to guess the password of another URL', () => {
    const error = refusal({ store: { url: 'postgres://me:pw@db/x' } }, { 'store.url': 'postgres://me:***@other/x' })
    assert.equal(error.code, 'validation_failed')
    assert.match(error.message, /password is redacted/)
  })

  it('knows every key of the schema', () => {
    for (const { key } of CONFIG_KEYS) set({}, { [key]: schemaOf(key).parse(undefined) })
  })
})
