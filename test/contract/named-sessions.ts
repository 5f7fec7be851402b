import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { contextOfCall } from '../../src/calls/call-attempts.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { type Calls, createCalls } from '../../src/calls/calls.ts'
import { callSweeps } from '../../src/calls/retention.ts'
import { sessionCache } from '../../src/calls/session-cache.ts'
import { sessionRetention } from '../../src/coding-sessions/forget-sessions.ts'
import { noteFacts } from '../../src/coding-sessions/note-facts.ts'
import { readSession } from '../../src/coding-sessions/read-session.ts'
import { sessionCosts } from '../../src/coding-sessions/session-costs.ts'
import type { Store } from '../../src/store/store.ts'
import { newId } from '../../src/text/ids.ts'

const START = Date.parse('2026-11-27T09:00:00.000Z')
const at = (minutes: number) => new Date(START + minutes * 60_000)
const CLIENT = { client: 'claude-code', client_version: '2.1.197' }

const callOf = (session_id: string, minute: number, changes: Partial<CallRecord> = {}): CallRecord => ({
  ...{ call_id: newId('call'), at: at(minute).toISOString(), surface: 'http', address: null, caller_id: 'key_a' },
  ...{ path: '/v1/messages', requested_model: 'm', model: 'm', upstream: 'double', stream: false, status: 'ok' },
  ...{ http_status: 200, fallback_from: null, skipped: [], latency_ms: 1500, first_token_ms: null, error: null },
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cached_tokens: 4 },
  ...{ upstream_cost_usd: 0.001, price_from: null, provider_key: null },
  ...NO_SESSION,
  ...CLIENT,
  session_id,
  ...changes,
})

