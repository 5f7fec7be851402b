import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from 'kysely'
import { openStore } from '../../src/store/open-store.ts'
import { runBuilt } from '../../src/store/prepared-sql.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'

const server = await sharedPostgres()

it('a statement that was prepared before a migration runs after it', async () => {
  const store = await openStore(await server.databaseWithTables())
  const read = () =>
    store.write((trx) => runBuilt(trx, 'all sweeps', [], () => trx.selectFrom('sweeps').selectAll().compile()))
  const prepared = await store.write(async (trx) => {
    await runBuilt(trx, 'all sweeps', [], () => trx.selectFrom('sweeps').selectAll().compile())
    return sql<{ name: string }>`select name from pg_prepared_statements`.execute(trx)
  })
  assert.match(prepared.rows[0]?.name ?? '', /^gazeway_\d+$/)
  await read()

  await sql`alter table sweeps add column added text`.execute(store.db)
  const { rows } = await read()
  assert.deepEqual(rows, [])
  await store.close()
})
