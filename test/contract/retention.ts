import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Insertable } from 'kysely'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { foldCalls } from '../../src/calls/fold-calls.ts'
import { callSweeps } from '../../src/calls/retention.ts'
import { createGaze } from '../../src/gaze/gaze.ts'
import { gazeSweeps } from '../../src/gaze/prune.ts'
import { chatRetention } from '../../src/sessions/chat-retention.ts'
import { createSessions, type Exchange } from '../../src/sessions/sessions.ts'
import type { Schema } from '../../src/store/schema.ts'
import type { Store } from '../../src/store/store.ts'
import { type Sweep, startSweeps } from '../../src/store/sweeps.ts'
import { taskRetention } from '../../src/tasks/task-retention.ts'
import { newId } from '../../src/text/ids.ts'
import { humanStream } from '../gaze/human-stream.ts'

const DAY = 86_400_000
const NOW = Date.parse('2026-11-21T12:30:00.000Z')
const GAZE = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }

const fail = (error: unknown) => assert.fail(String(error))

/** The record of a call that began then. */
export function callAt(ms: number): CallRecord {
  return {
    call_id: newId('call'),
    at: new Date(ms).toISOString(),
    surface: 'http',
    address: null,
    caller_id: null,
    path: '/v1/responses',
    requested_model: 'm',
    model: 'm',
    upstream: 'double',
    stream: false,
    status: 'ok',
    http_status: 200,
    fallback_from: null,
    price_from: null,
    provider_key: null,
    ...NO_SESSION,
    skipped: [],
    latency_ms: 10,
    first_token_ms: null,
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    upstream_cost_usd: 0.000006,
    error: null,
  }
}

function exchangeOf(id: string, content: string, at: string): Exchange {
  const tokens = 1
  return {
    session: { id, user_id: 'key_ann' },
    create: { source: 'test', model: null },
    user: { id: newId('msg'), content, name: null, tokens, at },
    assistant: { id: newId('msg'), content, tokens, tensor: '{}', poaScore: 0, callId: 'call_1' },
    usage: { input: 1, output: 1 },
    costMicros: 1,
  }
}

function taskOf(id: string, status: string, at: string): Insertable<Schema['tasks']> {
  const none = { agent: null, claimed_by: null, claim_hash: null, lease_seconds: null, lease_expires_at: null }
  return {
    ...none,
    id,
    status,
    title: 'A title',
    description: 'What to do',
    result: '{"done":1}',
    reward_micros: 0,
    capabilities: '[]',
    creator: 'key_ann',
    claimed_at: null,
    completed_at: null,
    gaze_required: 0,
    depends_on: '[]',
    waiting_on: 0,
    swarm_id: `swarm_${id}`,
    escrow_id: null,
    reward_expires_at: null,
    reward_settlement: null,
    review: null,
    gaze_level: null,
    created_at: at,
    updated_at: at,
  }
}

/** Reward that is locked for a task: a review of its result pays it. */
function lockedFor(task_id: string, at: string): Insertable<Schema['escrows']> {
  const none = { counted_group: null, attestation_id: null, reason: null, released_at: null, settled_at: null }
  return {
    ...none,
    id: `esc_${task_id}`,
    task_id,
    amount_micros: 1,
    token: 'USD',
    payer: 'key_ann',
    recipient: 'key_bob',
    status: 'locked',
    counted_on: at.slice(0, 10),
    settlement_mode: 'ledger',
    created_at: at,
    expires_at: at,
    refunded_at: null,
  }
}

