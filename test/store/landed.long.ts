import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { sql } from 'kysely'
import { lazily } from '../../src/lazily.ts'
import { readExistingStore } from '../../src/store/existing-store.ts'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS, type Migrations } from '../../src/store/migrations/migrations.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { sweepAllowances } from '../../src/wallet/budget/presumed-spending.ts'
import { accountOf } from '../../src/wallet/ledger/accounts.ts'
import { post } from '../../src/wallet/ledger/ledger.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { restore } from './dump.ts'
import { dumpFile, STEPS } from './landed.ts'
import { openOn, readStory } from './landed-story.ts'

/** Everything that migrations make, as the engine describes it; not the tables of their own records. */
const SCHEMA = {
  sqlite: sql`select type, name, sql from sqlite_master where name not like '%kysely%' order by type, name`,
  postgres: sql`
    select table_name as of, column_name as name, data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') as is
      from information_schema.columns where table_schema = 'public' and table_name not like 'kysely%'
    union all select tablename, indexname, indexdef from pg_indexes where schemaname = 'public' and tablename not like 'kysely%'
    union all select '', proname, prosrc from pg_proc where pronamespace = 'public'::regnamespace
    union all select '', tgname, pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
    order by 1, 2, 3`,
}

/** A metered call that is under way, as the code before 005 wrote it, without its transfer. */
const HELD_CALL = `
  insert into metered_calls (call_id, caller_id, model, status, at, deadline, path, counted_on, held_micros, margin_micros,
    upstream_cost_micros, token, prompt_tokens, completion_tokens, total_tokens, usage_estimated, latency_ms)
  select 'call_1', id, 'm', 'held', '2026-11-21T08:00:00.000Z', '2026-11-21T08:11:00.000Z', '/api/wallet/metered/call',
    '2026-11-21', 90000, 80000, 0, 't', 0, 0, 0, 0, 0 from keys where name = 'shop';
  insert into spending (owner, day, charged_micros, recorded_micros)
  select id, '2026-11-21', 90000, 0 from keys where name = 'shop';
  update spending set charged_micros = charged_micros + 90000
  where day = 'total' and owner = (select id from keys where name = 'shop');`

/** A memory that a project took over from another, as the code before 011 wrote it. */
const MOVED_KEY = `
  update memories set project = '/shop' where key = 'deploy/staging';
  update memory_versions set project = '/blog' where key = 'deploy/staging';`

describe('a store that the code of a landed migration wrote', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-landed-'))
  const server = sharedPostgres()
  after(async () => {
    rmSync(folder, { recursive: true })
  })
  let made = 0
  const emptyUrl = {
    sqlite: async () => `sqlite:${join(folder, `${made++}.db`)}`,
    postgres: async () => (await server).database(),
  }
  /** The tables of a new store, which is made once. */
  const newSchema = { sqlite: lazily(() => schemaOfNew('sqlite')), postgres: lazily(() => schemaOfNew('postgres')) }
  async function schemaOfNew(engine: 'sqlite' | 'postgres'): Promise<unknown[]> {
    const store = await openStore(await emptyUrl[engine]())
    const schema = await schemaOf(store)
    await store.close()
    return schema
  }

  for (const engine of ['sqlite', 'postgres'] as const)
    for (const step of STEPS)
      it(`opens with all that it holds, and with the tables of a new one: ${step} on ${engine}`, async () => {
        const url = await emptyUrl[engine]()
        await restore(url, readFileSync(dumpFile(step, engine), 'utf8'))
        const gateway = await openOn(url, folder)
        try {
          await readStory(gateway)
          assert.deepEqual(await schemaOf(gateway.store), await newSchema[engine]())
        } finally {
          await gateway.close()
        }
      })

  for (const engine of ['sqlite', 'postgres'] as const)
    it(`gives back the money of a metered call that was under way when it was migrated: ${engine}`, async () => {
      const url = await emptyUrl[engine]()
      await restore(url, `${readFileSync(dumpFile('004_call_addresses', engine), 'utf8')} ${HELD_CALL}`)
      const gateway = await openOn(url, folder)
      try {
        const [{ id } = { id: '' }] = await gateway.store.db
          .selectFrom('keys')
          .select('id')
          .where('name', '=', 'shop')
          .execute()
        const entries = [
          { account: accountOf('held', id), micros: 90_000 },
          { account: accountOf('caller', id), micros: -90_000 },
        ]
        const at = new Date().toISOString()
        await gateway.store.write((trx) => post(trx, { key: 'reserve:call_1', kind: 'reserve', entries, at }))
        await readStory(gateway)
        await sweepAllowances(gateway.store, new Date(), 10)
        await readStory(gateway)
        assert.equal((await gateway.wallet.balances(id)).held_usd, 0)
      } finally {
        await gateway.close()
      }
    })

  for (const engine of ['sqlite', 'postgres'] as const)
    it(`keeps all versions of a key that moved between projects, in the project where it was last: ${engine}`, async () => {
      const url = await emptyUrl[engine]()
      await restore(url, `${readFileSync(dumpFile('006_tasks_of_keys', engine), 'utf8')} ${MOVED_KEY}`)
      const gateway = await openOn(url, folder)
      try {
        const { memory } = gateway
        const of = { key: 'deploy/staging', namespace: 'default', project: '/shop' }
        const values = [1, 2].map(async (version) => (await memory.recall({ ...of, version })).memory?.value)
        assert.deepEqual(await Promise.all(values), ['uses the us-east cluster', 'uses the eu-west cluster'])
        assert.equal((await memory.recall({ ...of, project: null })).found, false)
        const { memory: next } = await memory.store({ ...of, value: 'moved', if_version: 2 })
        assert.equal(next.version, 3)
      } finally {
        await gateway.close()
      }
    })

  for (const engine of ['sqlite', 'postgres'] as const)
    it(`is not taken for one of a draft of the first migration, which cannot be migrated: ${engine}`, async () => {
      const url = await emptyUrl[engine]()
      const later: Migrations = { ...MIGRATIONS, '999_later': async () => {} }
      await restore(
        url,
        `${readFileSync(dumpFile('001_initial', engine), 'utf8')} alter table calls drop column content;`,
      )
      const opened = readExistingStore(url, (db) => migrate(db, engine, 'it', later))
      await assert.rejects(opened, { code: 'store_unavailable', message: /first format that is kept.*memory export/ })
    })
})

const schemaOf = async ({ db, engine }: Store): Promise<unknown[]> => (await SCHEMA[engine].execute(db)).rows
