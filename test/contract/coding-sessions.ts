import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type KyselyPlugin, sql } from 'kysely'
import { SessionGroupBy } from '../../src/calls/call-groups.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { type Calls, createCalls } from '../../src/calls/calls.ts'
import { SESSION_OF_CALL } from '../../src/calls/named-session.ts'
import { callSweeps } from '../../src/calls/retention.ts'
import { emptySession } from '../../src/calls/session-sums.ts'
import { sessionRetention } from '../../src/coding-sessions/forget-sessions.ts'
import { type CodingSessionQuery, listSessions } from '../../src/coding-sessions/list-sessions.ts'
import { noteFacts } from '../../src/coding-sessions/note-facts.ts'
import { readSession } from '../../src/coding-sessions/read-session.ts'
import type { Store } from '../../src/store/store.ts'
import { newId } from '../../src/text/ids.ts'

const START = Date.parse('2026-11-27T09:00:00.000Z')
const at = (minutes: number) => new Date(START + minutes * 60_000)

/** Builds a record at a minute after the start. */
const callOf = (session_id: string, minute: number, changes: Partial<CallRecord> = {}): CallRecord => ({
  call_id: newId('call'),
  at: at(minute).toISOString(),
  surface: 'http',
  address: null,
  caller_id: 'key_a',
  path: '/v1/messages',
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
  session_id,
  skipped: [],
  latency_ms: 1500,
  first_token_ms: null,
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cached_tokens: 4, cache_write_tokens: 1 },
  upstream_cost_usd: 0.001,
  error: null,
  ...changes,
})

