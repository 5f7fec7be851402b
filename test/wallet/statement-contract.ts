import assert from 'node:assert/strict'
import { it } from 'node:test'
import { accountOf, escrowAccount } from '../../src/wallet/ledger/accounts.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { post } from '../../src/wallet/ledger/ledger.ts'
import { readStatement } from '../../src/wallet/ledger/transfer-list.ts'
import { chargeCall, newAddress, type OpenStore } from './setup.ts'

const AT = '2026-11-21T08:00:00.000Z'

/** Tests of account statements, for every engine. `open` opens an empty store. */
export function statementContract(open: OpenStore): void {
  it('shows all that came into an account and left it, newest first and in pages, and nothing of another', async (t) => {
    const store = await open(t)
    const [mine, other] = [newAddress(), newAddress()]
    for (const [caller_id, reference] of [[mine, 'one'] as const, [other, 'two'] as const])
      await makeDeposit(store, { caller_id, amount_usd: 1, reference }, new Date(AT))
    await chargeCall(store, {
      callId: 'call_1',
      callerId: mine,
      at: AT,
      reserved: 300_000,
      margin: 80_000,
      cost: 20_000,
    })
    const locked = { account: escrowAccount('esc_1', other), micros: 500_000 }
    const paid = { account: accountOf('caller', mine), micros: 500_000 }
    await store.write((trx) =>
      post(trx, {
        key: 'lock',
        kind: 'lock',
        entries: [{ account: accountOf('caller', other), micros: -500_000 }, locked],
        at: AT,
      }),
    )
    await store.write((trx) =>
      post(trx, { key: 'release', kind: 'release', entries: [{ ...locked, micros: -500_000 }, paid], at: AT }),
    )

    const first = await readStatement(store, mine, { limit: 3 })
    assert.deepEqual(
      first.items.map(({ position, kind, amount_usd }) => [position, kind, amount_usd]),
      [
        [4, 'release', 0.5],
        [3, 'void', 0.2],
        [2, 'reserve', -0.3],
      ],
    )
    assert.deepEqual(first.items[0]?.entries, [
      { account: `caller:${mine}`, amount_usd: 0.5 },
      { account: 'escrow:esc_1', amount_usd: -0.5 },
    ])
    assert.equal(first.total, 4)
    const rest = await readStatement(store, mine, { limit: 3, cursor: first.next_cursor ?? '' })
    assert.deepEqual([rest.items.map(({ key }) => key), rest.next_cursor], [['deposit:one'], null])
    assert.deepEqual((await readStatement(store, mine, { limit: 1, offset: 3 })).items, rest.items)
    const theirs = await readStatement(store, other, { limit: 10 })
    assert.deepEqual(
      theirs.items.map(({ amount_usd }) => amount_usd),
      [-0.5, 1],
    )
    assert.deepEqual(await readStatement(store, newAddress(), { limit: 10 }), {
      items: [],
      total: 0,
      next_cursor: null,
    })
    await assert.rejects(readStatement(store, mine, { limit: 1, cursor: 'x' }), { code: 'invalid_cursor' })
  })
}
