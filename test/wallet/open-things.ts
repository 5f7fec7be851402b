import type { Store } from '../../src/store/store.ts'
import { storeReceipts } from '../../src/wallet/receipts/store-receipts.ts'
import { receiptOf } from './setup.ts'

/** Opens something at a moment. @returns what settles it */
type Opening = (store: Store, caller: string, at: string) => Promise<() => Promise<unknown>>

/** Things that keep a month in the store, a part of the reason, and what opens one. */
export const OPEN_THINGS: ReadonlyArray<readonly [what: string, reason: string, opened: Opening]> = [
  ...(
    [
      ['a reward that is locked', { status: 'locked', settlement_mode: 'ledger' }],
      ['a reward that expired and is not refunded', { status: 'expired', settlement_mode: 'ledger' }],
      ['a reward that a chain has yet to pay', { status: 'released', settlement_mode: 'chain' }],
    ] as const
  ).map(([what, of]): (typeof OPEN_THINGS)[number] => [
    what,
    'rewards that are locked, or not paid: 1',
    async (store, payer, at) => {
      const none = { recipient: null, counted_group: null, attestation_id: null, reason: null }
      const times = { counted_on: at.slice(0, 10), created_at: at, expires_at: at }
      const ends = { released_at: null, settled_at: null, refunded_at: null }
      await store.db
        .insertInto('escrows')
        .values({
          id: `esc_${of.status}`,
          task_id: `task_${of.status}`,
          amount_micros: 1,
          token: 't',
          payer,
          ...of,
          ...none,
          ...times,
          ...ends,
        })
        .execute()
      return () => store.db.updateTable('escrows').set({ status: 'settled' }).execute()
    },
  ]),
  [
    'a withdrawal that is not paid',
    'withdrawals that are not paid: 1',
    async (store, caller_id, created_at) => {
      const row = { id: 'wd_1', caller_id, recipient: caller_id, amount_micros: 1, token: 't', created_at }
      await store.db
        .insertInto('withdrawals')
        .values({ ...row, settled_at: null })
        .execute()
      return () => store.db.updateTable('withdrawals').set({ settled_at: created_at }).execute()
    },
  ],
  [
    'a settlement that no chain has confirmed',
    'settlements that no chain has confirmed: 1',
    async (store, recipient, at) => {
      const none = { nonce: null, tx_hash: null, block_number: null, error: null }
      const times = { next_at: at, created_at: at, updated_at: at }
      await store.db
        .insertInto('settlements')
        .values({
          id: 'esc_1',
          recipient,
          micros: 1,
          chain_id: 1,
          token: 't',
          status: 'pending',
          attempts: 0,
          ...none,
          ...times,
        })
        .execute()
      return () => store.db.updateTable('settlements').set({ status: 'confirmed' }).execute()
    },
  ],
  [
    'a payment that is unfinished',
    'payments that are unfinished: 1',
    async (store, payer, at) => {
      const of = { id: 'pay_1', method: 'evm', payer, account: payer, amount_micros: 1, scope: 's', proof: 'p' }
      await store.db
        .insertInto('payments')
        .values({
          ...of,
          reference: null,
          status: 'pending',
          lease_until: at,
          created_at: at,
          expires_at: at,
          account_named: 0,
        })
        .execute()
      return () => store.db.updateTable('payments').set({ lease_until: null }).execute()
    },
  ],
  [
    'a reservation that is open',
    'reservations that are open: 1',
    async (store, key_id, at) => {
      const of = { id: 'alw_1', holder: 'h', key_id, group_id: null, day: at.slice(0, 10), renewed_at: at }
      await store.db
        .insertInto('allowances')
        .values({ ...of, charged: 1, micros: 1, turn: 1, granted: 1, presumed_at: null, session: null })
        .execute()
      return () => store.db.deleteFrom('allowances').execute()
    },
  ],
  [
    'a key with a debt',
    'keys with a debt from it: 1',
    async (store, caller, at) => {
      const balance = (balance_micros: number) =>
        store.db.updateTable('ledger_accounts').set({ balance_micros }).where('id', '=', `caller:${caller}`).execute()
      const of = { call_id: 'call_of_debt', caller_id: caller, at, counted_on: at.slice(0, 10) }
      await store.write((trx) => storeReceipts(trx, [receiptOf({ ...of, debt_micros: 5 })], null))
      await balance(-5)
      return () => balance(0)
    },
  ],
]
