import assert from 'node:assert/strict'
import { it } from 'node:test'
import { SessionGroupBy } from '../../src/calls/call-groups.ts'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { noteFacts } from '../../src/coding-sessions/note-facts.ts'
import type { Store } from '../../src/store/store.ts'
import { accountOf, escrowAccount } from '../../src/wallet/ledger/accounts.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { post } from '../../src/wallet/ledger/ledger.ts'
import { boundsOf } from '../../src/wallet/ledger/statement-period.ts'
import type { Entry, TransferKind } from '../../src/wallet/ledger/transfer.ts'
import { writeRecorded } from '../../src/wallet/receipts/store-receipts.ts'
import { buildStatement } from '../../src/wallet/statements/build-statement.ts'
import { statementCsv } from '../../src/wallet/statements/statement-csv.ts'
import { subjectOf } from '../../src/wallet/statements/statement-subject.ts'
import { CALL } from './call-record.ts'
import { chargeCall, newAddress, type OpenStore, receiptOf } from './setup.ts'

const micros = (usd: number): number => Math.round(usd * 1e6)

/** Moves an amount from the first account to the second. */
const moving = (kind: TransferKind, key: string, at: string, amount: number) => (store: Store, names: Accounts) =>
  store.write((trx) => {
    const entries = [
      { account: names[0], micros: -amount },
      { account: names[1], micros: amount },
    ]
    return post(trx, { key, kind, entries, at })
  })

type Accounts = [from: ReturnType<typeof accountOf>, to: ReturnType<typeof accountOf>]

/** Fills two accounts with every kind of movement, over three months. */
async function fill(store: Store, a: string, b: string): Promise<void> {
  const deposit = (caller_id: string, amount_usd: number, at: string) =>
    makeDeposit(store, { caller_id, amount_usd, reference: `${caller_id}:${at}` }, new Date(at))
  const [mine, locked] = [accountOf('caller', a), escrowAccount('esc_1', a)]
  await deposit(a, 2.000001, '2026-10-31T23:59:59.999Z')
  await deposit(b, 1, '2026-11-01T00:00:00.000Z')
  await deposit(a, 0.1, '2026-11-30T23:59:59.999Z')
  const call = (callId: string, callerId: string, at: string) =>
    chargeCall(store, { callId, callerId, at, reserved: 300_000, margin: 80_000, cost: 20_003 })
  await call('call_1', a, '2026-10-31T12:00:00.000Z')
  await call('call_2', a, '2026-11-02T12:00:00.000Z')
  await call('call_3', b, '2026-11-02T12:00:00.000Z')
  await call('call_4', a, '2026-12-01T00:00:00.000Z')
  await moving('lock', 'lock', '2026-11-03T00:00:00.000Z', 500_000)(store, [mine, locked])
  await moving('refund', 'refund', '2026-11-04T00:00:00.000Z', 200_000)(store, [locked, mine])
  await moving('release', 'release', '2026-11-05T00:00:00.000Z', 100_000)(store, [locked, accountOf('caller', b)])
  await moving('release', 'chain', '2026-11-05T00:00:00.000Z', 50_000)(store, [locked, accountOf('settling', a)])
  await moving(
    'settle',
    'paid',
    '2026-11-06T00:00:00.000Z',
    50_000,
  )(store, [accountOf('settling', a), accountOf('deposits', a)])
  await moving('withdraw', 'withdraw', '2026-11-07T00:00:00.000Z', 7)(store, [mine, accountOf('settling', a)])
  await moving('purchase', 'purchase', '2026-11-08T00:00:00.000Z', 11)(store, [mine, accountOf('revenue', a)])
  await moving('return', 'return', '2026-12-08T00:00:00.000Z', 11)(store, [accountOf('revenue', a), mine])
}

