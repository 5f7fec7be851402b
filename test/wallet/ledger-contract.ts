import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import type { GazewayError } from '../../src/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { type AccountKind, accountOf, escrowAccount } from '../../src/wallet/ledger/accounts.ts'
import { type NewTransfer, post } from '../../src/wallet/ledger/ledger.ts'
import { readLedgerHead } from '../../src/wallet/ledger/ledger-head.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { turnsDuring } from '../doubles/turns.ts'
import { newAddress, type OpenStore } from './setup.ts'

const AT = '2026-11-21T07:17:52.000Z'

const deposit = (owner: string, micros: number, key: string): NewTransfer => ({
  key,
  kind: 'deposit',
  entries: [
    { account: accountOf('deposits', owner), micros: -micros, floor: null },
    { account: accountOf('caller', owner), micros },
  ],
  at: AT,
})

const balanceOf = async (store: Store, id: string): Promise<number | undefined> =>
  (await store.db.selectFrom('ledger_accounts').select('balance_micros').where('id', '=', id).executeTakeFirst())
    ?.balance_micros

/** Tests of the ledger, for every engine. `open` opens an empty store. */
export function ledgerContract(open: OpenStore): void {
  it('moves money once per key, and returns the first transfer on a retry', async (t) => {
    const store = await open(t)
    const owner = newAddress()
    const first = await store.write((trx) => post(trx, deposit(owner, 500, 'twice')))
    const again = await store.write((trx) =>
      post(trx, { ...deposit(owner, 500, 'twice'), at: '2027-01-01T00:00:00.000Z' }),
    )
    assert.deepEqual(again, first)
    assert.equal(await balanceOf(store, `caller:${owner}`), 500)
    await assert.rejects(
      store.write((trx) => post(trx, deposit(owner, 501, 'twice'))),
      { code: 'conflict', message: /was used before, for another amount or account.*use another reference/ },
    )
    assert.deepEqual((await verifyLedger(store)).faults, [])
  })

  it('writes nothing when an account would fall below its floor', async (t) => {
    const store = await open(t)
    const [payer, other] = [newAddress(), newAddress()]
    await store.write((trx) => post(trx, deposit(payer, 500, 'd')))
    const spend = (micros: number, floor: number): NewTransfer => ({
      key: `spend ${micros} ${floor}`,
      kind: 'lock',
      entries: [
        { account: accountOf('caller', payer), micros: -micros, floor },
        { account: escrowAccount('esc_1', other), micros },
      ],
      at: AT,
    })
    await assert.rejects(
      store.write((trx) => post(trx, spend(501, 0))),
      {
        code: 'insufficient_credit',
        status: 402,
        message: /0\.000501 USD is needed and 0\.0005 USD is left in the account of 0x/,
      },
    )
    assert.equal(await balanceOf(store, `caller:${payer}`), 500)
    assert.equal(await balanceOf(store, 'escrow:esc_1'), undefined)
    await store.write((trx) => post(trx, spend(600, -100)))
    assert.equal(await balanceOf(store, `caller:${payer}`), -100)
    assert.equal(await balanceOf(store, 'escrow:esc_1'), 600)
    const { balances, transfers, faults } = await verifyLedger(store)
    assert.deepEqual({ transfers, faults }, { transfers: 2, faults: [] })
    assert.deepEqual(balances, { caller: -100, deposits: -500, escrow: 600 })
  })

  it('makes accounts again that went with a transaction that was given up', async (t) => {
    const store = await open(t)
    const owner = newAddress()
    const fault = new Error('given up')
    const twice = store.write(async (trx) => {
      await post(trx, deposit(owner, 1, 'first'))
      await post(trx, deposit(owner, 2, 'second'))
      throw fault
    })
    await assert.rejects(twice, fault)
    await store.write((trx) => post(trx, deposit(owner, 3, 'third')))
    assert.equal(await balanceOf(store, `caller:${owner}`), 3)
    assert.deepEqual((await verifyLedger(store)).faults, [])
  })

  it('lets money in where a limit was lowered below the balance', async (t) => {
    const store = await open(t)
    const owner = newAddress()
    const use = { account: accountOf('caller', owner), micros: -900, floor: -1000 }
    await store.write((trx) =>
      post(trx, {
        key: 'r',
        kind: 'reserve',
        entries: [use, { account: accountOf('held', owner), micros: 900 }],
        at: AT,
      }),
    )
    await store.write((trx) => post(trx, deposit(owner, 100, 'in')))
    assert.equal(await balanceOf(store, `caller:${owner}`), -800)
  })

  it('reads its head in pages, between which others have their turn', async (t) => {
    const store = await open(t)
    await sql`insert into ledger_accounts (id, kind, owner, balance_micros, deposited_micros, transfers, head)
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 15000)
      select 'caller:' || cast(n as text), 'caller', cast(n as text), 0, 0, 0, '' from numbers`.execute(store.db)
    assert.ok((await turnsDuring(() => readLedgerHead(store))) >= 3)
  })

  it('takes no transfer that could not be right', async (t) => {
    const store = await open(t)
    const owner = newAddress()
    const [caller, held] = [accountOf('caller', owner), accountOf('held', owner)]
    const wrong: Array<NewTransfer['entries']> = [
      [{ account: caller, micros: 1 }],
      [
        { account: caller, micros: 1 },
        { account: held, micros: -2 },
      ],
      [
        { account: caller, micros: 0.5 },
        { account: held, micros: -0.5 },
      ],
      [
        { account: caller, micros: 2 ** 53 },
        { account: held, micros: -(2 ** 53) },
      ],
      [
        { account: caller, micros: 1 },
        { account: caller, micros: -1 },
      ],
    ]
    for (const entries of wrong)
      await assert.rejects(
        store.write((trx) => post(trx, { key: 'k', kind: 'lock', entries, at: AT })),
        RangeError,
      )
    assert.equal((await verifyLedger(store)).transfers, 0)
  })

  it('refuses with 409 what no account can hold, whatever is moved, and stays exact', async (t) => {
    const store = await open(t)
    const owners = [newAddress(), newAddress()]
    const ref = (kind: AccountKind, owner: string) =>
      kind === 'escrow' ? escrowAccount(`esc_${owner}`, owner) : accountOf(kind, owner)
    const owner = fc.constantFrom(...owners)
    const amount = fc.oneof(
      fc.integer({ min: 1, max: 1_000 }),
      fc.integer({ min: Number.MAX_SAFE_INTEGER - 1_000, max: Number.MAX_SAFE_INTEGER }),
      fc.maxSafeNat().filter((micros) => micros > 0),
    )
    const route = fc.constantFrom<[from: AccountKind, to: AccountKind, floor: number | null][]>(
      ['deposits', 'caller', null],
      ['caller', 'escrow', 0],
      // With a credit limit of a million dollars.
      ['caller', 'escrow', -1_000_000_000_000],
      ['escrow', 'caller', 0],
      ['caller', 'held', 0],
      ['held', 'caller', 0],
      ['escrow', 'settling', 0],
      ['settling', 'deposits', 0],
    )
    const moves = fc.array(fc.tuple(owner, owner, route, amount), { minLength: 20, maxLength: 30 })
    const refusals = new Set<string>()
    let made = 0
    await fc.assert(
      fc.asyncProperty(moves, async (chosen) => {
        for (const [from, to, [out, into, floor], micros] of chosen) {
          const entries = [
            { account: ref(out, from), micros: -micros, floor },
            { account: ref(into, to), micros },
          ]
          await store
            .write((trx) => post(trx, { key: `m${made++}`, kind: 'lock', entries, at: AT }))
            .catch((error: GazewayError) => refusals.add(`${error.status} ${error.code}`))
        }
        assert.deepEqual((await verifyLedger(store)).faults, [])
        const accounts = await store.db.selectFrom('ledger_accounts').select('balance_micros').execute()
        assert.equal(
          accounts.reduce((sum, { balance_micros }) => sum + BigInt(balance_micros), 0n),
          0n,
        )
      }),
      { numRuns: 5, endOnFailure: true, seed: 1 },
    )
    assert.deepEqual([...refusals].sort(), ['402 insufficient_credit', '409 balance_too_large'])
  })

  it('lets exactly one of two spenders win when only one can be paid for', async (t) => {
    const store = await open(t)
    const owner = newAddress()
    await store.write((trx) => post(trx, deposit(owner, 100, 'd')))
    const spend = (key: string) =>
      store.write((trx) =>
        post(trx, {
          key,
          kind: 'lock',
          entries: [
            { account: accountOf('caller', owner), micros: -60 },
            { account: accountOf('held', owner), micros: 60 },
          ],
          at: AT,
        }),
      )
    const outcomes = await Promise.allSettled([spend('one'), spend('two')])
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    assert.equal(await balanceOf(store, `caller:${owner}`), 40)
  })

  it('moves money around a circle of callers at once without anyone waiting for good', async (t) => {
    const store = await open(t)
    const owners = [newAddress(), newAddress(), newAddress()]
    const give = (from: string, to: string, key: string) =>
      store.write((trx) =>
        post(trx, {
          key,
          kind: 'release',
          entries: [
            { account: accountOf('caller', from), micros: -1, floor: null },
            { account: accountOf('caller', to), micros: 1 },
          ],
          at: AT,
        }),
      )
    await Promise.all(
      Array.from({ length: 120 }, (_, i) =>
        give(owners[i % 3] as string, owners[(i + 1 + (i % 2)) % 3] as string, `circle ${i}`),
      ),
    )
    const { transfers, balances, faults } = await verifyLedger(store)
    assert.deepEqual({ transfers, caller: balances.caller, faults }, { transfers: 120, caller: 0, faults: [] })
  })

  const tampering: Record<string, (store: Store) => Promise<unknown>> = {
    'an amount was changed': ({ db }) =>
      db.updateTable('ledger_transfers').set({ memo: 'other' }).where('key', '=', 'd1').execute(),
    'a transfer was removed': ({ db }) => db.deleteFrom('ledger_transfers').where('key', '=', 'd1').execute(),
    'the last transfer was removed': ({ db }) => db.deleteFrom('ledger_transfers').where('key', '=', 'd2').execute(),
    'a balance was changed': ({ db }) =>
      db
        .updateTable('ledger_accounts')
        .set({ balance_micros: sql`balance_micros + 1` })
        .where('kind', '=', 'caller')
        .execute(),
    'an account was removed': ({ db }) => db.deleteFrom('ledger_accounts').where('kind', '=', 'caller').execute(),
    'a transfer was added': ({ db }) =>
      db
        .insertInto('ledger_transfers')
        .values({
          key: 'x',
          chain: 'caller:x',
          position: 1,
          kind: 'deposit',
          entries: '[]',
          memo: null,
          at: AT,
          hash: '',
        })
        .execute(),
  }
  for (const [what, tamper] of Object.entries(tampering))
    it(`sees that ${what}`, async (t) => {
      const store = await open(t)
      const owner = newAddress()
      for (const key of ['d0', 'd1', 'd2']) await store.write((trx) => post(trx, deposit(owner, 10, key)))
      const before = await verifyLedger(store)
      assert.deepEqual(before.faults, [])
      await tamper(store)
      assert.notDeepEqual((await verifyLedger(store)).faults, [])
    })
}
