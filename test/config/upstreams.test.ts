import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { checkConfig } from '../../src/config/check-config.ts'
import { loadConfig, mergeConfig } from '../../src/config/config.ts'
import type { Config, ConfigDocument } from '../../src/config/config-schema.ts'
import { parseDocument } from '../../src/config/document.ts'
import { setDotted } from '../../src/config/dotted.ts'
import { redactConfig, secretsOf } from '../../src/config/redact.ts'
import { unknownVariables } from '../../src/config/unknown-variables.ts'
import { errorOf } from '../doubles/error-of.ts'
import { newFolder } from './folder.ts'

const filled = (document: ConfigDocument) => checkConfig(document).data as Config
const set = (document: ConfigDocument, changes: Record<string, unknown>, inForce = filled(document)) =>
  setDotted(document, changes, inForce)
const KEYS = ['first-key-of-mine', 'second-key-of-mine']
const MINE = {
  mine: {
    provider: 'http://127.0.0.1:9/v1',
    api_keys: KEYS,
    headers: { 'x-team': 'secret-of-the-team' },
    key_ids: ['key_1'],
  },
}

describe('upstreams and routes', () => {
  for (const [what, document, message] of [
    ['a name with a slash', { upstreams: { 'a/b': {} } }, /upstreams\.a\/b: invalid name; must be .*without "\/"/],
    [
      'the name default',
      { upstreams: { default: {} } },
      /upstreams\.default: invalid name; must be .*"default" is reserved/,
    ],
    ['a name of every object', { upstreams: { constructor: {} } }, /upstreams\.constructor: invalid name/],
    [
      'no provider',
      { upstreams: { mine: {} } },
      /upstreams\.mine\.provider: unknown provider mine; must be a known provider, or a base URL/,
    ],
    [
      'two names with one variable',
      { upstreams: { 'a-b': { provider: 'groq' }, A_b: { provider: 'groq' } } },
      /upstreams\.A_b: .*GAZEWAY_UPSTREAM_A_B_API_KEYS already belongs to a-b/,
    ],
    [
      'an empty glob of models',
      { upstreams: { groq: { models: [''] } } },
      /upstreams\.groq\.models\.0: invalid format; must be a model id, or a glob/,
    ],
    ['an empty glob of a route', { routes: [{ model: '', to: ['default'] }] }, /routes\.0\.model: invalid format/],
    ['a route that leads nowhere', { routes: [{ model: '*', to: [] }] }, /routes\.0\.to: too short/],
    [
      'a route to an unknown upstream',
      { upstreams: { groq: {} }, routes: [{ model: '*', to: ['default', 'grok/x'] }] },
      /routes\.0\.to\.1: unknown upstream grok; must be one of default, groq\. Did you mean groq\?/,
    ],
    [
      'a target that is unknown',
      { routes: [{ model: '*', to: [{ upstream: 'nobody' }] }] },
      /routes\.0\.to\.0\.upstream: unknown upstream nobody/,
    ],
    [
      'a weight of nothing',
      { routes: [{ model: '*', to: [{ upstream: 'default', weight: 0 }] }] },
      /routes\.0\.to\.0\.weight: too small/,
    ],
    [
      'a circle of aliases',
      { upstream: { aliases: { a: 'b', b: 'c', c: 'a' } } },
      /upstream\.aliases: a → b → c → a is a cycle/,
    ],
    [
      'a circle of aliases elsewhere',
      { upstreams: { groq: { aliases: { x: 'y', y: 'x' } } } },
      /upstreams\.groq\.aliases: x → y → x is a cycle/,
    ],
    [
      'a key in place of its id',
      { upstreams: { groq: { key_ids: [null, 'sk-proj-secret'] } } },
      /upstreams\.groq\.key_ids\.1: invalid format; must be an id such as key_AbC123, never the key itself/,
    ],
  ] as const)
    it(`are refused with ${what}, in a file and in a change`, () => {
      const inFile = errorOf(() => parseDocument(JSON.stringify(document), 'config.json'))
      assert.deepEqual([inFile.code, /^config\.json: /.test(inFile.message)], ['config_invalid', true])
      assert.match(inFile.message, message)
      const changed = errorOf(() => set({}, document))
      if (what !== 'a name of every object') assert.match(changed.message, message)
    })

  it('may have names that stand for themselves, and names in a row', () => {
    const aliases = { a: 'a', b: 'c', c: 'd' }
    assert.deepEqual(parseDocument(JSON.stringify({ upstream: { aliases } }), 'config.json'), { upstream: { aliases } })
  })

  it('show no key and no header, and hide them in texts', () => {
    const config = filled({ upstreams: MINE })
    const shown = redactConfig(config).upstreams.mine
    assert.deepEqual([shown?.api_keys, shown?.headers], [['***', '***'], { 'x-team': '***' }])
    for (const secret of [...KEYS, 'secret-of-the-team']) assert.ok(secretsOf(config).includes(secret), secret)
    assert.deepEqual(config.upstreams.mine?.api_keys, KEYS, 'the configuration itself is as it was')
  })

  it('are the same when they are sent back as they are shown', () => {
    const document = { upstreams: MINE }
    const shown = redactConfig(filled(document))
    assert.deepEqual(set(document, { upstreams: shown.upstreams }), document)
    const entry = set(document, { 'upstreams.mine': shown.upstreams.mine }).upstreams?.mine
    assert.deepEqual([entry?.api_keys, entry?.headers], [KEYS, MINE.mine.headers])
  })

  it('are set field by field', () => {
    const document = { upstreams: MINE }
    const next = set(document, {
      'upstreams.mine.weight': 3,
      'upstreams.mine.api_keys': ['***', '***', 'third-key-of-mine'],
      'upstreams.mine.aliases.fast.v2': 'model-2',
      'upstreams.mine.headers.x-team': null,
      'upstreams.other': { provider: 'groq' },
    })
    assert.deepEqual(next.upstreams, {
      mine: {
        provider: MINE.mine.provider,
        api_keys: [...KEYS, 'third-key-of-mine'],
        headers: {},
        key_ids: ['key_1'],
        weight: 3,
        aliases: { 'fast.v2': 'model-2' },
      },
      other: { provider: 'groq' },
    })
    assert.deepEqual(set(next, { 'upstreams.other': null }).upstreams, { mine: next.upstreams?.mine })
    assert.equal(errorOf(() => set(document, { 'upstreams.mine.colour': 1 })).code, 'unknown_config_key')
    assert.equal(errorOf(() => set(document, { 'upstreams.__proto__.weight': 1 })).code, 'unknown_config_key')
  })

  it('never send a key to another address than the one that it was given for', () => {
    const document = { upstreams: MINE }
    const moved = set(document, { 'upstreams.mine.base_url': 'http://evil.example/v1' }).upstreams?.mine
    assert.deepEqual([moved?.api_keys, moved?.key_ids, moved?.headers], [undefined, undefined, undefined])
    const shown = { ...MINE.mine, base_url: 'http://evil.example/v1', api_keys: ['***', '***'], headers: {} }
    for (const changes of [
      { 'upstreams.mine': shown },
      { upstreams: { mine: shown } },
      { upstreams: { theirs: shown } },
    ])
      assert.match(errorOf(() => set(document, changes)).message, /\*\*\* stands for the stored secret of its address/)
    const withKey = set(document, {
      'upstreams.mine.base_url': 'http://proxy.example/v1',
      'upstreams.mine.api_keys': KEYS,
    })
    assert.deepEqual(withKey.upstreams?.mine?.api_keys, KEYS, 'but with the address they can be sent anew')
  })

  it('keep no header of the last address beside those that come with a new one', () => {
    const document = { upstreams: MINE }
    for (const header of ['x-new', 'x-team.more']) {
      const changes = {
        'upstreams.mine.base_url': 'http://evil.example/v1',
        [`upstreams.mine.headers.${header}`]: 'new',
      }
      assert.deepEqual(set(document, changes).upstreams?.mine?.headers, { [header]: 'new' })
    }
  })

  describe('with keys in the environment', () => {
    const request = {
      env: { GAZEWAY_UPSTREAM_MINE_API_KEYS: 'env-key-number-1, env-key-number-2', GROQ_API_KEY: 'groq-key-number-1' },
      flags: {},
      cwd: '/',
    }
    const upstreams = {
      mine: { provider: 'http://127.0.0.1:9/v1' },
      groq: {},
      proxied: { provider: 'groq', base_url: 'http://127.0.0.1:8/v1' },
    }
    const merged = (document: ConfigDocument, started?: Config) =>
      mergeConfig(request, '/nowhere', { document, settings: new Map() }, started)

    it('have those of their own variable, else of their provider’s, which goes to the provider alone', () => {
      const { config, secrets } = merged({ upstreams })
      assert.deepEqual(config.upstreams.mine?.api_keys, ['env-key-number-1', 'env-key-number-2'])
      assert.deepEqual(config.upstreams.groq?.api_keys, ['groq-key-number-1'])
      assert.deepEqual(config.upstreams.proxied?.api_keys, [])
      assert.ok(secrets.includes('env-key-number-2'))
      assert.deepEqual(
        set({ upstreams }, { 'upstreams.mine.api_keys': ['***', '***'], 'upstreams.mine.weight': 2 }, config).upstreams
          ?.mine,
        { ...upstreams.mine, weight: 2 },
      )
    })

    it('lose them with another address, and have none where they were not at the start', () => {
      const { config } = merged({ upstreams })
      const there = merged({ upstreams: { ...upstreams, mine: { provider: 'http://evil.example/v1' } } }, config)
      assert.deepEqual([there.config.upstreams.mine?.api_keys, there.leftOut], [[], ['upstreams.mine.api_keys']])
      const added = merged({ upstreams }, filled({}))
      assert.deepEqual([added.config.upstreams.mine?.api_keys, added.leftOut], [[], ['upstreams.mine.api_keys']])
      assert.deepEqual(added.config.upstreams.groq?.api_keys, ['groq-key-number-1'])
    })

    it('say which variable is wrong, and never what is in it', async () => {
      const env = { GAZEWAY_UPSTREAM_MINE_API_KEYS: 'a secret with spaces' }
      const error = errorOf(() =>
        mergeConfig({ ...request, env }, '/nowhere', { document: { upstreams }, settings: new Map() }),
      )
      assert.match(
        error.message,
        /^GAZEWAY_UPSTREAM_MINE_API_KEYS: invalid format; must be keys without spaces, separated by commas/,
      )
      await loadConfig({ env, flags: { data: newFolder() } })
    })

    it('know their variables, and no other', () => {
      assert.equal(unknownVariables(request.env, ['mine']), null)
      assert.match(unknownVariables(request.env) ?? '', /GAZEWAY_UPSTREAM_MINE_API_KEYS is not read/)
    })
  })
})
