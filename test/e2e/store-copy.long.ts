import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { ConfigDocument } from '../../src/config/config-schema.ts'
import { tableHome } from '../../src/config/table-home.ts'
import { settingsIn } from '../../src/config/take-over.ts'
import { openStore } from '../../src/store/open-store.ts'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { newPlace, type Place, run } from './server.ts'

const SECRET = 'sk-kept-in-the-settings'
const SETTINGS: ConfigDocument = {
  upstream: { provider: 'openai', api_key: SECRET },
  pricing: { margin_usd: 0.05 },
  wallet: { default_credit_limit_usd: 0 },
}
const PATHS = 'upstream.provider, upstream.api_key, pricing.margin_usd, wallet.default_credit_limit_usd'

describe('the settings of a store that is copied', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.remove())

  /** A database whose machines share `settings`. */
  async function databaseWith(settings: ConfigDocument): Promise<string> {
    const url = await server.database()
    const store = await openStore(url)
    await tableHome({ store, now: () => new Date(), onRefused: assert.fail }).change({}, () => settings)
    await store.close()
    return url
  }

  const copy = (place: Place, from: string | null, to: string) =>
    run(place, ['store', 'copy', '--to', to, ...(from === null ? [] : ['--store', from])])

  for (const name of ['gazeway.db', 'moved.db'])
    it(`are in the config.json of the data folder after a copy from PostgreSQL into its ${name}`, async () => {
      const place = newPlace()
      const url = await databaseWith(SETTINGS)
      const target = `sqlite:${join(place.data, name)}`
      const { code, stdout, stderr } = await copy(place, url, target)
      assert.equal(code, 0, stderr)
      assert.match(stdout, /counts and sums agree/)
      const file = join(place.data, 'config.json')
      assert.equal(stderr, `4 settings were copied into ${file}: ${PATHS}.\n`)
      assert.deepEqual(configOf(place), SETTINGS)
      assert.deepEqual(await keysIn(target), [], 'none come into force again on the way back to PostgreSQL')
    })

  it('replace what config.json says otherwise, which is printed without its secrets', async () => {
    const place = newPlace()
    mkdirSync(place.data, { mode: 0o700 })
    const before = {
      upstream: { provider: 'xai', api_key: 'xai-of-the-file', headers: { 'x-of': 'xai' } },
      pricing: { margin_usd: 0.01 },
      gaze: { min_score: 0.7 },
    }
    writeFileSync(join(place.data, 'config.json'), JSON.stringify(before))
    const target = `sqlite:${join(place.data, 'gazeway.db')}`
    const { code, stdout, stderr } = await copy(place, await databaseWith(SETTINGS), target)
    assert.equal(code, 0, stderr)
    assert.match(
      stderr,
      /Replaced other values: upstream\.provider \(was "xai"\), upstream\.api_key, upstream\.headers, pricing\.margin_usd \(was 0\.01\)\./,
    )
    for (const secret of [SECRET, 'xai-of-the-file']) assert.ok(!(stdout + stderr).includes(secret), secret)
    assert.deepEqual(configOf(place), { ...SETTINGS, gaze: { min_score: 0.7 } }, 'with no header of another provider')
  })

  it('are printed, and come back with a copy to PostgreSQL, where the copy is no data folder’s', async () => {
    const place = newPlace()
    const backup = `sqlite:${join(place.project, 'backup.db')}`
    const { code, stderr } = await copy(place, await databaseWith(SETTINGS), backup)
    assert.equal(code, 0, stderr)
    assert.ok(stderr.startsWith(`4 settings were not copied: ${PATHS}. `), stderr)
    assert.ok(!stderr.includes(SECRET))
    assert.ok(!existsSync(join(place.project, 'config.json')) && !existsSync(place.data), 'no file is made for them')

    const restored = await server.database()
    const back = await copy(place, backup, restored)
    assert.equal(back.code, 0, back.stderr)
    assert.equal(back.stderr, `4 settings are in force on every machine that uses this store: ${PATHS}.\n`)
    assert.deepEqual(await keysIn(restored), await keysIn(backup))
  })

  it('of a store on SQLite, which nobody reads there, leave config.json alone in a backup of it', async () => {
    const place = newPlace()
    const old = `sqlite:${join(place.project, 'old.db')}`
    await copy(place, await databaseWith(SETTINGS), old)
    mkdirSync(place.data, { mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ pricing: { margin_usd: 0.25 } }))
    const backup = `sqlite:${join(place.data, 'backup.db')}`
    const { code, stderr } = await copy(place, old, backup)
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(configOf(place), { pricing: { margin_usd: 0.25 } })
    assert.deepEqual(await keysIn(backup), await keysIn(old))
  })

  it('end the command with 1 where config.json cannot be written, and stay in the copy', async () => {
    const place = newPlace()
    const data = join(place.project, 'broken')
    mkdirSync(data)
    writeFileSync(join(data, 'config.json'), '{ "gaze": ')
    const target = `sqlite:${join(data, 'gazeway.db')}`
    const { code, stderr } = await copy(place, await databaseWith(SETTINGS), target)
    assert.equal(code, 1)
    assert.match(stderr, /^gazeway: All records were copied, but 4 settings were not copied: [^\n]+line 1[^\n]+\n$/)
    assert.ok(stderr.includes(PATHS) && !stderr.includes(SECRET), stderr)
    assert.equal(readFileSync(join(data, 'config.json'), 'utf8'), '{ "gaze": ')
    assert.equal((await keysIn(target)).length, 4)
    rmSync(data, { recursive: true })
  })

  it('in config.json stay with its machine when the records go to PostgreSQL, which is printed', async () => {
    const place = newPlace()
    mkdirSync(place.data, { mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ ...SETTINGS, store: { url: null } }))
    assert.equal((await run(place, ['key', 'create', '--name', 'ann'])).code, 0)
    const { code, stderr } = await copy(place, null, await server.database())
    assert.equal(code, 0, stderr)
    assert.ok(stderr.startsWith(`4 settings stay in ${join(place.data, 'config.json')}, `), stderr)
    assert.ok(stderr.includes(`: ${PATHS}. Give the other machines`) && !stderr.includes(SECRET), stderr)
  })
})

