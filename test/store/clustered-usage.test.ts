import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { sql } from 'kysely'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { openStore } from '../../src/store/open.ts'

it('the sums of usage outlive their move into another table', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-usage-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  t.after(() => store.close())
  const rows = ['a', 'b'].map((caller_id) => ({
    caller_id,
    day: '2026-11-21',
    model: 'm',
    calls: 1,
    total_tokens: 2,
    upstream_cost_micros: 3,
    margin_micros: 4,
  }))
  await store.db.insertInto('metered_usage').values(rows).execute()
  await MIGRATIONS['017_clustered_usage']?.(store.db as never, store.engine)
  assert.deepEqual(await store.db.selectFrom('metered_usage').selectAll().orderBy('caller_id').execute(), rows)
  const { rows: tables } = await sql<{
    name: string
  }>`select name from sqlite_master where sql like '%clustered%'`.execute(store.db)
  assert.deepEqual(tables, [])
})
