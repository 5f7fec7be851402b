import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { openStore } from '../../src/store/open-store.ts'
import { TABLES } from '../../src/store/schema.ts'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'

describe('a store that cannot be used', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-refused-'))
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(async () => {
    await server.remove()
    rmSync(folder, { recursive: true })
  })

  /** Refused with words that say what to do, without the password. */
  const assertRefused = (url: string, message: RegExp) =>
    assert.rejects(openStore(url), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'store_unavailable', error.stack)
      assert.match(error.message, message)
      assert.ok(!error.message.includes('hunter2'), 'it holds the password')
      return true
    })

  /** Lists the tables of the database at `url`. */
  async function namesIn(url: string): Promise<string[]> {
    return (await run(url, "select relname from pg_class where relnamespace = 'public'::regnamespace")).map(
      ({ relname }) => String(relname),
    )
  }

  it('asks for a password that its URL does not have', async () => {
    const url = new URL(await server.database())
    await askForPasswords(server, url.href)
    url.password = ''
    await assertRefused(url.href, /asks for a password.*postgres:\/\/USER:PASSWORD@HOST/)
  })

  it('is asked for TLS, which its server does not have', async () => {
    const url = await server.database()
    for (const mode of ['require', 'no-verify'])
      await assertRefused(`${url}?sslmode=${mode}`, /does not encrypt connections.*TLS.*sslmode/)
  })

  it('keeps no text as UTF-8, and is left as it was', async () => {
    const url = new URL(await server.database())
    for (const encoding of ['LATIN1', 'SQL_ASCII']) {
      const name = `in_${encoding.toLowerCase()}`
      await run(url.href, `create database ${name} encoding '${encoding}' template template0 locale 'C'`)
      const there = Object.assign(new URL(url), { pathname: name }).href
      await assertRefused(
        there,
        new RegExp(`/${name} stores text as ${encoding}. Create its database with ENCODING 'UTF8'`),
      )
      assert.deepEqual(await namesIn(there), [])
    }
  })

  it('holds another program’s tables on PostgreSQL, and is left as it was', async () => {
    for (const [made, named] of [
      ['create table tasks (title text)', 'tasks'],
      ['create view memories as select 1; create table connections (host text)', 'connections, memories'],
      ['create table kysely_migration (name text); insert into kysely_migration values (1)', 'kysely_migration'],
    ] as const) {
      const url = await server.database()
      await run(url, made)
      const before = await namesIn(url)
      await assertRefused(
        url,
        new RegExp(`tables of another program \\(${named}\\). Give Gazeway a database of its own`),
      )
      assert.deepEqual(await namesIn(url), before)
    }
  })

  it('is not refused for the name of its schema', async () => {
    const url = new URL(await server.database())
    await run(url.href, 'create schema "Gaze-Way"')
    url.searchParams.set('options', '-c search_path="Gaze-Way"')
    for (const _ of ['new', 'there']) await (await openStore(url.href)).close()
  })

  it('holds another program’s table on PostgreSQL that is called as an index', async () => {
    const url = await server.database()
    await run(url, 'create table memories_recent (id text)')
    for (const _ of ['the first start', 'the next']) await assertRefused(url, /holds a table of another program/)
  })

  it('holds another program’s tables in a SQLite file, and is left as it was', async () => {
    for (const [i, table] of ['memories', 'Settings_Revision', ...TABLES].entries()) {
      const file = join(folder, `${i}.db`)
      const theirs = new DatabaseSync(file)
      theirs.exec(`create table ${table} (a text)`)
      theirs.close()
      const before = readFileSync(file)
      await assertRefused(`sqlite:${file}`, new RegExp(`another program \\(${table}\\)`, 'i'))
      assert.deepEqual(readFileSync(file), before)
    }
  })
})

/** Has the server ask as it does where nobody has chosen another way; the one of the tests takes passwords in the clear. */
async function askForPasswords(server: PostgresServer, url: string): Promise<void> {
  const [row] = await run(url, "select current_setting('hba_file') as file")
  const file = String(row?.file)
  writeFileSync(file, `host all all 127.0.0.1/32 scram-sha-256\n${readFileSync(file, 'utf8')}`)
  await server.stop()
  await server.start()
}

async function run(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
