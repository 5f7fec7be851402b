import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import pg from 'pg'
import { copyStore } from '../../src/store/copy.ts'
import { openStore } from '../../src/store/open-store.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { followingContract } from './following.ts'
import { call, startInstance } from './instance.ts'

const server = await sharedPostgres()

followingContract('two machines on one PostgreSQL', async (provider) => {
  const env = { GAZEWAY_STORE: await server.databaseWithTables() }
  const [first, watched] = [
    await startInstance({ env, document: { upstream: { provider } } }),
    await startInstance({ env, document: { upstream: { provider } } }),
  ]
  return {
    watched,
    async change(body) {
      const reply = await call(`${first.platformUrl}/api/config`, first.admin, { body })
      assert.equal(reply.status, 200, JSON.stringify(reply.body))
    },
    async close() {
      await Promise.all([first.close(), watched.close()])
    },
  }
})

it('looks for the caller’s key in another PostgreSQL database without changing anything there', async () => {
  const [url, other] = [await server.database(), await server.databaseWithTables()]
  const [instance, store] = [await startInstance({}), await openStore(other)]
  const refusalOf = async (to: string) => {
    const { status, body } = await call(`${instance.platformUrl}/api/config`, instance.admin, {
      body: { 'store.url': to },
    })
    return [status, Object(body.error).message?.match(/no Gazeway store|your key is not in it/)?.[0]]
  }
  try {
    assert.deepEqual(await refusalOf(url), [409, 'no Gazeway store'])
    const theirs = new pg.Client(url)
    await theirs.connect()
    const { rows } = await theirs.query("select * from information_schema.tables where table_schema = 'public'")
    await theirs.end()
    assert.deepEqual(rows, [])
    assert.deepEqual(await refusalOf(other), [409, 'your key is not in it'])
    await copyStore(instance.gateway.store, store)
    assert.deepEqual(await refusalOf(other), [200, undefined])
  } finally {
    await Promise.all([instance.close(), store.close()])
  }
})

describe('settings in PostgreSQL', () => {
  it('lie over the config.json of each machine, which stays as it is, and below the environment', async () => {
    const env = { GAZEWAY_STORE: await server.databaseWithTables() }
    const one = await startInstance({ env, document: { gaze: { min_score: 0.1 } } })
    const secret = 'sk-in-the-database'
    await one.gateway.config.set({ 'gaze.min_score': 0.5, 'upstream.api_key': secret, 'upstream.aliases.a': 'b' })
    const other = await startInstance({
      env: { ...env, GAZEWAY_UPSTREAM_API_KEY: 'sk-of-the-environment' },
      document: { gaze: { min_score: 0.2 }, upstream: { aliases: { c: 'd' } } },
    })
    try {
      const { config, sources } = other.gateway.loaded
      assert.equal(config.gaze.min_score, 0.5)
      assert.equal(sources['gaze.min_score'], 'settings')
      assert.equal(config.upstream.api_key, 'sk-of-the-environment')
      assert.deepEqual(config.upstream.aliases, { a: 'b' })
      assert.equal(JSON.parse(readFileSync(join(one.folder, 'config.json'), 'utf8')).gaze.min_score, 0.1)
      one.gateway.log.error(`upstream said ${secret}`)
      assert.ok(!one.logged.join('').includes(secret), 'a secret that was set while running stays out of the log')

      await one.gateway.config.set({ 'gaze.min_score': null })
      await other.gateway.config.refresh()
      assert.equal(other.gateway.loaded.config.gaze.min_score, 0.6, 'the default, whatever config.json says')
      await assert.rejects(one.gateway.config.set({ 'store.url': 'sqlite:x' }), {
        code: 'conflict',
        param: 'store.url',
      })
    } finally {
      await Promise.all([one.close(), other.close()])
    }
  })

  it('passes over a setting of another version, and says so', async () => {
    const url = await server.databaseWithTables()
    const store = await openStore(url)
    const row = { value: '"x"', updated_at: new Date().toISOString() }
    await store.db
      .insertInto('settings')
      .values([
        { path: 'gaze.min_score', ...row },
        { path: 'new.key', ...row },
      ])
      .execute()
    await store.close()
    const instance = await startInstance({ env: { GAZEWAY_STORE: url } })
    await instance.close()
    assert.equal(instance.gateway.loaded.config.gaze.min_score, 0.6)
    assert.ok(
      instance.logged.some((line) => line.includes('new.key')),
      instance.logged.join(''),
    )
    assert.ok(!existsSync(join(instance.folder, 'config.json')), 'nothing is written')
  })

  it('loses none of the changes that several machines make at once', async () => {
    const env = { GAZEWAY_STORE: await server.databaseWithTables() }
    const machines = [await startInstance({ env }), await startInstance({ env })]
    const names = Array.from({ length: 20 }, (_, n) => `m-${n}`)
    await Promise.all(
      names.map((name, n) =>
        machines[n % 2]?.gateway.config.set({ [`pricing.models.${name}`]: { input: n, output: n } }),
      ),
    )
    await machines[0]?.gateway.config.refresh()
    assert.deepEqual(Object.keys(machines[0]?.gateway.loaded.config.pricing.models ?? {}).sort(), names.sort())
    await Promise.all(machines.map((machine) => machine.close()))
  })
})
