import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Store } from '../../src/store/store.ts'
import { type AccountRef, accountOf, escrowAccount } from '../../src/wallet/ledger/accounts.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { post } from '../../src/wallet/ledger/ledger.ts'
import type { TransferKind } from '../../src/wallet/ledger/transfer.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { keysOn, newAddress, newKey, type OpenStore } from './setup.ts'

const AT = '2026-11-21T07:17:52.000Z'
const CREDIT = 10_000_000

let moves = 0

/** Moves money, in USD, and tells which part of it comes from deposits. */
async function move(store: Store, kind: TransferKind, from: AccountRef, to: AccountRef, usd: number): Promise<number> {
  const micros = usd * 1e6
  const entries = [
    { account: from, micros: -micros, floor: from.kind === 'caller' ? -CREDIT : 0 },
    { account: to, micros },
  ]
  const { entries: moved } = await store.write((trx) => post(trx, { key: `move ${++moves}`, kind, entries, at: AT }))
  return (moved.find(({ account }) => account === to.id)?.deposited ?? 0) / 1e6
}

const deposit = (store: Store, caller_id: string, amount_usd: number) =>
  makeDeposit(store, { caller_id, amount_usd, reference: `deposit-${++moves}` }, new Date(AT))

/** Takes deposited money out of a caller's account, as a payment on a chain does. */
const payOut = (store: Store, owner: string, usd: number, key: string) =>
  store.write((trx) =>
    post(trx, {
      key,
      kind: 'settle',
      entries: [
        { account: accountOf('caller', owner), micros: -usd * 1e6, floor: -CREDIT, deposited: -usd * 1e6 },
        { account: accountOf('deposits', owner), micros: usd * 1e6 },
      ],
      at: AT,
    }),
  )

/** Remaining deposits in USD, in all accounts but their sources and sinks. */
async function depositsLeft({ db }: Store): Promise<number> {
  const rows = await db
    .selectFrom('ledger_accounts')
    .select('deposited_micros')
    .where('kind', 'in', ['caller', 'held', 'escrow', 'settling'])
    .execute()
  return rows.reduce((sum, row) => sum + row.deposited_micros, 0) / 1e6
}