/** Tests of the statements of periods, for every engine. `open` opens an empty store. */
export function periodStatementContract(open: OpenStore): void {
  it('states balances that are those of the ledger to the micro-dollar, for any period and account', async (t) => {
    const store = await open(t)
    const [a, b] = [newAddress(), newAddress()]
    await fill(store, a, b)
    const rows = await store.db.selectFrom('ledger_transfers').select(['at', 'entries']).execute()
    const balanceAt = (time: string, owners: readonly string[]) =>
      rows
        .filter(({ at }) => at < time)
        .flatMap(({ entries }) => JSON.parse(entries) as Entry[])
        .filter(({ account }) => owners.some((id) => account === `caller:${id}` || account === `held:${id}`))
        .reduce((sum, entry) => sum + entry.micros, 0)
    for (const period of ['2026-09', '2026-10', '2026-11', '2026-12', '2026-11-02', '2026-11-30', '2027-01'])
      for (const caller_id of [a, b, undefined]) {
        const statement = await buildStatement(store, period, await subjectOf(store, { caller_id }))
        const owners = caller_id === undefined ? [a, b] : [caller_id]
        const { from, to } = boundsOf(period)
        const what = `${period} of ${caller_id ?? 'all'}`
        assert.equal(micros(statement.opening_usd), balanceAt(from, owners), `opening of ${what}`)
        assert.equal(micros(statement.closing_usd), balanceAt(to, owners), `closing of ${what}`)
        const { totals, opening_usd, closing_usd } = statement
        const { upstream_cost_usd, margin_usd, recorded_usd: _, settlements_usd: __, ...rest } = totals
        const { absorbed_usd: ___, debts_usd: ____, ...moved } = rest
        const sum = Object.values(moved).reduce((all, usd) => all + micros(usd), micros(opening_usd))
        assert.equal(sum, micros(closing_usd), `totals of ${what}`)
        assert.equal(micros(totals.charges_usd), micros(upstream_cost_usd) + micros(margin_usd))
        const lines = statementCsv(statement).trim().split('\r\n').slice(1)
        const amounts = lines.map((line) => micros(Number(line.split(',')[3])))
        const closing = amounts.pop()
        assert.equal(
          amounts.reduce((all, one) => all + one, 0),
          closing,
          `lines of ${what}`,
        )
      }
  })

  it('has a line for each day, model and price, with the units and whether it was charged', async (t) => {
    const store = await open(t)
    const caller_id = newAddress()
    const price = { input: 2, output: 10, tier: null, from: 'configuration', id: 'm' }
    const of = { caller_id, counted_on: '2026-11-02', at: '2026-11-02T08:00:00.000Z', charged: 0, margin_micros: 0 }
    const tokens = { prompt_tokens: 100, cached_tokens: 30, completion_tokens: 10, upstream_cost_micros: 246 }
    const spendOf = (call_id: string, rates: object) => ({
      spender: { id: caller_id, groupId: null },
      day: of.counted_on,
      micros: 246,
      allowanceId: null,
      written() {},
      receipt: receiptOf({ ...of, ...tokens, call_id, price: JSON.stringify(rates), usage_estimated: 1 }),
    })
    const spends = [spendOf('call_1', price), spendOf('call_2', price), spendOf('call_3', { ...price, input: 3 })]
    await store.write((trx) => writeRecorded(trx, spends, store.engine))
    const { charges, totals, closing_usd } = await buildStatement(
      store,
      '2026-11',
      await subjectOf(store, { caller_id }),
    )
    assert.deepEqual(
      charges.map(({ day, calls, prompt_tokens, cached_tokens, price: of, charged, estimated_calls }) => ({
        ...{ day, calls, prompt_tokens, cached_tokens, input: of?.input, charged, estimated_calls },
      })),
      [
        {
          day: '2026-11-02',
          calls: 2,
          prompt_tokens: 200,
          cached_tokens: 60,
          input: 2,
          charged: false,
          estimated_calls: 2,
        },
        {
          day: '2026-11-02',
          calls: 1,
          prompt_tokens: 100,
          cached_tokens: 30,
          input: 3,
          charged: false,
          estimated_calls: 1,
        },
      ],
    )
    assert.deepEqual([totals.recorded_usd, totals.charges_usd, closing_usd], [0.000738, 0, 0])
  })

  it('has a line for each branch, session or set of tags where asked, which add up as before', async (t) => {
    const store = await open(t)
    const [a, b] = [newAddress(), newAddress()]
    await fill(store, a, b)
    const calls = createCalls({ store, onError: (error) => assert.fail(String(error)) })
    const record = (call_id: string, caller_id: string, more: Partial<CallRecord>) => {
      const of = {
        ...NO_SESSION,
        session_id: 's1',
        client: 'codex',
        call_id,
        caller_id,
        at: '2026-11-02T12:00:00.000Z',
      }
      return calls.record({ ...CALL, ...of, ...more })
    }
    record('up_2', a, { tags: ['nightly', 'team-a'] })
    record('up_3', b, {})
    await calls.flush()
    const ofCall = (call_id: string, upstream_call_id: string) =>
      store.db.updateTable('metered_calls').set({ upstream_call_id }).where('call_id', '=', call_id).execute()
    for (const n of [2, 3]) await ofCall(`call_${n}`, `up_${n}`)
    await chargeCall(store, {
      ...{ callId: 'call_5', callerId: a, at: '2026-11-09T12:00:00.000Z', reserved: 300_000, margin: 5, cost: 7 },
    })
    await ofCall('call_5', 'deleted')
    const at = new Date('2026-11-02T12:00:00.000Z')
    await noteFacts(store, { callerId: a, sessionId: 's1' }, { repository: 'github.com/ann/shop', branch: 'main' }, at)
    const all = await buildStatement(store, '2026-11', await subjectOf(store, {}))
    for (const [by, groups] of Object.entries({
      session: [null, 's1', 's1'],
      repository: ['github.com/ann/shop', null],
      branch: ['main', null],
      commit: [null],
      client: ['codex', null],
      tag: ['nightly, team-a', null],
    })) {
      const group_by = SessionGroupBy.parse(by)
      const statement = await buildStatement(store, '2026-11', await subjectOf(store, {}), group_by)
      const { charges, ...rest } = statement
      const { charges: daily, ...before } = all
      assert.deepEqual(charges.map(({ group }) => group).sort(), groups, by)
      assert.deepEqual(rest, { ...before, group_by })
      const added = (lines: typeof charges) =>
        ['calls', 'prompt_tokens', 'estimated_calls', 'upstream_cost_usd', 'margin_usd'].map((name) =>
          lines.reduce((sum, line) => sum + micros(Number(line[name as keyof typeof line])), 0),
        )
      assert.deepEqual(added(charges), added(daily), by)
      const [head = '', ...lines] = statementCsv(statement).trim().split('\r\n')
      assert.match(head, /,debt_usd,group,caller_id$/)
      const amounts = lines.map((line) => micros(Number(line.split(',')[3])))
      assert.equal(
        amounts.slice(0, -1).reduce((sum, one) => sum + one, 0),
        amounts.at(-1),
        by,
      )
    }
    const mine = await buildStatement(store, '2026-11', await subjectOf(store, { caller_id: a }), 'session')
    assert.deepEqual(
      mine.charges.map(({ group, caller_id, calls: count, day, total_usd }) => [
        group,
        caller_id,
        count,
        day,
        total_usd,
      ]),
      [
        ['s1', a, 1, null, 0.100003],
        [null, undefined, 1, null, 0.000012],
      ],
    )
  })

  it('refuses a group that does not exist, and a caller together with a group', async (t) => {
    const store = await open(t)
    await assert.rejects(subjectOf(store, { group: 'grp_none' }), { code: 'not_found' })
    await assert.rejects(subjectOf(store, { group: 'grp_none', caller_id: 'a' }), { code: 'validation_failed' })
  })
}
