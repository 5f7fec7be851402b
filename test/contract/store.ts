import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemory, MemoryInput, MemorySearch } from '../../src/memory/memory.ts'
import { createCountChanges } from '../../src/memory/records/count-changes.ts'
import { keepCounted } from '../../src/memory/records/store-memory.ts'
import { THIS_MACHINE } from '../../src/memory/records/trusted-writers.ts'
import { migrate } from '../../src/store/migrate.ts'
import { MIGRATIONS } from '../../src/store/migrations/migrations.ts'
import type { Store } from '../../src/store/store.ts'
import { callsContract } from './calls.ts'
import { capturedMemoriesContract } from './captured-memories.ts'
import { codingSessionsContract } from './coding-sessions.ts'
import { connectionsContract } from './connections.ts'
import { conversationsContract } from './conversations.ts'
import { factsContract } from './facts.ts'
import { gazeContract } from './gaze.ts'
import { gazeBatchesContract } from './gaze-batches.ts'
import { gazePacksContract } from './gaze-packs.ts'
import { gazeTrackersContract } from './gaze-trackers.ts'
import { keyGroupsContract } from './key-groups.ts'
import { keysContract } from './keys.ts'
import { memoryContract } from './memory.ts'
import { memoryLinesContract } from './memory-lines.ts'
import { memorySpacesContract } from './memory-spaces.ts'
import { memoryVectorsContract } from './memory-vectors.ts'
import { memoryVersionsContract } from './memory-versions.ts'
import { memoryWritersContract } from './memory-writers.ts'
import { namedSessionsContract } from './named-sessions.ts'
import { plansContract } from './plans.ts'
import { projectsContract } from './projects.ts'
import { rareCallsContract } from './rare-calls.ts'
import { reasoningContract } from './reasoning.ts'
import { retentionContract } from './retention.ts'
import { reviewsContract } from './reviews.ts'
import { searchContract } from './search.ts'
import { searchMeaningContract } from './search-meaning.ts'
import { sessionCostsContract } from './session-costs.ts'
import { sessionsContract } from './sessions.ts'
import { stoppedSessionsContract } from './stopped-sessions.ts'
import { togetherContract } from './together.ts'

const NOW = new Date('2026-11-21T07:17:52.000Z')

/** Tests of the store and its services, for every engine. `open` opens an empty store; the caller closes it. */
export function storeContract(name: string, open: () => Promise<Store>): void {
  describe(name, () => {
    it('runs each migration once, however often it is opened', async () => {
      const store = await open()
      await migrate(store.db, store.engine, name)
      await migrate(store.db, store.engine, name)
      const { rows } = await store.db
        .withTables<{ kysely_migration: { name: string } }>()
        .selectFrom('kysely_migration')
        .select('name')
        .orderBy('name')
        .execute()
        .then((rows) => ({ rows }))
      assert.deepEqual(
        rows.map((row) => row.name),
        Object.keys(MIGRATIONS),
      )
      await store.close()
    })

    it('refuses a store that a newer version has moved forward', async () => {
      const store = await open()
      await store.db
        .withTables<{ kysely_migration: { name: string; timestamp: string } }>()
        .insertInto('kysely_migration')
        .values({ name: '999_from_the_future', timestamp: NOW.toISOString() })
        .execute()
      await assert.rejects(migrate(store.db, store.engine, name), {
        code: 'store_too_new',
        message: /999_from_the_future/,
      })
      await store.close()
    })

    it('keeps nothing of a write that fails, in the tables and in the text index', async () => {
      const store = await open()
      const memory = createMemory({ store, now: () => NOW })
      await memory.store(MemoryInput.parse({ key: 'before', value: 'kept' }))
      const fault = new Error('in the middle')
      await assert.rejects(
        store.write(async (trx) => {
          await trx.updateTable('memories').set({ value: '"lost"', value_text: 'lost' }).execute()
          await trx.deleteFrom('memory_totals').execute()
          throw fault
        }),
        fault,
      )
      assert.equal((await memory.recall({ key: 'before', namespace: 'default' })).memory?.value, 'kept')
      assert.equal((await memory.search(MemorySearch.parse({ query: 'lost' }))).total, 0)
      assert.equal((await memory.search(MemorySearch.parse({ query: 'kept' }))).total, 1)
      assert.equal((await memory.stats()).count, 1)
      await store.close()
    })

    it('keeps a text whole in which there is what it has no place for', async () => {
      const store = await open()
      const row = {
        owner: 'a\0b\0 \u{1f600} é',
        day: '2026-11-21',
        charged_micros: 1,
        recorded_micros: 0,
        beyond_micros: 0,
        forgiven_micros: 0,
      }
      await store.db.insertInto('spending').values(row).execute()
      const find = (owner: string) => store.db.selectFrom('spending').selectAll().where('owner', '=', owner).execute()
      const kept = { ...row, owner: 'a\ufffdb\ufffd \u{1f600} é' }
      assert.deepEqual(await find(row.owner), [kept])
      assert.deepEqual(await find(kept.owner), [kept])
      await store.close()
    })

    it('gives concurrent writes turns, and reads in between what is committed', async () => {
      const store = await open()
      const memory = createMemory({ store, now: () => NOW })
      const count = () =>
        store.db
          .selectFrom('memories')
          .select((eb) => eb.fn.countAll<number>().as('n'))
          .executeTakeFirstOrThrow()
      const pair = (i: number) =>
        store.write(async (trx) => {
          const changes = createCountChanges()
          for (const half of ['a', 'b']) {
            const input = MemoryInput.parse({ key: `${i}/${half}`, value: i })
            await keepCounted(trx, { space: 0, input, now: NOW.toISOString(), caller: THIS_MACHINE, changes })
          }
          await changes.write(trx)
        })
      const seen = await Promise.all(Array.from({ length: 20 }, (_, i) => pair(i).then(count)))
      assert.ok(seen.every(({ n }) => n % 2 === 0))
      assert.equal((await memory.stats()).count, 40)
      await store.close()
    })

    it('reads beside a transaction that is not over, and sees nothing of it', async () => {
      const store = await open()
      const names = () => store.db.selectFrom('sweeps').select('name').execute()
      const sweep = (name: string) => ({ name, next_at: NOW.toISOString() })
      const seen = await store.write(async (trx) => {
        await trx.insertInto('sweeps').values(sweep('unfinished')).execute()
        assert.equal(await store.check(), true)
        return names()
      })
      assert.deepEqual(seen, [])
      assert.deepEqual(await names(), [{ name: 'unfinished' }])
      await store.close()
    })

    togetherContract(open)
    memoryContract(open)
    memorySpacesContract(open)
    memoryVersionsContract(open)
    capturedMemoriesContract(open)
    memoryWritersContract(open)
    memoryVectorsContract(open)
    memoryLinesContract(open)
    searchContract(open)
    searchMeaningContract(open)
    gazeContract(open)
    gazeBatchesContract(open)
    gazePacksContract(open)
    gazeTrackersContract(open, [4, 250])
    callsContract(open)
    rareCallsContract(open)
    keysContract(open)
    keyGroupsContract(open)
    connectionsContract(open)
    conversationsContract(open)
    reviewsContract(open)
    codingSessionsContract(open)
    namedSessionsContract(open)
    stoppedSessionsContract(open)
    factsContract(open)
    reasoningContract(open)
    retentionContract(open)
    plansContract(open)
    projectsContract(open)
    sessionsContract(open)
    sessionCostsContract(open)
  })
}
