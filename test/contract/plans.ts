import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { CompiledQuery, type KyselyPlugin, type RootOperationNode } from 'kysely'
import { waitingAlerts } from '../../src/alerts/waiting-alerts.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { emptySession } from '../../src/calls/session-sums.ts'
import { EscrowList } from '../../src/escrow/escrow.ts'
import { createGaze } from '../../src/gaze/gaze.ts'
import { createGroups } from '../../src/identity/groups.ts'
import { createKeys } from '../../src/identity/keys.ts'
import { createMemory, MemoryInput, MemoryList, MemorySearch } from '../../src/memory/memory.ts'
import { createSessions } from '../../src/sessions/sessions.ts'
import { encodeCursor } from '../../src/store/page.ts'
import type { Store } from '../../src/store/store.ts'
import { TaskList } from '../../src/tasks/tasks.ts'
import { burnList } from '../../src/wallet/burn/burn.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { worksOn } from '../tasks/setup.ts'
import { callOf } from './calls.ts'

const GAZE = { minScore: 0.6, recordsNeeded: 20, minDurationMs: 5000, windowRecords: 1000, maxAgeSeconds: 900 }
const now = () => new Date('2026-11-21T07:17:52.000Z')
const onError = (error: unknown) => assert.fail(String(error))
/**
 * Keys, groups and their budgets, which are few; running totals, and counts that are yet to be folded: they are what the
 * history is summed up in.
 */
const SUMMED_UP =
  /\b(memory_totals|call_rollups|call_totals|gaze_sessions|gaze_dwell|keys|key_groups|budgets|session_totals|task_totals)\b/