/** Sessions of coding agents, on every engine. `open` opens an empty store. */
export function codingSessionsContract(open: () => Promise<Store>): void {
  describe('sessions of coding agents', () => {
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
    const rows = (session_id: string) =>
      store.db
        .selectFrom('coding_sessions')
        .selectAll()
        .where('session_id', '=', session_id)
        .orderBy('caller_id')
        .execute()
    const ranges = (session_id: string) =>
      store.db.selectFrom('session_facts').selectAll().where('session_id', '=', session_id).orderBy('from_at').execute()
    const note = (sessionId: string, facts: Parameters<typeof noteFacts>[2], minute: number, callerId = 'key_a') =>
      noteFacts(store, { callerId, sessionId }, facts, at(minute))

    it('add up their calls with each batch, for each key apart, and leave traces out', async () => {
      const client = { client: 'codex', client_version: '0.171' }
      await write(
        callOf('ses', 3, { turn_id: 't1', ...client }),
        callOf('ses', 4, { turn_id: 't1', status: 'error', usage: null, upstream_cost_usd: 0 }),
        callOf('ses', 5, { turn_id: 'of a subagent', parent_id: 'x', fallback_from: 'call_0' }),
        callOf('ses', 3, { caller_id: 'key_b' }),
        callOf('ses', 3, { caller_id: null }),
        callOf('trace:1', 3),
      )
      await write(
        callOf('ses', 1, { turn_id: 't1' }),
        callOf('ses', 6, { turn_id: 't2' }),
        callOf('ses', 7, { status: 'refused' }),
      )
      const [local, mine, other, ...none] = await rows('ses')
      assert.deepEqual([local?.caller_id, mine?.caller_id, other?.caller_id, none.length], ['', 'key_a', 'key_b', 0])
      assert.deepEqual([local?.calls, other?.calls], [1, 1])
      assert.deepEqual(
        { ...mine, number: typeof mine?.number },
        {
          ...{ number: 'number', caller_id: 'key_a', session_id: 'ses', ...client },
          ...{ first_client: 'codex', first_client_version: '0.171' },
          ...{ started_at: at(1).toISOString(), last_at: new Date(at(7).getTime() + 1500).toISOString() },
          ...{ calls: 6, errors: 1, refused: 1, retries: 1, turns: 2, first_turn: 't1', last_turn: 't2' },
          ...{ prompt_tokens: 50, completion_tokens: 10, total_tokens: 60, upstream_cost_micros: 5000 },
          ...{ cached_tokens: 20, cache_write_tokens: 5 },
          ...{ cache_saved_micros: 0, cache_missed_tokens: 0, cache_missed_micros: 0 },
        },
      )
      assert.deepEqual(await rows('trace:1'), [])
    })

    it('have their facts in ranges of time, the first from the beginning on', async () => {
      const [shop, main] = [{ repository: 'github.com/ann/shop' }, { branch: 'main' }]
      await note('facts', { ...shop, ...main, dirty: false }, 10)
      await note('facts', { commit: 'aaaaaaa' }, 11)
      await note('facts', { ...shop, ...main, dirty: true, commit: 'aaaaaaa' }, 12)
      await note(
        'facts',
        { branch: 'fix', commits: [{ sha: 'bbbbbbb', at: at(13).toISOString(), subject: 'Fix' }] },
        13,
      )
      const found = (await ranges('facts')).map(({ from_at, until_at, branch, commit_sha, dirty }) => [
        from_at.slice(11, 16),
        until_at?.slice(11, 16),
        branch,
        commit_sha,
        dirty,
      ])
      assert.deepEqual(found, [
        ['00:00', '09:13', 'main', 'aaaaaaa', 1],
        ['09:13', undefined, 'fix', 'aaaaaaa', 1],
      ])
      // Another repository, and no branch.
      const present = await note('facts', { repository: 'root:'.padEnd(45, 'c'), branch: null }, 14)
      assert.deepEqual(present, {
        session_id: 'facts',
        repository: 'root:'.padEnd(45, 'c'),
        branch: null,
        commit: null,
        dirty: null,
      })
      assert.deepEqual(
        await store.db.selectFrom('session_commits').selectAll().where('session_id', '=', 'facts').execute(),
        [
          {
            caller_id: 'key_a',
            session_id: 'facts',
            sha: 'bbbbbbb',
            at: at(13).toISOString(),
            subject: 'Fix',
            ...shop,
            branch: 'fix',
          },
        ],
      )
      assert.deepEqual(
        (await rows('facts')).map(({ calls, client }) => [calls, client]),
        [[0, null]],
      )
    })

    it('have ranges that follow each other, whatever the clocks of their machines say', async () => {
      const day = 24 * 60
      await note('clocks', { branch: 'a' }, 20)
      await note('clocks', { branch: 'b', at: at(day).toISOString() }, 21)
      await note('clocks', { branch: 'c', at: at(-day).toISOString() }, 22)
      await note('clocks', { branch: 'd', at: at(19).toISOString() }, 22)
      const found = await ranges('clocks')
      assert.deepEqual(found.map(({ branch, from_at }) => [branch, from_at.slice(11)]).slice(1), [
        ['b', '09:21:00.000Z'],
        ['c', '09:22:00.000Z'],
        ['d', '09:22:00.001Z'],
      ])
      assert.deepEqual(
        found.map(({ until_at }) => until_at),
        [...found.slice(1).map(({ from_at }) => from_at), null],
      )
    })

    it('are kept without calls up to a number for each key, the newest', async () => {
      await note('idle_1', { branch: 'theirs' }, 99, 'key_other')
      for (const i of [0, 1, 2, 3]) await note(`idle_${i}`, { branch: `b${i}` }, 100 + i, 'key_idle')
      const more = Array.from({ length: 197 }, (_, i) => emptySession('key_idle', `more_${i}`, at(200).toISOString()))
      await store.db.insertInto('coding_sessions').values(more).execute()
      await note('newest', { branch: 'new' }, 300, 'key_idle')
      await note('newest', { branch: 'newer' }, 301, 'key_idle')
      const kept = await store.db
        .selectFrom('coding_sessions')
        .select('session_id')
        .where('caller_id', '=', 'key_idle')
        .execute()
      assert.equal(kept.length, 200)
      assert.deepEqual(
        (await ranges('idle_1')).map(({ caller_id }) => caller_id),
        ['key_other'],
      )
      assert.equal((await ranges('idle_2')).length, 1)
      assert.equal((await rows('idle_1')).length, 1)
    })

    it('keep the name of a first call that comes while the oldest without calls are deleted', async () => {
      await note('first', { branch: 'main' }, 100, 'key_race')
      const more = Array.from({ length: 199 }, (_, i) => emptySession('key_race', `other_${i}`, at(200).toISOString()))
      await store.db.insertInto('coding_sessions').values(more).execute()
      const selects = new WeakSet<object>()
      let calling: Promise<void> | undefined
      const plugin: KyselyPlugin = {
        transformQuery({ node, queryId }) {
          if (node.kind === 'SelectQueryNode') selects.add(queryId)
          return node
        },
        async transformResult({ result, queryId }) {
          const isSelected = selects.has(queryId) && result.rows.some(({ session_id }) => session_id === 'first')
          if (!isSelected) return result
          calling = write(callOf('first', 201, { caller_id: 'key_race' }))
          // SQLite has one writer at a time: the call waits for the deletion.
          if (store.engine === 'postgres') await calling
          return result
        },
      }
      const racing: Store = { ...store, write: (work) => store.write((trx) => work(trx.withPlugin(plugin))) }
      await noteFacts(racing, { callerId: 'key_race', sessionId: 'newest' }, { branch: 'new' }, at(300))
      assert.ok(calling, 'the call came after the look')
      await calling
      const named = await store.db
        .selectFrom('calls')
        .select(SESSION_OF_CALL)
        .where('caller_id', '=', 'key_race')
        .execute()
      assert.deepEqual(named, [{ session_id: 'first' }])
      assert.equal((await ranges('first')).length, store.engine === 'postgres' ? 1 : 0)
    })

    it('are listed in pages, the latest or dearest first, by what they worked on', async () => {
      const usd = (upstream_cost_usd: number) => ({ caller_id: 'key_list', upstream_cost_usd })
      await write(
        callOf('l1', 400, { ...usd(0.003), client: 'codex', kind: 'compact', model: 'small' }),
        callOf('l1', 401, usd(0.001)),
        callOf('l2', 402, usd(0.009)),
        callOf('l3', 403, usd(0.001)),
        callOf('l3', 403, { caller_id: 'key_other' }),
      )
      await note('l1', { repository: 'github.com/ann/list', branch: 'a' }, 400, 'key_list')
      await note('l1', { branch: 'b', commits: [{ sha: 'eeeeeee', at: at(401).toISOString() }] }, 401, 'key_list')
      await note('l2', { repository: 'github.com/ann/list', branch: 'b' }, 402, 'key_list')
      await note('l4', { repository: 'github.com/ann/list' }, 402, 'key_list')
      const ids = async (query: Partial<CodingSessionQuery>) => {
        const seen: string[] = []
        for (let cursor: string | null | undefined; cursor !== null; ) {
          const next = cursor === undefined ? {} : { cursor }
          const page = await listSessions(store, { key: 'key_list', sort: 'last', limit: 2, ...query, ...next })
          seen.push(...page.items.map(({ id }) => id))
          cursor = page.next_cursor
          if (cursor === null) assert.equal(page.total, seen.length)
        }
        return seen.join(' ')
      }
      const repository = 'git@github.com:ann/list.git'
      for (const [expected, query] of [
        ['l3 l2 l1', {}],
        ['l2 l1 l3', { sort: 'cost' }],
        ['l2 l1', { repository }],
        ['l1', { repository, branch: 'a' }],
        ['l2 l1', { branch: 'b', sort: 'cost' }],
        ['', { repository: 'github.com/ann/none' }],
        ['l1', { client: 'codex' }],
        ['l2', { from: at(402).toISOString(), to: at(403).toISOString() }],
        ['', { group: 'grp_none' }],
      ] as const)
        assert.equal(await ids(query), expected, JSON.stringify(query))

      const found = await readSession(store, 'l1', 'key_list')
      assert.ok(found !== null && found !== 'ambiguous')
      const { by_kind, by_model, facts, commits } = found
      assert.deepEqual(
        [by_kind, by_model].map((parts) => parts.map((part) => [part.key, part.calls, part.cost_usd])),
        [
          [
            ['compact', 1, 0.003],
            ['main', 1, 0.001],
          ],
          [
            ['small', 1, 0.003],
            ['m', 1, 0.001],
          ],
        ],
      )
      assert.deepEqual(
        facts.map(({ from, to, branch }) => [from, to, branch]),
        [
          [null, at(401).toISOString(), 'a'],
          [at(401).toISOString(), null, 'b'],
        ],
      )
      assert.deepEqual(
        commits.map(({ sha, branch }) => [sha, branch]),
        [['eeeeeee', 'b']],
      )
      assert.deepEqual([found.cost_usd, found.calls, found.turns, found.duration_seconds], [0.004, 2, null, 61.5])
      assert.deepEqual([found.cache.hit_rate, found.state], [0.4, 'active'])
      assert.equal(await readSession(store, 'l3', undefined), 'ambiguous')
      assert.equal(await readSession(store, 'l1', 'key_other'), null)
    })

    it('are written together when a thousand new ones begin in a minute', async () => {
      let writes = 0
      const counted: Store = {
        ...store,
        write(work) {
          writes += 1
          return store.write(work)
        },
      }
      const flood = createCalls({ store: counted, onError: (error) => assert.fail(String(error)) })
      for (let i = 0; i < 1_000; i++)
        flood.record(callOf(`flood_${i}`, 900, { caller_id: 'key_flood', tags: [`tag ${i}`] }))
      await flood.flush()
      const { total } = await listSessions(store, { key: 'key_flood', sort: 'last', limit: 1 })
      assert.deepEqual([writes, total], [1, 1_000])
    })

    it('are found by a client, repository and branch that few have, and that more have than are looked up', async () => {
      const numbers = sql`with recursive numbers (i) as (select 0 union all select i + 1 from numbers where i < 5001)`
      const first = sql`case when i = 7 then 'rare' else 'usual' end`
      const [caller, id, time] = [sql`'key_many'`, sql`'many_' || i`, at(900).toISOString()]
      await sql`insert into coding_sessions (caller_id, session_id, client, started_at, last_at, calls, upstream_cost_micros)
        ${numbers} select ${caller}, ${id}, ${first}, ${time}, ${time}, 1, i from numbers`.execute(store.db)
      await sql`insert into session_facts (caller_id, session_id, from_at, repository, branch)
        ${numbers} select ${caller}, ${id}, ${time}, 'github.com/ann/many', ${first} from numbers`.execute(store.db)
      await sql`insert into session_facts (caller_id, session_id, from_at, repository, branch)
        values (${caller}, 'many_8', ${at(899).toISOString()}, 'github.com/ann/many', 'rare')`.execute(store.db)
      for (const filter of ['client', 'branch'] as const)
        for (const [value, expected] of [
          ['rare', filter === 'client' ? ['many_7'] : ['many_8', 'many_7']],
          ['usual', ['many_5001', 'many_5000', 'many_4999']],
        ] as const)
          for (const more of [{}, { repository: 'github.com/ann/many' }, { key: 'key_many' }]) {
            const query = { ...more, [filter]: value }
            const { items } = await listSessions(store, { sort: 'cost', limit: 3, ...query })
            assert.deepEqual(
              items.map((item) => item.id),
              expected,
              JSON.stringify(query),
            )
          }
      for (const table of ['coding_sessions', 'session_facts'] as const)
        await store.db.deleteFrom(table).where('caller_id', '=', 'key_many').execute()
    })

    it('group statistics, whose groups add up to the records', async () => {
      const of = (caller_id: string, micros: number, changes: Partial<CallRecord> = {}) => ({
        caller_id,
        upstream_cost_usd: micros / 1_000_000,
        ...changes,
      })
      await note('g1', { repository: 'github.com/ann/g', branch: 'a' }, 500, 'key_g')
      await note('g1', { branch: 'b' }, 502, 'key_g')
      await note('g1', { commits: [{ sha: 'fffffff', at: at(503).toISOString() }] }, 504, 'key_g')
      await write(
        callOf('g1', 501, of('key_g', 1, { client: 'codex', tags: ['x', 'y'] })),
        callOf('g1', 502, of('key_g', 20, { tags: ['y'] })),
        callOf('g1', 504, of('key_g', 300, { status: 'error' })),
        callOf('g2', 504, of('key_g', 4000)),
        { ...callOf('g3', 505, of('key_g', 50_000)), session_id: null },
        callOf('g1', 506, of('key_h', 600_000)),
      )
      const range = { from: at(500).toISOString(), to: at(510).toISOString() }
      for (const [group_by, expected] of Object.entries({
        session: { '': 50_000, g2: 4000, g1: 321 },
        repository: { '': 54_000, 'github.com/ann/g': 321 },
        branch: { '': 54_000, b: 320, a: 1 },
        commit: { '': 54_300, fffffff: 21 },
        client: { '': 54_320, codex: 1 },
        tag: { '': 54_300, y: 21, x: 1 },
      })) {
        const stats = await calls.stats({ ...range, caller_id: 'key_g', group_by: SessionGroupBy.parse(group_by) })
        const groups = stats.groups.map(({ key, upstream_cost_usd }) => [
          key,
          Math.round(upstream_cost_usd * 1_000_000),
        ])
        assert.deepEqual(groups, Object.entries(expected), group_by)
        assert.deepEqual([stats.totals.calls, stats.totals.errors, stats.totals.upstream_cost_usd], [5, 1, 0.054_321])
      }
      // Two keys have a session of the same id.
      const { groups } = await calls.stats({ ...range, group_by: 'session' })
      assert.deepEqual(
        groups.map(({ key, caller_id, calls }) => [key, caller_id, calls]),
        [
          ['g1', 'key_h', 1],
          ['', undefined, 1],
          ['g2', 'key_g', 1],
          ['g1', 'key_g', 3],
        ],
      )
    })

    it('are listed in statistics as long as they are among the dearest', async () => {
      const many = Array.from({ length: 1_003 }, (_, i) =>
        callOf(`many_${i}`, 700, { caller_id: 'key_m', upstream_cost_usd: (2_000 - i) / 1_000_000 }),
      )
      await write(...many)
      const { groups } = await calls.stats({ caller_id: 'key_m', group_by: 'session' })
      assert.deepEqual(
        [groups.length, groups[0]?.key, groups.at(-1)?.key, groups.at(-1)?.calls],
        [1000, 'many_0', 'other', 4],
      )
    })

    it('have tagged calls, whose tags are deleted with the calls', async () => {
      const tagged = callOf('tagged', -100_000, { tags: ['a', 'b'] })
      await write(tagged)
      assert.deepEqual((await calls.find(tagged.call_id))?.tags, ['a', 'b'])
      const [, retention] = callSweeps(
        store,
        () => at(0),
        () => 1,
      )
      assert.equal(await retention?.batch(500), 1)
      const left = await store.db.selectFrom('call_tags').select('tag').where('call_id', '=', tagged.call_id).execute()
      assert.deepEqual([await calls.find(tagged.call_id), left], [null, []])
    })

    it('are deleted with their facts once their calls are older than the trail', async () => {
      await write(callOf('old', 0), callOf('young', 60))
      await note('old', { branch: 'x', commits: [{ sha: 'ddddddd', at: at(0).toISOString() }] }, 1)
      // Calls of whole hours are deleted: that of the young one stays, though it is older.
      const now = () => new Date(at(65).getTime() + 30 * 86_400_000)
      assert.equal(await sessionRetention(store, now, () => null).batch(500), 0)
      const { batch } = sessionRetention(store, now, () => 30)
      await batch(500)
      assert.equal((await rows('old')).length, 1, 'its calls are not deleted yet')
      const calls = callSweeps(store, now, () => 30).find(({ name }) => name === 'audit.retention')
      assert.ok(((await calls?.batch(500)) ?? 0) > 0)
      assert.ok((await batch(500)) > 0)
      assert.equal(await batch(500), 0)
      assert.deepEqual(
        [(await rows('old')).length, (await ranges('old')).length, (await rows('young')).length],
        [0, 0, 1],
      )
      assert.deepEqual(
        await store.db.selectFrom('session_commits').select('sha').where('sha', '=', 'ddddddd').execute(),
        [],
      )
    })
  })
}
