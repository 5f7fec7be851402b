import type { Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { KeyRow } from '../store/tables/keys.ts'
import { accountOf, lockAccounts } from './accounts.ts'
import { post } from './ledger.ts'
import { payerAccount } from './payer-account.ts'

/**
 * As {@link payerAccount}, for a transaction that pays: a key that is bound to the wallet meanwhile waits for its end, and
 * then takes what was paid. To be called before other accounts are locked: a wallet's own sorts before them.
 *
 * @param wallet an address in lower case
 */
export async function lockedPayerAccount(trx: Transaction<Schema>, wallet: string): Promise<string> {
  await lockAccounts(trx, [accountOf('caller', wallet)])
  return payerAccount({ db: trx }, wallet)
}

/**
 * Moves what a wallet's own account has to the caller that {@link payerAccount} finds, as part of the transaction that made
 * a key for the wallet: what was paid in or earned before is then within the key's reach.
 *
 * @param key a key with a wallet, inserted in this transaction
 */
export async function bindWallet(
  trx: Transaction<Schema>,
  { id, wallet, created_at: at }: Pick<KeyRow, 'id' | 'created_at'> & { wallet: string },
): Promise<void> {
  const own = accountOf('caller', wallet)
  const [account] = await lockAccounts(trx, [own])
  const micros = account?.balance_micros ?? 0
  if (micros <= 0) return
  const owner = await payerAccount({ db: trx }, wallet)
  const bound = accountOf('caller', owner)
  const [from, to] = [accountOf('deposits', wallet), accountOf('deposits', owner)]
  await lockAccounts(trx, [bound, from, to])
  // Two transfers: one is in one chain, and would be missing from the statement of the other account.
  const out = [
    { account: own, micros: -micros },
    { account: from, micros },
  ]
  const into = [
    { account: to, micros: -micros, floor: null },
    { account: bound, micros },
  ]
  await post(trx, { key: `bind:${id}:out`, kind: 'bind', entries: out, at })
  await post(trx, { key: `bind:${id}:in`, kind: 'bind', entries: into, at })
}