/** Tests of retention, for every engine. `open` opens an empty store. */
export function retentionContract(open: () => Promise<Store>): void {
  describe('retention', () => {
    /** Sweeps that a test makes due by moving its clock. */
    function sweeping(store: Store, days: { callDays: number | null; gazeDays: number | null }) {
      let at = NOW
      const now = () => new Date(at)
      const sweeps = [...callSweeps(store, now, () => days.callDays), ...gazeSweeps(store, now, () => days.gazeDays)]
      const running = startSweeps({ store, now, sweeps, onError: fail })
      return {
        ...running,
        pass: (ms: number) => {
          at += ms
        },
      }
    }

    it('prunes old calls and keeps every sum', async () => {
      const store = await open()
      const calls = createCalls({ store, onError: fail })
      for (let hour = 0; hour < 40 * 24; hour++)
        for (const minute of [10, 50]) calls.record(callAt(NOW - hour * 3_600_000 - minute * 60_000))
      await calls.flush()
      const before = await calls.stats({ group_by: 'day' })
      for (let moved = 500; moved === 500; ) moved = await foldCalls(store, new Date(NOW - 35 * DAY).toISOString(), 500)
      const sweeps = sweeping(store, { callDays: 30, gazeDays: null })
      await sweeps.runDue()
      await sweeps.stop()

      const oldest = await store.db.selectFrom('calls').select('at').orderBy('at').executeTakeFirstOrThrow()
      assert.equal(oldest.at, '2026-10-22T12:20:00.000Z')
      assert.deepEqual(await calls.stats({ group_by: 'day' }), before)
      const page = await calls.history({ limit: 1000 })
      const second = await calls.history({ limit: 1000, offset: 1000 })
      assert.equal(page.total, page.items.length + second.items.length)
      const cut = { from: '2026-10-20T10:30:00.000Z', to: '2026-10-20T12:30:00.000Z' }
      assert.equal((await calls.history({ ...cut, limit: 10 })).total, 0)
      const { totals } = await calls.stats(cut)
      assert.equal(totals.calls, 6, 'hours that are cut and pruned count in full')
      const folded = { from: '2026-10-15T10:30:00.000Z', to: '2026-10-15T12:30:00.000Z' }
      assert.equal((await calls.stats(folded)).totals.calls, 6, 'those that are folded, too')
      await store.close()
    })

    it('deletes old contents of calls, and keeps their records', async () => {
      const store = await open()
      const calls = createCalls({ store, onError: fail })
      for (let i = 0; i < 90; i++) calls.record({ ...callAt(NOW - 3 * DAY - i), content: { prompt: `old ${i}` } })
      const recent = { ...callAt(NOW - 3_600_000), content: { prompt: 'recent' } }
      calls.record(recent)
      await calls.flush()
      const now = () => new Date(NOW)
      const none = () => null
      const sweeps = callSweeps(store, now, none, () => 2).filter(({ name }) => name === 'audit.content')
      const running = startSweeps({ store, now, sweeps, onError: fail })
      await running.runDue()
      await running.stop()
      const left = await store.db
        .selectFrom('calls')
        .select(['call_id', 'content'])
        .where('content', 'is not', null)
        .execute()
      assert.deepEqual(left, [{ call_id: recent.call_id, content: '{"prompt":"recent"}' }])
      assert.equal((await calls.history({ limit: 100 })).total, 91)
      await store.close()
    })

    it('deletes old chats with their words, a long one in several turns, and keeps the others', async () => {
      const store = await open()
      let at = NOW - 10 * DAY
      const sessions = createSessions({ store, now: () => new Date(at), chatModel: () => 'm' })
      const say = (id: string, content: string) =>
        sessions.addExchange(exchangeOf(id, content, new Date(at).toISOString()))
      for (let i = 0; i < 50; i++) await say('ses_long', `heron ${i}`)
      for (let i = 0; i < 25; i++) await say(`ses_${i}`, 'heron once')
      at = NOW
      await say('ses_new', 'heron now')
      const [prune] = [
        chatRetention(
          store,
          () => new Date(NOW),
          () => 5,
        ),
      ]
      assert.equal(await prune.batch(500), 500, 'more is left')
      const messages = await store.db.selectFrom('session_messages').select('position').execute()
      assert.equal(messages.length, 132, 'of 152: others can write in between')
      while ((await prune.batch(500)) === 500);
      const viewer = { all: true, userId: 'key_ann' } as const
      const listed = await sessions.list({ limit: 100 }, viewer)
      assert.deepEqual([listed.items.map(({ id }) => id), listed.total], [['ses_new'], 1])
      const { results } = await sessions.search({ q: 'heron', limit: 10 }, viewer)
      assert.deepEqual(
        results.map(({ session }) => session.id),
        ['ses_new'],
      )
      for (const table of ['session_messages', 'session_texts'] as const) {
        const rows = await store.db.selectFrom(table).select('session_id').execute()
        assert.deepEqual([...new Set(rows.map(({ session_id }) => session_id))], ['ses_new'], table)
      }
      await store.close()
    })

    it('empties the texts of tasks that ended long ago, and keeps the tasks', async () => {
      const store = await open()
      const old = new Date(NOW - 10 * DAY).toISOString()
      const recent = new Date(NOW).toISOString()
      const tasks = [
        ['task_ended', 'completed', old],
        ['task_open', 'open', old],
        ['task_owed', 'completed', old],
        ['task_recent', 'completed', recent],
      ] as const
      for (const [id, status, at] of tasks)
        await store.db
          .insertInto('tasks')
          .values(taskOf(id, status, at))
          .execute()
      await store.db.insertInto('escrows').values(lockedFor('task_owed', old)).execute()
      const goal = { goal: 'a goal', creator: 'key_ann', created_at: old }
      await store.db
        .insertInto('swarms')
        .values([
          { id: 'swarm_task_ended', ...goal },
          { id: 'swarm_task_open', ...goal },
        ])
        .execute()
      const { batch } = taskRetention(
        store,
        () => new Date(NOW),
        () => 5,
      )
      assert.equal(await batch(500), 0)
      const rows = await store.db
        .selectFrom('tasks')
        .select(['id', 'title', 'description', 'result'])
        .orderBy('id')
        .execute()
      assert.deepEqual(
        rows.map(({ id, title, description, result }) => [id, title, description, result]),
        [
          ['task_ended', '', '', null],
          ['task_open', 'A title', 'What to do', '{"done":1}'],
          ['task_owed', 'A title', 'What to do', '{"done":1}'],
          ['task_recent', 'A title', 'What to do', '{"done":1}'],
        ],
      )
      const swarms = await store.db.selectFrom('swarms').select(['id', 'goal']).orderBy('id').execute()
      assert.deepEqual(
        swarms.map(({ goal }) => goal),
        ['', 'a goal'],
      )
      await store.close()
    })

    it('lists and counts nothing when every call is pruned', async () => {
      const store = await open()
      const calls = createCalls({ store, onError: fail })
      calls.record(callAt(NOW - 3 * DAY), undefined, null, ['file-old'])
      await calls.flush()
      assert.deepEqual([...(await calls.ownersOf(['file-old'], null)).keys()], ['file-old'])
      const sweeps = sweeping(store, { callDays: 1, gazeDays: null })
      await sweeps.runDue()
      await sweeps.stop()
      assert.equal((await calls.ownersOf(['file-old'], null)).size, 0, 'its id is forgotten with it')
      assert.deepEqual(await calls.history({ limit: 10 }), { items: [], total: 0, next_cursor: null })
      assert.deepEqual(await store.db.selectFrom('call_totals').selectAll().execute(), [])
      assert.equal((await calls.stats({})).totals.calls, 1)
      await store.close()
    })

    it('forgets the totals of callers whose calls are all pruned, and keeps those of others', async () => {
      const store = await open()
      const calls = createCalls({ store, onError: fail })
      const of = (caller_id: string, days: number) => ({ ...callAt(NOW - days * DAY), caller_id })
      for (let i = 0; i < 120; i++) calls.record(of(`gone_${i}`, 3))
      for (const days of [0, 3, 3]) calls.record(of('still_here', days))
      await calls.flush()
      const sweeps = sweeping(store, { callDays: 1, gazeDays: null })
      await sweeps.runDue()
      await sweeps.stop()
      const totals = await store.db.selectFrom('call_totals').select(['caller_id', 'calls']).execute()
      assert.deepEqual(
        totals.map(({ caller_id, calls }) => [caller_id, Number(calls)]),
        [['still_here', 1]],
      )
      await store.close()
    })

    it('prunes old gaze with its prints and places, and goes on with the session', async () => {
      const store = await open()
      const old = humanStream(1, { records: 60 })
      const now = () => new Date(NOW)
      const gaze = createGaze({ store, config: GAZE, now })
      const { session_id } = await gaze.store({ records: old })
      const days = Math.ceil((NOW - Date.parse(old[0]?.at ?? '')) / DAY)
      const sweeps = sweeping(store, { callDays: null, gazeDays: days })
      await sweeps.runDue()
      assert.equal((await gaze.retrieve({ limit: 1 })).total, 60)
      sweeps.pass(2 * DAY)
      await sweeps.runDue()
      await sweeps.stop()
      assert.deepEqual(await gaze.retrieve({ limit: 1 }), { items: [], total: 0, next_cursor: null })
      for (const table of ['gaze_prints', 'gaze_traces', 'gaze_dwell'] as const)
        assert.deepEqual(await store.db.selectFrom(table).selectAll().execute(), [])
      const later = humanStream(2, { records: 30 })
      const { attestation } = await gaze.store({ session_id, records: later })
      assert.equal(attestation.records, 90)
      assert.equal((await gaze.retrieve({ session_id, limit: 1 })).total, 30)
      await store.close()
    })

    /** A sweep once a minute that counts how often it is done, by a clock that a test sets. */
    function counted(store: Store) {
      const count = { at: NOW, done: 0 }
      const sweep: Sweep = {
        name: 'test',
        everyMs: 60_000,
        batch: async () => {
          count.done++
          return 0
        },
      }
      return { count, deps: { store, now: () => new Date(count.at), sweeps: [sweep], onError: fail } }
    }

    it('lets one of several processes do a sweep that is due', async () => {
      const store = await open()
      const { count, deps } = counted(store)
      const several = Array.from({ length: 8 }, () => startSweeps(deps))
      const runAll = () => Promise.all(several.map((sweeps) => sweeps.runDue()))
      await runAll()
      await runAll()
      assert.equal(count.done, 1)
      count.at += 60_000
      await runAll()
      assert.equal(count.done, 2)
      await Promise.all(several.map((sweeps) => sweeps.stop()))
      await store.close()
    })

    it('does a sweep of every minute although a look comes a little early', async () => {
      const store = await open()
      const { count, deps } = counted(store)
      const sweeps = startSweeps(deps)
      for (let look = 1; look <= 5; look++) {
        await sweeps.runDue()
        assert.equal(count.done, look)
        count.at += 59_900
      }
      await sweeps.stop()
      await store.close()
    })

    it('goes on at once with what a round leaves, once the others have had their turn', async () => {
      const store = await open()
      const done: string[] = []
      let left = 410 * 500
      const sweep = (name: string, batch: Sweep['batch']): Sweep => ({ name, everyMs: 60_000, batch })
      const long = sweep('long', async (limit) => {
        done.push('long')
        const rows = Math.min(limit, left)
        left -= rows
        return rows
      })
      const short = sweep('short', async () => {
        done.push('short')
        return 0
      })
      const sweeps = startSweeps({ store, now: () => new Date(NOW), sweeps: [long, short], onError: fail })
      await sweeps.runDue()
      await sweeps.stop()
      assert.equal(left, 0)
      assert.deepEqual([done.indexOf('short'), done.lastIndexOf('long')], [400, 411])
      await store.close()
    })

    it('goes on when a clock that was ahead for a while is right again', async () => {
      const store = await open()
      const { count, deps } = counted(store)
      const [one, other] = [startSweeps(deps), startSweeps(deps)]
      count.at += 365 * DAY
      await one.runDue()
      count.at = NOW
      await Promise.all([one.runDue(), other.runDue()])
      assert.equal(count.done, 2)
      count.at -= 30_000
      await other.runDue()
      assert.equal(count.done, 2, 'not for clocks that are half a minute apart')
      await Promise.all([one.stop(), other.stop()])
      await store.close()
    })
  })
}