const configOf = ({ data }: Place) => JSON.parse(readFileSync(join(data, 'config.json'), 'utf8'))

async function keysIn(url: string): Promise<string[]> {
  const store = await openStore(url)
  try {
    return (await settingsIn(store)).known
  } finally {
    await store.close()
  }
}

describe('a backup', () => {
  it('takes the place of a store whose process was killed, once its log is out of the way', async () => {
    const place = newPlace()
    const backup = join(place.home, 'backup.db')
    const gateway = await startGatewayProcess(place, { args: ['--upstream', 'sandbox'] })
    const keep = async (key: string) => {
      const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
      const body = JSON.stringify({ key, value: 'x'.repeat(5000) })
      assert.equal((await fetch(`${gateway.url}/memory/store`, { method: 'POST', headers, body })).status, 201)
    }
    for (let i = 0; i < 20; i++) await keep(`before-${i}`)
    const copied = await run(place, ['store', 'copy', '--to', `sqlite:${backup}`])
    assert.equal(copied.code, 0, copied.stderr)
    for (let i = 0; i < 50; i++) await keep(`after-${i}`)
    gateway.kill('SIGKILL')
    await gateway.exit

    const old = join(place.data, 'old')
    mkdirSync(old)
    const files = readdirSync(place.data).filter((name) => name.startsWith('gazeway.db'))
    assert.ok(files.includes('gazeway.db-wal'), 'what was written last is still in the log')
    for (const file of files) renameSync(join(place.data, file), join(old, file))
    copyFileSync(backup, join(place.data, 'gazeway.db'))
    const { code, stdout } = await run(place, ['doctor', '--upstream', 'sandbox'])
    assert.equal(code, 0, stdout)
    assert.match(stdout, /^ok {4}store +sqlite, memories: 20/m)
  })
})
