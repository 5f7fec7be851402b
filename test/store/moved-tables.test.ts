import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sql } from 'kysely'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'
import { openStore } from '../../src/store/open.ts'
import type { Store } from '../../src/store/store.ts'
import type { PaymentRow } from '../../src/store/tables/payments.ts'

describe('what a migration moves into another table', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-moved-'))
  let store: Store
  before(async () => {
    store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  })
  after(async () => {
    await store.close()
    rmSync(folder, { recursive: true })
  })

  const again = (name: string) => MIGRATIONS[name]?.(store.db as never, store.engine)

  async function assertNothingIsLeftOf(table: string): Promise<void> {
    const named = await sql`select name from sqlite_master where name = ${table}`.execute(store.db)
    assert.deepEqual(named.rows, [])
  }

  it('is there afterwards: sums of usage', async () => {
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
    await again('017_clustered_usage')
    assert.deepEqual(await store.db.selectFrom('metered_usage').selectAll().orderBy('caller_id').execute(), rows)
    await assertNothingIsLeftOf('clustered_usage')
  })

  it('is there afterwards: totals of calls, but for those of none', async () => {
    const total = { model: 'm', caller_id: 'key_a', path: '/v1/responses', status: 'ok', calls: 1 }
    await store.db
      .insertInto('call_totals')
      .values([total, { ...total, model: 'made up', calls: 0 }])
      .execute()
    await again('025_totals_of_no_calls')
    assert.deepEqual(await store.db.selectFrom('call_totals').selectAll().execute(), [total])
  })

  it('is there afterwards: payments, each of which counts once', async () => {
    const settled: PaymentRow = {
      id: 'settled',
      method: 'evm',
      payer: '0xa',
      account: '0xb',
      amount_micros: 90_000,
      scope: 'GET /v1/models',
      proof: '0x1',
      reference: '0xtx',
      status: 'served',
      lease_until: null,
      created_at: '2026-11-21T07:00:00.123Z',
      expires_at: '2026-11-21T07:05:00.000Z',
      account_named: 1,
    }
    const open: PaymentRow = {
      ...settled,
      id: 'open',
      reference: null,
      status: 'claimed',
      lease_until: '2026-11-21T07:01:00.123Z',
    }
    await store.db.insertInto('payments').values([open, settled]).execute()
    await again('021_authorizations_in_one_transaction')
    assert.deepEqual(await store.db.selectFrom('payments').selectAll().orderBy('id').execute(), [open, settled])
    await assertNothingIsLeftOf('new_payments')
    const twice = store.db.updateTable('payments').set({ reference: '0xother' }).where('id', '=', 'open')
    await assert.rejects(twice.execute(), /unique/i)
  })
})
