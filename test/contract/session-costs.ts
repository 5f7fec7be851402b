import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { COST_PARTS } from '../../src/coding-sessions/cost-parts.ts'
import { noteFacts } from '../../src/coding-sessions/note-facts.ts'
import { type CostQuery, type SessionCosts, sessionCosts } from '../../src/coding-sessions/session-costs.ts'
import type { Store } from '../../src/store/store.ts'

const REPOSITORY = 'github.com/ann/shop'
const [PAY, REFUND, FIX] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string]
/** Time of a minute after the beginning, over midnight. */
const minute = (count: number) => new Date(Date.parse('2026-11-01T23:00:00.000Z') + count * 60_000).toISOString()

function call(session_id: string | null, at: number, micros: number, more: Partial<CallRecord> = {}): CallRecord {
  return {
    call_id: `call_${session_id}_${at}`,
    at: minute(at),
    surface: 'http',
    address: null,
    caller_id: 'key_ann',
    path: '/v1/messages',
    requested_model: 'm',
    model: 'model-a',
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
    latency_ms: 1,
    first_token_ms: null,
    usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
    upstream_cost_usd: micros / 1_000_000,
    error: null,
    ...more,
  }
}

/** Calls of which the first eight are in the repository. */
const CALLS = [
  call('one', 0, 100_001),
  call('one', 10, 20_003, { model: 'model-b' }),
  call('one', 30, 300_007),
  call('one', 70, 4_011),
  call('two', 5, 50_021),
  call('two', 65, 600_043),
  call('bob', 5, 7_000_087, { caller_id: 'key_bob' }),
  call('open', 5, 80_000, { caller_id: null }),
  call('other', 5, 900_000),
  call(null, 5, 1_000_000),
]
const IN_REPOSITORY = CALLS.slice(0, 8)

/** Tests of what sessions cost, for every engine. `open` opens an empty store. */
export function sessionCostsContract(open: () => Promise<Store>): void {
  describe('the cost of sessions', () => {
    let store: Store
    const costs = (query: Partial<CostQuery> = {}) =>
      sessionCosts(store, { repository: REPOSITORY, by: 'session', ...query })
    const shown = ({ lines }: SessionCosts) => lines.map(({ key, cost_usd }) => [key, Math.round(cost_usd * 1e6)])

    before(async () => {
      store = await open()
      const calls = createCalls({ store, onError: (error) => assert.fail(String(error)) })
      for (const record of CALLS) calls.record(record)
      await calls.flush()
      const note = (sessionId: string, at: number, facts: object, callerId: string | null = 'key_ann') =>
        noteFacts(store, { callerId, sessionId }, { repository: REPOSITORY, ...facts }, new Date(minute(at)))
      await note('one', 0, { branch: 'main' })
      await note('one', 20, { branch: 'feature/pay', commits: [{ sha: PAY, at: minute(20), subject: 'Pay' }] })
      await note('one', 31, { commits: [{ sha: REFUND, at: minute(31), subject: 'Refund' }] })
      // Two agents in one folder: both see the commit, and each has its own calls before it.
      await note('two', 0, { branch: 'main', commits: [{ sha: PAY, at: minute(20), subject: 'Pay' }] })
      await note(
        'bob',
        0,
        { branch: 'feature/pay', commits: [{ sha: PAY, at: minute(4), subject: 'Secret' }] },
        'key_bob',
      )
      await note('bob', 0, { commits: [{ sha: FIX, at: minute(9), subject: 'Fix' }] }, 'key_bob')
      await note('open', 0, { branch: null }, null)
      await note('other', 0, { repository: 'github.com/ann/other', branch: 'main' })
    })

    after(() => store.close())

    it('is the same to the last micro-dollar by every part, and that of the records', async () => {
      const sum = IN_REPOSITORY.reduce(
        (total, { upstream_cost_usd }) => total + Math.round((upstream_cost_usd ?? 0) * 1e6),
        0,
      )
      for (const by of COST_PARTS) {
        const { lines, total } = await costs({ by })
        const cost = lines.reduce((all, { cost_usd }) => all + Math.round(cost_usd * 1e6), 0)
        const calls = lines.reduce((all, line) => all + line.calls, 0)
        assert.deepEqual([cost, calls], [sum, 8], by)
        assert.deepEqual([Math.round(total.cost_usd * 1e6), total.calls, total.sessions], [sum, 8, 4], by)
      }
    })

    it('goes to the first commit after the calls, of each session by itself', async () => {
      assert.deepEqual(shown(await costs({ by: 'commit', caller_id: 'key_ann' })), [
        [PAY, 100_001 + 20_003 + 50_021],
        [REFUND, 300_007],
        [null, 4_011 + 600_043],
      ])
      const { lines } = await costs({ by: 'commit', caller_id: 'key_ann' })
      assert.deepEqual(
        lines.map(({ subject, sessions }) => [subject, sessions]),
        [
          ['Pay', 2],
          ['Refund', 1],
          [null, 2],
        ],
      )
    })

    it('is of the branch that was checked out when a call began, and of a time', async () => {
      assert.deepEqual(shown(await costs({ branch: 'feature/pay', caller_id: 'key_ann' })), [['one', 304_018]])
      assert.deepEqual(shown(await costs({ by: 'day', from: minute(30), caller_id: 'key_ann' })), [
        ['2026-11-01', 300_007],
        ['2026-11-02', 604_054],
      ])
      assert.deepEqual(shown(await costs({ by: 'model', to: minute(30), branch: 'main' })), [
        ['model-a', 150_022],
        ['model-b', 20_003],
      ])
      assert.deepEqual(await costs({ branch: 'nothing' }), {
        lines: [],
        total: { sessions: 0, calls: 0, prompt_tokens: 0, cached_tokens: 0, completion_tokens: 0, cost_usd: 0 },
      })
    })
  })
}