/** Calls that name their session by number, beside those that name it by text, on every engine. */
export function namedSessionsContract(open: () => Promise<Store>): void {
  describe('calls of a session', () => {
    let store: Store
    let calls: Calls

    before(async () => {
      store = await open()
      calls = createCalls({ store, onError: (error) => assert.fail(String(error)) })
    })
    after(() => store.close())

    const write = async (...records: CallRecord[]) => {
      for (const record of records) calls.record(record)
      await calls.flush()
    }

    /** Rewrites a call as earlier versions wrote it. */
    const asBefore = (call_id: string, session_id: string) =>
      store.db
        .updateTable('calls')
        .set({ session: null, session_id, ...CLIENT })
        .where('call_id', '=', call_id)
        .execute()

    const wordsOf = ({ session_id, client, client_version }: CallRecord) => ({ session_id, client, client_version })

    it('are stored without its words, and read with them, also after its client has changed', async () => {
      const said = [CLIENT, { ...CLIENT, client_version: '2.1.198' }, { client: null, client_version: null }, CLIENT]
      for (const [i, client] of said.entries()) await write(callOf('words', i, client))
      const stored = await store.db
        .selectFrom('calls')
        .select(['session_id', 'client', 'client_version'])
        .orderBy('at')
        .execute()
      const none = { session_id: null, client: null, client_version: null }
      assert.deepEqual(stored, [
        none,
        { session_id: null, client: 'claude-code', client_version: '2.1.198' },
        { session_id: null, client: '', client_version: '' },
        none,
      ])
      const { items = [] } = await calls.history({ session: 'words', limit: 9 })
      assert.deepEqual(
        items.map(wordsOf).reverse(),
        said.map((client) => ({ session_id: 'words', ...client })),
      )
      const found = await calls.find(items[1]?.call_id ?? '')
      assert.deepEqual(found && wordsOf(found), { session_id: 'words', client: null, client_version: null })
      const { groups } = await calls.stats({ group_by: 'client' })
      assert.deepEqual(groups.map(({ key, calls: number }) => [key, number]).sort(), [
        ['', 1],
        ['claude-code', 3],
      ])
    })

    it('are found beside those that name it by text, as earlier versions wrote them', async () => {
      const records = [0, 1, 2, 3].map((i) => callOf('mixed', 100 + i))
      await write(...records)
      const ids = records.map(({ call_id }) => call_id)
      const [first = '', second = '', third = '', last = ''] = ids
      for (const id of [first, third]) await asBefore(id, 'mixed')
      await noteFacts(store, { callerId: 'key_a', sessionId: 'mixed' }, { branch: 'b' }, at(99))

      const newest = [...ids].reverse()
      const whole = await calls.history({ session: 'mixed', limit: 9 })
      assert.deepEqual([whole.items?.map(({ call_id }) => call_id), whole.total], [newest, 4])
      const paged: string[] = []
      for (let cursor: string | undefined; ; ) {
        const page = await calls.history({ session: 'mixed', caller_id: 'key_a', limit: 1, cursor })
        paged.push(...(page.items ?? []).map(({ call_id }) => call_id))
        if (!page.next_cursor) break
        cursor = page.next_cursor
      }
      assert.deepEqual(paged, newest)

      for (const [id, before] of [
        [second, first],
        [third, second],
        [last, third],
      ] as const) {
        const call = await calls.find(id)
        assert.ok(call)
        assert.equal((await contextOfCall(store, call)).before, before)
      }
      assert.equal((await sessionCache(store, { session: 'mixed' })).calls, 4)
      const details = await readSession(store, 'mixed', 'key_a')
      assert.ok(details !== null && details !== 'ambiguous')
      assert.deepEqual(
        details.by_model.map(({ key, calls: number }) => [key, number]),
        [['m', 4]],
      )
      const { total } = await sessionCosts(store, { branch: 'b', by: 'day' })
      assert.deepEqual([total.calls, total.cost_usd], [4, 0.004])
      const { groups } = await calls.stats({ group_by: 'session' })
      assert.equal(groups.find(({ key }) => key === 'mixed')?.calls, 4)
    })

    it('are those of one key, where another has a session of the same id', async () => {
      const own = [0, 1].map((i) => callOf('same', 200 + i))
      const others = [0, 1].map((i) => callOf('same', 200 + i, { caller_id: 'key_b' }))
      const keyless = callOf('same', 202, { caller_id: null })
      await write(...own, ...others, keyless)
      for (const { call_id } of [own[0], others[0]].flatMap((call) => call ?? [])) await asBefore(call_id, 'same')
      const { items, total } = await calls.history({ session: 'same', caller_id: 'key_a', limit: 9 })
      assert.deepEqual([items?.map(({ caller_id }) => caller_id), total], [['key_a', 'key_a'], 2])
      assert.equal((await calls.history({ session: 'same', limit: 9 })).total, 5)
      assert.equal((await sessionCache(store, { session: 'same', caller_id: 'key_b' })).calls, 2)
      for (const [callerId, number] of [
        ['key_b', 2],
        ['', 1],
      ] as const) {
        const details = await readSession(store, 'same', callerId)
        assert.ok(details !== null && details !== 'ambiguous')
        assert.equal(details.by_model[0]?.calls, number)
      }
    })

    it('are never those of another key, whose session got the number of one that was deleted', async () => {
      const next = callOf('next', 300, { caller_id: 'key_d' })
      const gone = callOf('gone', 301, { caller_id: 'key_c', client: 'gone' })
      await write(next, gone)
      // As SQLite numbers the next session once that of the highest number is gone, which a call stored meanwhile still names.
      const { number } = await store.db
        .selectFrom('coding_sessions')
        .select('number')
        .where('session_id', '=', 'next')
        .executeTakeFirstOrThrow()
      await store.db.deleteFrom('coding_sessions').where('session_id', '=', 'gone').execute()
      await store.db.updateTable('calls').set({ session: number }).where('call_id', '=', gone.call_id).execute()

      const { items, total } = await calls.history({ session: 'next', caller_id: 'key_d', limit: 9 })
      assert.deepEqual([items?.map(({ call_id }) => call_id), total], [[next.call_id], 1])
      assert.equal((await calls.history({ session: 'next', limit: 9 })).total, 1)
      assert.equal((await sessionCache(store, { session: 'next', caller_id: 'key_d' })).calls, 1)
      const details = await readSession(store, 'next', 'key_d')
      assert.ok(details !== null && details !== 'ambiguous')
      assert.equal(details.by_model[0]?.calls, 1)
      const { groups } = await calls.stats({ group_by: 'session' })
      assert.equal(groups.find(({ key }) => key === 'next')?.calls, 1)
      const found = await calls.find(gone.call_id)
      assert.deepEqual(found && wordsOf(found), { session_id: null, client: null, client_version: null })
    })

    it('keep its words until the last of them is deleted', async () => {
      const old = callOf('pruned', -60 * 24 * 40)
      await write(old)
      const sessions = async () =>
        (await store.db.selectFrom('coding_sessions').select('number').where('session_id', '=', 'pruned').execute())
          .length
      const pruneAt = async (minutes: number) => {
        const now = () => new Date(Date.parse(old.at) + 30 * 86_400_000 + minutes * 60_000)
        await sessionRetention(store, now, () => 30).batch(100)
        for (const sweep of callSweeps(store, now, () => 30))
          if (sweep.name === 'audit.retention') await sweep.batch(100)
        await sessionRetention(store, now, () => 30).batch(100)
      }
      await pruneAt(30)
      assert.equal((await calls.find(old.call_id))?.session_id, 'pruned', 'its hour is not over')
      assert.equal(await sessions(), 1)
      await pruneAt(90)
      assert.equal(await calls.find(old.call_id), null)
      assert.equal(await sessions(), 0)
    })
  })
}