/** Steps to the calls of a model or path: the sums of hours, and the calls of these. */
const OF_HOURS =
  /SEARCH calls USING INDEX calls_at \(at>\? AND at<\?\)|SEARCH call_sums USING PRIMARY KEY \(level=\? AND start>\? AND start<\?/

const TASK = `task_${'0'.repeat(32)}`
const ESCROW = `esc_${'0'.repeat(32)}`
const SWARM = `swarm_${'0'.repeat(32)}`
const TASK_FILTERS = { status: 'completed', agent: 'ada', capability: 'ts', swarm_id: SWARM }
const ESCROW_FILTERS = { status: 'released', task_id: TASK, payer: 'key_environment' }
/** Every combination of filters, and the index by which its rows are found. */
const TASK_LISTS: ReadonlyArray<readonly [filters: ReadonlyArray<keyof typeof TASK_FILTERS>, index: RegExp]> = [
  [[], /USING INDEX sqlite_autoindex_tasks_1/],
  [['status'], /tasks_by_status/],
  [['agent'], /tasks_of_agent \(agent=\?/],
  [['status', 'agent'], /tasks_of_agent_by_status \(agent=\? AND status=\?/],
  [['capability'], /tasks_with_capability \(capability=\?/],
  [['status', 'capability'], /tasks_with_capability_by_status \(capability=\? AND status=\?/],
  [['agent', 'capability'], /tasks_of_agent_with_capability \(agent=\? AND capability=\?/],
  [
    ['status', 'agent', 'capability'],
    /tasks_of_agent_with_capability_by_status \(agent=\? AND capability=\? AND status=\?/,
  ],
  ...([[], ['status'], ['agent'], ['capability'], ['status', 'agent'], ['status', 'capability']] as const).map(
    (others) => [['swarm_id', ...others], /tasks_of_swarm \(swarm_id=\?/] as const,
  ),
  [['swarm_id', 'agent', 'capability'], /tasks_of_swarm \(swarm_id=\?/],
  [['swarm_id', 'status', 'agent', 'capability'], /tasks_of_swarm \(swarm_id=\?/],
]
const ESCROW_LISTS: ReadonlyArray<readonly [filters: ReadonlyArray<keyof typeof ESCROW_FILTERS>, index: RegExp]> = [
  [[], /USING INDEX sqlite_autoindex_escrows_1/],
  [['status'], /escrows_by_status \(status=\?/],
  [['task_id'], /escrows_of_task \(task_id=\?/],
  [['status', 'task_id'], /escrows_of_task \(task_id=\?/],
]

const pick = <T extends object>(of: T, names: ReadonlyArray<keyof T>): Partial<T> =>
  Object.fromEntries(names.map((name) => [name, of[name]])) as Partial<T>

const USER = { userId: 'key_1', all: false }
const ADMIN = { userId: 'key_2', all: true }

/** Tests of query plans, for every engine: no full table scans. `open` opens an empty store. */
export function plansContract(open: () => Promise<Store>): void {
  describe('every list, recall and search', () => {
    let store: Store
    let asked: CompiledQuery[] = []
    let services: ReturnType<typeof createServices>

    /** Notes the queries that services send. */
    function recorded(): Store {
      const recorder: KyselyPlugin = {
        transformQuery({ node, queryId }) {
          asked.push(store.db.getExecutor().compileQuery(node, queryId))
          return node
        },
        transformResult: async ({ result }) => result,
      }
      const reads = store.reads.withPlugin(recorder)
      return {
        ...store,
        db: store.db.withPlugin(recorder),
        reads,
        snapshot: (work) => reads.transaction().setAccessMode('read only').execute(work),
      }
    }

    function createServices(on: Store) {
      const { tasks, escrows } = worksOn(on)
      return {
        memory: createMemory({ store: on, now }),
        gaze: createGaze({ store: on, config: GAZE, now }),
        calls: createCalls({ store: on, onError }),
        keys: createKeys({ store: on, now, fixedKey: null, onError }),
        groups: createGroups({ store: on, now }),
        burn: () => burnList({ store: on, now, marginMicros: 0, defaultCreditMicros: 0 }, { limit: 5 }),
        sessions: createSessions({ store: on, now, chatModel: () => 'm' }),
        tasks,
        escrows,
      }
    }

    before(async () => {
      store = await open()
      const { memory, gaze, calls } = createServices(store)
      for (let i = 0; i < 30; i++)
        await memory.store(
          MemoryInput.parse({ key: `k${i}`, value: 'deploy the service', tags: ['t'], ttl_seconds: 60 }),
        )
      await gaze.store({ session_id: 's', records: humanStream(1, { records: 50 }) })
      await calls.flush()
      await store.db
        .insertInto('coding_sessions')
        .values(emptySession('key_1', 's', now().toISOString()))
        .execute()
      await worksOn(store).tasks.createGraph({
        callerId: 'key_1',
        swarmId: SWARM,
        goal: 'Deploy',
        tasks: [{ ref: 'a', title: 'a', description: '', capabilities: [], rewardMicros: 0, dependsOn: [] }],
      })
      await createServices(store).sessions.create(
        { id: 'chat', title: 'Deploy' },
        { userId: 'key_1', source: 'platform' },
      )
      services = createServices(recorded())
    })
    after(() => store.close())

    const from = '2026-11-20T07:10:00.000Z'
    const to = '2026-11-22T07:20:00.000Z'
    const reads: Record<string, () => Promise<unknown>> = {
      'keys by the time that is left to them': () => services.burn(),
      'recall of a memory': () => services.memory.recall({ key: 'k1', namespace: 'default' }),
      memories: () => services.memory.recent(MemoryList.parse({ limit: 5 })),
      'memories of a namespace': () => services.memory.recent(MemoryList.parse({ limit: 5, namespace: 'default' })),
      'memories of a project': () => services.memory.recent(MemoryList.parse({ limit: 5, project: '/p' })),
      'newest memories of a project and of none': () => services.memory.newest({ project: '/p', limit: 5 }),
      "a key's own memories": () => services.memory.of('key_1').recent(MemoryList.parse({ limit: 5 })),
      'search in a project': () => services.memory.search(MemorySearch.parse({ query: 'deploy', project: '/p' })),
      'memories to give to a model': () =>
        services.memory.related(MemorySearch.parse({ query: 'deploy', project: '/p' })),
      'keys that begin alike': () => services.memory.keys({ start: 'k', limit: 5 }),
      'memories with a tag': () => services.memory.recent(MemoryList.parse({ limit: 5, tag: 't' })),
      'memories after a cursor': async () => {
        const { next_cursor: cursor } = await services.memory.recent(MemoryList.parse({ limit: 5 }))
        await services.memory.recent(MemoryList.parse({ limit: 5, cursor }))
      },
      'search by words, beginnings and typos': () =>
        services.memory.search(MemorySearch.parse({ query: 'deploy serv thee', tags: ['t'], namespace: 'default' })),
      'statistics of memories': () => services.memory.stats(),
      'gaze records': () => services.gaze.retrieve({ limit: 5 }),
      'gaze records of a session': () => services.gaze.retrieve({ limit: 5, session_id: 's' }),
      'gaze records of a time': () => services.gaze.retrieve({ limit: 5, from, to }),
      'gaze records of a file': () => services.gaze.retrieve({ limit: 5, path: '/p/src/a.ts' }),
      'gaze records of a source': () => services.gaze.retrieve({ limit: 5, source: 'eye_tracker' }),
      'gaze records of a key': () => services.gaze.retrieve({ limit: 5 }, 'key_a'),
      'gaze records of a key and source': () => services.gaze.retrieve({ limit: 5, source: 'ide' }, 'key_a'),
      'gaze records of a key and file': () =>
        services.gaze.retrieve({ limit: 5, path: '/p/a.ts', source: 'ide' }, 'key_a'),
      'attestation of a session': () => services.gaze.attestation('s'),
      'attestation of a task': () => services.gaze.findAttestation({ task_id: 't' }).catch(() => null),
      'attention by place': () => services.gaze.dwell({ root: '/p', since: from, limit: 10 }),
      calls: () => services.calls.history({ limit: 5 }),
      'calls by status': () => services.calls.history({ limit: 5, status: 'error', from, to }),
      'calls that succeeded': () => services.calls.history({ limit: 5, status: 'ok' }),
      'calls that succeeded in a time': () => services.calls.history({ limit: 5, status: 'ok', from, to }),
      'calls by model': () => {
        // Without calls, none are looked for.
        for (const at of ['2026-11-19T07:10:00.000Z', '2026-11-19T09:10:00.000Z'])
          services.calls.record({ ...callOf('key_1'), at, model: 'm' })
        return services.calls.history({ limit: 5, model: 'm' })
      },
      'calls by model and address': () =>
        services.calls.history({ limit: 5, model: 'm', address: callOf('key_1').address ?? '' }),
      'calls by path': () => services.calls.history({ limit: 5, path: callOf('key_1').path }),
      'calls by caller': () => services.calls.history({ limit: 5, caller_id: 'key_1' }),
      'statistics of calls of a group': () => services.calls.stats({ group_by: 'day', group: 'grp_1' }),
      'calls of a group': () => services.calls.history({ limit: 5, group: 'grp_1' }),
      'refused calls of a caller': () => services.calls.history({ limit: 5, caller_id: 'key_1', status: 'refused' }),
      'calls of a session': () => services.calls.history({ limit: 5, session: 's', status: 'ok', model: 'm', from }),
      'calls of a session of a caller': () => services.calls.history({ limit: 5, session: 's', caller_id: 'key_1' }),
      'one call': () => services.calls.find('call_1'),
      'owners of what an upstream keeps': () => services.calls.ownersOf(['file-1', 'file-2'], 'key_1'),
      'statistics of calls': () => services.calls.stats({ from, to, group_by: 'day' }),
      'statistics of calls by the hour': () => services.calls.stats({ from, to, group_by: 'hour', caller_id: 'key_1' }),
      'statistics of calls by caller': () => services.calls.stats({ from, to, group_by: 'caller' }),
      'statistics of calls of a caller': () => services.calls.stats({ group_by: 'day', caller_id: 'key_1' }),
      'fallbacks of calls': async () => {
        // They are counted from the oldest call on.
        services.calls.record(callOf('key_1'))
        await services.calls.flush()
        await services.calls.fallbacks({ from, to, caller_id: 'key_1' })
      },
      keys: () => services.keys.list({ limit: 5 }),
      'one key, and what it is held to': () => services.keys.find(`key_${'0'.repeat(32)}`),
      'keys of a wallet, and what they are held to': () => services.keys.inForce({ wallet: '0x1' }),
      'groups of keys': () => services.groups.list({ limit: 5 }),
      swarms: () => services.tasks.swarms({ limit: 5 }, null),
      'swarms after a cursor': () => services.tasks.swarms({ limit: 5, cursor: encodeCursor([SWARM]) }, null),
      sessions: () => services.sessions.list({ limit: 5 }, ADMIN),
      'sessions of a user': () => services.sessions.list({ limit: 5 }, USER),
      'sessions of a source': () => services.sessions.list({ limit: 5, source: 'platform' }, ADMIN),
      'sessions of a user and source': () => services.sessions.list({ limit: 5, source: 'platform' }, USER),
      'one session': () => services.sessions.get('chat', USER),
      'messages of a session': () => services.sessions.messages('chat', { limit: 5 }, USER),
      'sessions by words': () => services.sessions.search({ q: 'deploy', limit: 5 }, USER),
      'tasks whose leases are over': () => services.tasks.sweepLeases(5),
      'escrows whose time is over': () => services.escrows.expire(5),
      'statistics of tasks': () => services.tasks.stats(null),
      'statistics of the tasks of a key': () => services.tasks.stats('key_1'),
      'one task': () => services.tasks.get(TASK, null).catch(() => null),
      'one escrow': () => services.escrows.get(ESCROW, null).catch(() => null),
      'messages to the webhook that wait or were given up': () => waitingAlerts(recorded(), now()),
    }
    /**
     * By which index SQLite, which knows nothing of how many rows there are, finds each kind of list. Steps that look up
     * the session of a call come between.
     */
    const indexes: Record<string, RegExp> = {
      calls: /^SEARCH calls USING INDEX calls_at \(at>\?\)\n[\s\S]*USE TEMP B-TREE FOR LAST TERM/,
      'calls by status': /calls_status \(status=\? AND at>\? AND at<\?\)\n[\s\S]*USE TEMP B-TREE FOR LAST TERM/,
      'calls that succeeded': /^SEARCH calls USING INDEX calls_at \(at>\?\)\n[\s\S]*USE TEMP B-TREE FOR LAST TERM/,
      'calls that succeeded in a time':
        /^SEARCH calls USING INDEX calls_at \(at>\? AND at<\?\)\n[\s\S]*USE TEMP B-TREE FOR LAST TERM/,
      'calls by model': OF_HOURS,
      'calls by model and address': OF_HOURS,
      'refused calls of a caller': /calls_status \(status=\?\)/,
      'calls of a session': /calls_of_session \(session_id=\?\)|calls_of_session_number \(session=\? AND at>\?\)/,
      'calls of a session of a caller':
        /calls_of_session \(session_id=\? AND caller_id=\?\)|calls_of_session_number \(session=\?\)/,
      'calls by path': OF_HOURS,
      'gaze records of a key and source': /gaze_stretches_of_caller_source \(caller_id=\? AND source=\?\)$/m,
      'gaze records of a key and file': /gaze_stretches_of_caller_path \(caller_id=\? AND path=\?\)/,
      'statistics of calls of a caller':
        /SEARCH call_sums USING INDEX call_sums_of_caller \(level=\? AND caller_id=\?\)/,
      'messages to the webhook that wait or were given up': /alert_messages_(?:due|given_up)/,
      'calls by caller': /calls_caller_id \(caller_id=\?\)\n[\s\S]*USE TEMP B-TREE FOR LAST TERM/,
    }
    for (const [filters, index] of TASK_LISTS)
      for (const cursor of [undefined, encodeCursor([TASK])]) {
        const query = TaskList.parse({ ...pick(TASK_FILTERS, filters), cursor, limit: 5 })
        const what = `tasks by ${filters}${cursor ? ', after a cursor' : ''}`
        reads[what] = () => services.tasks.list(query, null)
        indexes[what] = index
      }
    for (const [filters, index] of ESCROW_LISTS)
      for (const cursor of [undefined, encodeCursor([ESCROW])]) {
        const query = EscrowList.parse({ ...pick(ESCROW_FILTERS, filters), cursor, limit: 5 })
        const what = `escrows by ${filters}${cursor ? ', after a cursor' : ''}`
        reads[what] = () => services.escrows.list(query, null)
        indexes[what] = index
      }
    const viewer = { id: 'key_1', wallet: null }
    for (const [filters] of ESCROW_LISTS)
      reads[`escrows of a key by ${filters}`] = () =>
        services.escrows.list(EscrowList.parse({ ...pick(ESCROW_FILTERS, filters), limit: 5 }), viewer)
    reads['one escrow of a key'] = () => services.escrows.get(ESCROW, viewer).catch(() => null)
    for (const [filters, index] of [
      [{ status: 'paid' }, /escrows_by_status \(status=\?/],
      [{ status: 'live', payer: 'key_environment' }, /escrows_counted \(payer=\?/],
    ] as const) {
      const what = `escrows of ${Object.values(filters).join(', ')}`
      reads[what] = () => services.escrows.list(EscrowList.parse(filters), null)
      indexes[what] = index
    }
    for (const [what, read] of Object.entries(reads))
      it(`uses an index: ${what}`, async () => {
        asked = []
        await read()
        const queries = asked.filter(({ query }) =>
          ['SelectQueryNode', 'RawNode'].includes((query as RootOperationNode).kind),
        )
        assert.ok(queries.length > 0, 'no query was sent')
        const tables = new Set((await store.db.introspection.getTables()).map(({ name }) => name))
        for (const query of queries) {
          const steps = await planOf(store, query)
          const scans = steps.filter(
            (step) => isScan(step, query, tables) && !SUMMED_UP.test(step) && !isFirstRow(step, query),
          )
          assert.deepEqual(scans, [], `${query.sql}\n${steps.join('\n')}`)
          const index = indexOf(query, indexes[what])
          if (store.engine === 'sqlite' && index) assert.match(steps.join('\n'), index, query.sql)
        }
      })
  })
}

/** The steps of an engine's plan for a query. PostgreSQL is told to scan tables only where nothing else is possible. */
async function planOf(store: Store, { sql, parameters }: CompiledQuery): Promise<string[]> {
  if (store.engine === 'sqlite') {
    const { rows } = await store.db.executeQuery<{ detail: string }>(
      CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]),
    )
    return rows.map((row) => row.detail)
  }
  return store.write(async (trx) => {
    await trx.executeQuery(CompiledQuery.raw('set local enable_seqscan = off'))
    const { rows } = await trx.executeQuery<{ 'QUERY PLAN': string }>(
      CompiledQuery.raw(`explain ${sql}`, [...parameters]),
    )
    return rows.map((row) => row['QUERY PLAN'])
  })
}

/** The index of a query for what is due, or for a page of a list, which is found by `page`. */
function indexOf({ sql }: CompiledQuery, page: RegExp | undefined): RegExp | undefined {
  if (/"expires_at" <= /.test(sql))
    return /^SEARCH escrows USING .*INDEX escrows_expiring \(status=\? AND expires_at<\?\)$/
  if (/"lease_expires_at" <= /.test(sql)) return /^SEARCH tasks USING .*INDEX tasks_leased \(lease_expires_at<\?\)$/
  if (/"fallback_from" is not null/.test(sql)) return /^SEARCH (?:calls|later) USING INDEX calls_fallback \(at>\?/m
  return /( desc limit \?|from call_sums )/.test(sql) ? page : undefined
}

/** SQLite reads a table in the order of its number, and stops at the first row. */
const isFirstRow = (step: string, { sql }: CompiledQuery): boolean =>
  step === 'SCAN memories' && sql.endsWith('order by "seq" limit ?')

/**
 * True if a step reads a whole table: neither through an index, nor through a virtual table's own, nor the rows of a
 * subquery, whose own steps are judged beside it.
 */
function isScan(step: string, { sql }: CompiledQuery, tables: ReadonlySet<string>): boolean {
  if (/Seq Scan on/.test(step)) return true
  const name = /^SCAN (?!.*(USING|VIRTUAL TABLE|CONSTANT ROW))(\w+)/.exec(step)?.[2]
  return name !== undefined && (tables.has(name) || !subqueriesOf(sql).has(name))
}

/** Names of the subqueries of a query: `(select …) as name`, and `name as (select …)`. */
const subqueriesOf = (sql: string): Set<string> =>
  new Set(
    [...sql.matchAll(/\)\s+as\s+"?(\w+)|"?(\w+)"?\s+as\s+(?:materialized\s+)?\(/g)].map(
      ([, a, b]) => (a ?? b) as string,
    ),
  )
