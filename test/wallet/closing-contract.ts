import assert from 'node:assert/strict'
import { it } from 'node:test'
import { accountOf } from '../../src/wallet/ledger/accounts.ts'
import { closePeriod } from '../../src/wallet/ledger/closed-periods.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { post } from '../../src/wallet/ledger/ledger.ts'
import { readLedgerHead } from '../../src/wallet/ledger/ledger-head.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { writeRecorded } from '../../src/wallet/receipts/store-receipts.ts'
import { usageReport } from '../../src/wallet/receipts/usage-report.ts'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { chargeCall, newAddress, type OpenStore, receiptOf } from './setup.ts'

const NOVEMBER = '2026-11-30T23:59:59.000Z'
const DECEMBER = '2026-12-01T00:00:00.000Z'
const LATER = new Date('2026-12-03T00:00:00.000Z')

/** Something to wait for until the test opens it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}

/** Tests of closed periods, for every engine. `open` opens an empty store. */
export function closingContract(open: OpenStore): void {
  it('books what comes late, or with a clock set back, at the first moment after a closed period', async (t) => {
    const store = await open(t)
    const mine = newAddress()
    const deposit = (reference: string) =>
      makeDeposit(store, { caller_id: mine, amount_usd: 1, reference }, new Date(NOVEMBER))
    assert.equal((await deposit('before')).at, NOVEMBER)
    await closePeriod(store, { period: '2026-11', by: 'admin', now: LATER })
    const charge = { callerId: mine, at: NOVEMBER, reserved: 1_000 }
    await chargeCall(store, { callId: 'call_paid', ...charge, margin: 10, cost: 5 })
    await chargeCall(store, { callId: 'call_free', ...charge, margin: 0, cost: 0 })
    const recorded = receiptOf({ call_id: 'call_recorded', caller_id: mine, at: NOVEMBER, counted_on: '2026-11-30' })
    const spend = {
      spender: { id: mine, groupId: null },
      day: '2026-11-30',
      micros: 1,
      allowanceId: null,
      written() {},
    }
    const receipt = { ...recorded, charged: 0 }
    await store.write((trx) => writeRecorded(trx, [{ ...spend, receipt }], store.engine))

    assert.equal((await deposit('late')).at, DECEMBER)
    assert.equal((await deposit('before')).at, NOVEMBER)
    const { items, groups } = await usageReport(store, { limit: 10, group_by: 'day' })
    assert.deepEqual(
      items.map(({ call_id, at }) => [call_id, at]).sort(),
      ['call_free', 'call_paid', 'call_recorded'].map((id) => [id, DECEMBER]),
    )
    assert.deepEqual(
      groups.map(({ key, calls }) => [key, calls]),
      [['2026-12-01', 3]],
    )
    const times = await store.db.selectFrom('ledger_transfers').select(['key', 'at']).execute()
    assert.deepEqual(
      times.filter(({ at }) => at < DECEMBER).map(({ key }) => key),
      ['deposit:before'],
    )
    assert.deepEqual((await verifyLedger(store)).faults, [])
    assert.deepEqual(await callFaults(store), [])
  })

  it('closes a period once, also when several ask at the same time, and not before it has ended', async (t) => {
    const store = await open(t)
    const by = (who: string) => closePeriod(store, { period: '2026-11', by: who, now: LATER })
    const [one, other] = await Promise.all([by('ann'), by('bob')])
    assert.deepEqual(one, other)
    assert.deepEqual(await by('eve'), one)
    assert.match(one.ledger_head ?? '', /^[0-9a-f]{64}$/)
    const early = closePeriod(store, { period: '2026-12', by: 'ann', now: LATER })
    await assert.rejects(early, { code: 'conflict', status: 409 })
    for (const period of ['2026', '2026-13', '2026-02-30', 'total', '2026-11; drop'])
      await assert.rejects(closePeriod(store, { period, by: 'ann', now: LATER }), { code: 'validation_failed' })
  })

  it('waits for what is being booked, so that the head of a closed period covers it', async (t) => {
    const store = await open(t)
    const [posted, proceed] = [gate(), gate()]
    const booking = store.write(async (trx) => {
      const entries = [
        { account: accountOf('deposits', 'a'), micros: -5, floor: null, deposited: -5 },
        { account: accountOf('caller', 'a'), micros: 5 },
      ]
      await post(trx, { key: 'deposit:a', kind: 'deposit', entries, at: NOVEMBER })
      posted.open()
      await proceed.opened
    })
    await posted.opened
    let isClosed = false
    const closing = closePeriod(store, { period: '2026-11', by: 'ann', now: LATER }).finally(() => {
      isClosed = true
    })
    await store.db.selectFrom('ledger_transfers').select('key').execute()
    assert.equal(isClosed, false)
    proceed.open()
    await booking
    assert.equal((await closing).ledger_head, await readLedgerHead(store))
    const { at } = await store.db.selectFrom('ledger_transfers').select('at').executeTakeFirstOrThrow()
    assert.equal(at, NOVEMBER)
  })
}