/** Tests of deposits in the ledger, for every engine. `open` opens an empty store. */
export function depositedContract(open: OpenStore): void {
  it('moves deposits before credit, and gives both back as they came', async (t) => {
    const store = await open(t)
    const [owner, other] = [newAddress(), newAddress()]
    const [caller, escrow] = [accountOf('caller', owner), escrowAccount('esc_1', owner)]
    await deposit(store, owner, 5)
    assert.equal(await move(store, 'lock', caller, escrow, 8), 5)
    assert.equal(await move(store, 'lock', caller, escrowAccount('esc_2', owner), 1), 0)
    assert.equal(await move(store, 'refund', escrow, caller, 8), 5)
    assert.equal(await move(store, 'lock', caller, escrow, 4), 4)
    assert.equal(await move(store, 'release', escrow, accountOf('caller', other), 4), 4)
    assert.equal(await depositsLeft(store), 5)
    assert.deepEqual((await verifyLedger(store)).faults, [])
  })

  it('counts a debt against deposits, also while money that was drawn on credit is set aside', async (t) => {
    const store = await open(t)
    const owner = newAddress()
    const [caller, held, escrow] = [accountOf('caller', owner), accountOf('held', owner), escrowAccount('esc_1', owner)]
    await deposit(store, owner, 5)
    assert.equal(await move(store, 'reserve', caller, held, 8), 5)
    await deposit(store, owner, 3)
    assert.equal(await move(store, 'lock', caller, escrow, 1), 0)
    assert.equal(await move(store, 'refund', escrow, caller, 1), 0)
    assert.equal(await move(store, 'void', held, caller, 8), 5)
    assert.equal(await move(store, 'lock', caller, escrow, 8), 8)
    assert.deepEqual((await verifyLedger(store)).faults, [])
  })

  it('spends deposits first on what a call costs, and gives back the rest of the credit', async (t) => {
    const store = await open(t)
    const owner = newAddress()
    const [caller, held] = [accountOf('caller', owner), accountOf('held', owner)]
    await deposit(store, owner, 5)
    await move(store, 'reserve', caller, held, 8)
    const { entries } = await store.write((trx) =>
      post(trx, {
        key: 'capture',
        kind: 'capture',
        entries: [
          { account: held, micros: -8_000_000 },
          { account: accountOf('upstream_cost', owner), micros: 2_000_000 },
          { account: accountOf('revenue', owner), micros: 4_000_000 },
          { account: caller, micros: 2_000_000 },
        ],
        at: AT,
      }),
    )
    const parts = Object.fromEntries(entries.map(({ account, deposited }) => [account.split(':')[0], deposited]))
    assert.deepEqual(parts, { caller: undefined, held: -5_000_000, revenue: 3_000_000, upstream_cost: 2_000_000 })
    assert.equal(await depositsLeft(store), 0)
  })

  it('pays out deposits alone: neither credit, nor what was earned from it', async (t) => {
    const store = await open(t)
    const [payer, worker] = [newAddress(), newAddress()]
    assert.equal(await move(store, 'release', accountOf('caller', payer), accountOf('caller', worker), 4), 0)
    await deposit(store, worker, 1)
    const refused = { code: 'insufficient_credit', message: /2 USD of deposits is needed and 1 USD is left/ }
    await assert.rejects(payOut(store, worker, 2, 'out'), refused)
    const paid = await payOut(store, worker, 1, 'out')
    assert.deepEqual(await payOut(store, worker, 1, 'out'), paid)
    await assert.rejects(payOut(store, worker, 1, 'more'), { code: 'insufficient_credit' })
    assert.deepEqual((await verifyLedger(store)).faults, [])
  })

  it('makes no deposits of credit where a wallet is bound to a key, or a key is revoked', async (t) => {
    const store = await open(t)
    const [payer, wallet] = [newAddress(), newAddress()]
    await move(store, 'release', accountOf('caller', payer), accountOf('caller', wallet), 4)
    await deposit(store, wallet, 1)
    const first = await newKey(store, { wallet })
    const second = await newKey(store, { wallet })
    const keys = keysOn(store)
    await keys.revoke(first)
    await keys.close()
    await assert.rejects(payOut(store, second, 2, 'too much'), { code: 'insufficient_credit' })
    await payOut(store, second, 1, 'all')
    assert.equal(await depositsLeft(store), 0)
    assert.deepEqual((await verifyLedger(store)).faults, [])
  })

  it('neither makes nor loses deposits while many move at once', async (t) => {
    const store = await open(t)
    const owners = Array.from({ length: 4 }, newAddress)
    for (const [i, owner] of owners.entries()) await deposit(store, owner, i + 1)
    const outcomes = await Promise.allSettled(
      Array.from({ length: 120 }, (_, i) => {
        const [from, to] = [owners[i % 4] as string, owners[(i * 3 + 1) % 4] as string]
        if (i % 5 === 0) return move(store, 'lock', accountOf('caller', from), escrowAccount(`esc_${i % 4}`, from), 1)
        if (i % 5 === 1) return move(store, 'refund', escrowAccount(`esc_${i % 4}`, from), accountOf('caller', from), 1)
        return move(store, 'release', accountOf('caller', from), accountOf('held', to), 1)
      }),
    )
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'insufficient_credit')
    assert.equal(await depositsLeft(store), 10)
    assert.deepEqual((await verifyLedger(store)).faults, [])
  })

  it('sees that an account says more of deposits than its entries', async (t) => {
    const store = await open(t)
    const owner = newAddress()
    await move(store, 'release', accountOf('caller', newAddress()), accountOf('caller', owner), 2)
    await store.db
      .updateTable('ledger_accounts')
      .set({ deposited_micros: 2_000_000 })
      .where('owner', '=', owner)
      .execute()
    const { faults } = await verifyLedger(store)
    assert.deepEqual(faults, [
      `caller:${owner}: the deposited part of the balance is 2000000, that of its entries sums to 0.`,
    ])
  })
}
