import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { describe, it } from 'node:test'
import { CONFIG_KEYS, schemaOf } from '../../src/config/config-keys.ts'
import { findDataDir, readEnvironment, readFlags, readProviderKey, VARIABLES } from '../../src/config/environment.ts'
import { platformFolder } from '../../src/config/platform-folder.ts'
import { unknownVariables } from '../../src/config/unknown-variables.ts'
import { GazewayError } from '../../src/errors.ts'

function refusal(read: () => unknown): GazewayError {
  try {
    read()
  } catch (error) {
    assert.ok(error instanceof GazewayError)
    assert.equal(error.code, 'config_invalid')
    return error
  }
  assert.fail('the value was accepted')
}

describe('the environment', () => {
  it('sets what its variables say, numbers as numbers', () => {
    const env = { GAZEWAY_PORT: ' 9000 ', GAZEWAY_STORE: 'sqlite:x.db', GAZEWAY_UPSTREAM_API_KEY: '123456789\n' }
    assert.deepEqual(Object.fromEntries(readEnvironment(env)), {
      'http.port': 9000,
      'store.url': 'sqlite:x.db',
      'upstream.api_key': '123456789',
    })
  })

  it('takes an empty variable as one that is not set', () => {
    assert.equal(readEnvironment({ GAZEWAY_PORT: '', GAZEWAY_UPSTREAM: '  ' }).size, 0)
  })

  it('takes a reference that an assistant did not fill in as one that is not set', async () => {
    for (const text of [
      '${XAI_API_KEY}',
      '${XAI_API_KEY:-}',
      '${env:XAI_API_KEY}',
      '${input:key}',
      '{env:XAI_API_KEY}',
    ]) {
      assert.equal(readEnvironment({ GAZEWAY_UPSTREAM: text, GAZEWAY_UPSTREAM_API_KEY: text }).size, 0)
      assert.equal(readProviderKey({ XAI_API_KEY: text }, 'xai'), undefined)
      assert.equal(findDataDir({}, { GAZEWAY_HOME: text }, '/'), findDataDir({}, {}, '/'))
    }
    assert.equal(readEnvironment({ GAZEWAY_UPSTREAM_API_KEY: '$ecret${x}' }).size, 1)
  })

  it('takes the address of a container of the same name as no setting', () => {
    const env = { GAZEWAY_PORT: 'tcp://10.96.3.4:8811', GAZEWAY_PLATFORM_PORT: 'udp://[fd00::1]:8812' }
    assert.equal(readEnvironment(env).size, 0)
    refusal(() => readEnvironment({ GAZEWAY_UPSTREAM: 'tcp://10.0.0.3:11434' }))
  })

  it('names the variable and what it accepts', () => {
    const cases: [variable: string, value: string, message: string][] = [
      ['GAZEWAY_PORT', 'http', 'GAZEWAY_PORT: got text; must be a whole number from 0 to 65535.'],
      ['GAZEWAY_PORT', '70000', 'GAZEWAY_PORT: too large; must be a whole number from 0 to 65535.'],
      ['GAZEWAY_PORT', '1.5', 'GAZEWAY_PORT: not a whole number; must be a whole number from 0 to 65535.'],
    ]
    for (const [variable, value, message] of cases) {
      const error = refusal(() => readEnvironment({ [variable]: value }))
      assert.equal(error.message, message)
      assert.equal(error.param, variable)
    }
    const short = refusal(() => readEnvironment({ GAZEWAY_API_KEY: 'only-15-letters' }))
    assert.match(short.message, /^GAZEWAY_API_KEY: .*must be a key of at least 16 characters/)
    assert.match(refusal(() => readEnvironment({ GAZEWAY_LOG_LEVEL: 'loud' })).message, /must be one of "silent"/)
    assert.match(refusal(() => readEnvironment({ GAZEWAY_UPSTREAM: 'xay' })).message, /must be xai, openai/)
  })

  it('accepts no null, and does not say that it does', () => {
    const refused = Object.keys(VARIABLES).flatMap((variable) => {
      const { key } = CONFIG_KEYS.find(({ key }) => key === VARIABLES[variable]) ?? assert.fail(variable)
      // A text that none of them takes.
      const { message } = refusal(() => readEnvironment({ [variable]: 'n o' }))
      assert.match(message, /; must be .*[^,]\.$/)
      assert.doesNotMatch(message, /null/)
      return schemaOf(key).safeParse(null).success ? [key] : []
    })
    assert.ok(refused.includes('store.url') && refused.length > 5)
    assert.match(refusal(() => readFlags({ store: 'null' })).message, /must be sqlite:PATH, postgres:[^ ]+\.$/)
  })

  it('does not repeat a refused secret', () => {
    const { message } = refusal(() => readEnvironment({ GAZEWAY_UPSTREAM_API_KEY: 'my secret' }))
    assert.match(message, /^GAZEWAY_UPSTREAM_API_KEY: /)
    assert.doesNotMatch(message, /my secret/)
  })

  it('sets only keys that exist', () => {
    for (const key of Object.values(VARIABLES))
      assert.ok(
        CONFIG_KEYS.some((known) => known.key === key),
        key,
      )
  })

  it("reads a provider's own key, and none for a provider that has none", () => {
    const env = { XAI_API_KEY: 'xai-key', OPENAI_API_KEY: 'sk-key' }
    assert.equal(readProviderKey(env, 'xai'), 'xai-key')
    assert.equal(readProviderKey(env, 'openai'), 'sk-key')
    assert.equal(readProviderKey(env, 'openrouter'), undefined)
    assert.equal(readProviderKey(env, 'https://elsewhere.example/v1'), undefined)
    assert.equal(readProviderKey(env, 'constructor'), undefined)
    assert.equal(refusal(() => readProviderKey({ XAI_API_KEY: 'a b' }, 'xai')).param, 'XAI_API_KEY')
  })
})

