import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql, type Transaction } from 'kysely'
import { runTogether, type Statement } from '../../src/store/prepared-sql.ts'
import type { Schema } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'

/** Statements that go to the engine as one. */
export function togetherContract(open: () => Promise<Store>): void {
  describe('small reads', () => {
    it('that are asked for at the same time have a result or an error each, in one round trip to PostgreSQL', async () => {
      const store = await open()
      const { lookups } = store
      const count = () =>
        lookups
          .selectFrom('spending')
          .select(({ fn }) => fn.countAll().as('held'))
          .execute()
      const wrong = lookups
        .selectFrom('spending')
        .select('unknown' as never)
        .execute()
      const [first, failed, last] = await Promise.allSettled([count(), wrong, count()])
      assert.deepEqual(
        [first, last].map(({ status }) => status),
        ['fulfilled', 'fulfilled'],
      )
      assert.match(String(failed.status === 'rejected' && failed.reason), /unknown/)
      assert.deepEqual(await count(), [{ held: 0 }])
      if (store.engine === 'postgres') {
        const process = () => sql<{ id: number }>`select pg_backend_pid() as id`.execute(lookups)
        const found = await Promise.all([process(), process(), process(), process()])
        assert.equal(new Set(found.map(({ rows }) => rows[0]?.id)).size, 1)
      }
      await store.close()
    })
  })

  describe('statements that run together', () => {
    it('run in their order, each with a result of its own', async () => {
      const store = await open()
      const [none, inserted, again, found, moved] = await store.write((trx) =>
        runTogether(trx, [read(trx, 'a'), insert(trx, 'a'), insert(trx, 'a'), read(trx, 'a'), add(trx, 'a')]),
      )
      assert.deepEqual([none?.rows, found?.rows], [[], [{ owner: 'a', charged_micros: 1 }]])
      assert.deepEqual([inserted?.numAffectedRows, again?.numAffectedRows, moved?.numAffectedRows], [1n, 0n, 1n])
      assert.deepEqual(await spent(store), [{ owner: 'a', charged_micros: 2 }])
      assert.deepEqual(await store.write((trx) => runTogether(trx, [])), [])
      await store.close()
    })

    it('leave nothing behind when one of them fails, whatever comes before it and after', async () => {
      const store = await open()
      const wrong: Statement = {
        form: 'wrong',
        parameters: ['a'],
        build: () =>
          store.db
            .insertInto('spending')
            .values({ owner: 'a' } as never)
            .compile(),
      }
      for (const before of [read, insert])
        await assert.rejects(
          store.write(async (trx) => {
            await runTogether(trx, [before(trx, 'a'), wrong, insert(trx, 'b')])
          }),
          /null/i,
        )
      assert.deepEqual(await spent(store), [])
      await store.close()
    })

    it('leave nothing behind when what they found is not as it must be', async () => {
      const store = await open()
      let attempts = 0
      await assert.rejects(
        store.write(async (trx) => {
          attempts++
          const [first] = await runTogether(trx, [read(trx, 'a'), insert(trx, 'a')])
          assert.equal(first?.rows.length, 1, 'It must be there.')
        }),
        /It must be there/,
      )
      assert.equal(attempts, 1, 'a fault of the program is not retried')
      await store.write(async () => {})
      assert.deepEqual(await spent(store), [])
      await store.close()
    })
  })
}

const spent = ({ db }: Store) => db.selectFrom('spending').select(['owner', 'charged_micros']).execute()

function read(trx: Transaction<Schema>, owner: string): Statement {
  const build = () =>
    trx.selectFrom('spending').select(['owner', 'charged_micros']).where('owner', '=', owner).forUpdate().compile()
  return { form: 'test: read', parameters: [owner], build }
}

function insert(trx: Transaction<Schema>, owner: string): Statement {
  const row = { owner, day: '2026-11-21', charged_micros: 1, recorded_micros: 0, beyond_micros: 0, forgiven_micros: 0 }
  const build = () =>
    trx
      .insertInto('spending')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .compile()
  return { form: 'test: insert', parameters: Object.values(row), build }
}

function add(trx: Transaction<Schema>, owner: string): Statement {
  const build = () => trx.updateTable('spending').set({ charged_micros: 2 }).where('owner', '=', owner).compile()
  return { form: 'test: add', parameters: [2, owner], build }
}
