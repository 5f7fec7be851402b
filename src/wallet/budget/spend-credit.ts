import type { Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'
import { accountOf } from '../ledger/accounts.ts'
import { lockedPayerAccount } from '../ledger/bind-wallet.ts'
import { post } from '../ledger/ledger.ts'
import type { Entry } from '../ledger/transfer.ts'

/** A payment out of a wallet's ledger balance. */
export interface Spending {
  /** An address in lower case. */
  wallet: string
  micros: Micros
  /** Idempotency key. */
  reference: string
  at: Date
}

/** Balance of a wallet's own account in micro-dollars. */
export async function creditOf({ db }: Store, wallet: string): Promise<Micros> {
  const { id } = accountOf('caller', wallet)
  const account = await db
    .selectFrom('ledger_accounts')
    .select('balance_micros')
    .where('id', '=', id)
    .executeTakeFirst()
  return account?.balance_micros ?? 0
}

/**
 * Takes an amount out of a wallet's own account, which has no credit.
 *
 * @throws GazewayError `insufficient_credit`; the transaction must then be rolled back
 */
export async function spendCredit(
  trx: Transaction<Schema>,
  { wallet, micros, reference, at }: Spending,
): Promise<void> {
  await post(trx, {
    key: purchaseOf(reference),
    kind: 'purchase',
    entries: [
      { account: accountOf('caller', wallet), micros: -micros },
      { account: accountOf('revenue', wallet), micros },
    ],
    at: at.toISOString(),
  })
}

/** Returns a payment to the current owner of the wallet's money, with the same deposited part. */
export async function returnCredit(
  trx: Transaction<Schema>,
  { wallet, micros, reference, at }: Spending,
): Promise<void> {
  const owner = await lockedPayerAccount(trx, wallet)
  const deposited = await depositedOf(trx, reference)
  await post(trx, {
    key: `return:${reference}`,
    kind: 'return',
    entries: [
      { account: accountOf('caller', owner), micros },
      { account: accountOf('revenue', wallet), micros: -micros, deposited: -deposited },
    ],
    at: at.toISOString(),
  })
}

const purchaseOf = (reference: string): string => `purchase:${reference}`

async function depositedOf(trx: Transaction<Schema>, reference: string): Promise<Micros> {
  const { entries } = await trx
    .selectFrom('ledger_transfers')
    .select('entries')
    .where('key', '=', purchaseOf(reference))
    .executeTakeFirstOrThrow()
  return (JSON.parse(entries) as Entry[]).reduce((sum, { deposited = 0 }) => sum + Math.max(0, deposited), 0)
}