describe('the flags', () => {
  it('set what they say', () => {
    const flags = { port: '1', platformPort: 2, upstream: 'sandbox', logLevel: 'debug', host: undefined }
    assert.deepEqual(Object.fromEntries(readFlags(flags)), {
      'http.port': 1,
      'http.platform_port': 2,
      'upstream.provider': 'sandbox',
      'log.level': 'debug',
    })
  })

  it('are named when they are wrong, empty ones too', () => {
    assert.equal(refusal(() => readFlags({ platformPort: '-1' })).param, '--platform-port')
    assert.equal(refusal(() => readFlags({ upstream: '' })).param, '--upstream')
  })
})

describe('the data folder', () => {
  it('is the flag, else the variable, else the place of the platform', async () => {
    assert.equal(findDataDir({ data: 'a' }, { GAZEWAY_HOME: '/b' }, '/c'), '/c/a')
    assert.equal(findDataDir({}, { GAZEWAY_HOME: 'b' }, '/c'), '/c/b')
    const own = findDataDir({}, {}, '/c')
    assert.match(own, /gazeway/)
    assert.equal(own, join(own))
    assert.throws(() => findDataDir({ data: '' }, {}, '/c'), { code: 'config_invalid', param: '--data' })
  })

  it('is where each platform keeps data', () => {
    const windows = { LOCALAPPDATA: 'D:\\Local' }
    assert.equal(platformFolder('linux', {}, '/home/ann'), '/home/ann/.local/share/gazeway')
    assert.equal(platformFolder('linux', { XDG_DATA_HOME: '/data' }, '/home/ann'), '/data/gazeway')
    assert.equal(platformFolder('darwin', {}, '/Users/ann'), '/Users/ann/Library/Application Support/gazeway')
    assert.equal(platformFolder('win32', {}, 'C:\\Users\\ann'), 'C:\\Users\\ann\\AppData\\Local\\gazeway\\Data')
    assert.equal(platformFolder('win32', windows, 'C:\\Users\\ann'), 'D:\\Local\\gazeway\\Data')
    const home = 'C:\\Users\\Jörg Müller (Żółć)'
    assert.equal(platformFolder('win32', {}, home), `${home}\\AppData\\Local\\gazeway\\Data`)
  })

  it('is below the home folder where a path begins with ~/, which no shell has put in', async () => {
    assert.equal(findDataDir({ data: '~/a' }, {}, '/c'), join(homedir(), 'a'))
    assert.equal(findDataDir({}, { GAZEWAY_HOME: '~/b' }, '/c'), join(homedir(), 'b'))
    assert.equal(findDataDir({}, { GAZEWAY_HOME: '~' }, '/c'), homedir())
    assert.equal(findDataDir({}, { GAZEWAY_HOME: '~b/c' }, '/c'), '/c/~b/c')
  })

  it('is not below the working directory where the variable that names it is empty or relative', () => {
    const module = new URL('../../src/config/environment.ts', import.meta.url)
    const settings = [
      ['HOME', ''],
      ['HOME', 'relative'],
      ['XDG_DATA_HOME', ''],
      ['XDG_DATA_HOME', 'relative'],
      ['XDG_DATA_HOME', '~/data'],
    ]
    // A process of its own: this changes its home folder.
    const program = `const { findDataDir } = await import('${module}')
      const { HOME } = process.env
      for (const [name, value] of ${JSON.stringify(settings)}) {
        Object.assign(process.env, { HOME, XDG_DATA_HOME: '', [name]: value })
        console.log(findDataDir({}, {}, '/c'))
      }`
    const { XDG_DATA_HOME, LOCALAPPDATA, ...env } = process.env
    const options = { env, encoding: 'utf8' } as const
    const found = execFileSync(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], options)
    const folders = found.trim().split('\n')
    assert.equal(folders.length, settings.length)
    for (const [i, folder] of folders.entries()) assert.ok(isAbsolute(folder), `${settings[i]}: ${folder}`)
  })
})

describe('variables that nothing reads', () => {
  it('are reported with the nearest name that is read, and without their values', () => {
    const env = { GAZEWAY_UPSTREM: 'sandbox-secret', GAZEWAY_API_KEYS: 'x', GAZEWAY_HOME: '/data' }
    assert.equal(
      unknownVariables(env),
      'GAZEWAY_UPSTREM is not read; the nearest variable is GAZEWAY_UPSTREAM. ' +
        'GAZEWAY_API_KEYS is not read; the nearest variable is GAZEWAY_API_KEY.',
    )
  })

  it('are none of others, of clients, of containers beside a service of this name, or empty', () => {
    const env = {
      ...Object.fromEntries([...Object.keys(VARIABLES), 'GAZEWAY_HOME'].map((name) => [name, 'x'])),
      XAI_API_KEYS: 'x',
      MY_GAZEWAY_UPSTREM: 'x',
      GAZEWAY_KEY: 'the documentation’s examples',
      GAZEWAY_SERVICE_HOST: '10.0.0.1',
      GAZEWAY_SERVICE_PORT_HTTP: '8811',
      GAZEWAY_PORT_8811_TCP_ADDR: '10.0.0.1',
      GAZEWAY_DB_PORT: 'tcp://10.0.0.1:5432',
      GAZEWAY_UPSTREM: ' ',
    }
    assert.equal(unknownVariables(env), null)
  })
})
