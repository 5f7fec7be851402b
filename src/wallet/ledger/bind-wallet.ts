import { sql, type Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { KeyRow } from '../../store/tables/keys-tables.ts'
import type { LedgerAccountRow } from '../../store/tables/wallet-tables.ts'
import { accountOf, lockAccounts } from './accounts.ts'
import { depositedIn } from './deposited-part.ts'
import { post } from './ledger.ts'
import { payerAccount } from './payer-account.ts'

/**
 * Finds the {@link payerAccount} for a transaction that pays, and locks the wallet. If a key is bound to the wallet
 * meanwhile, that transaction waits for this one and then moves the payment to the key. Call it before locking other
 * accounts: a wallet's own account sorts first.
 *
 * @param wallet an address in lower case
 */
export async function lockedPayerAccount(trx: Transaction<Schema>, wallet: string): Promise<string> {
  await lockAccounts(trx, [accountOf('caller', wallet)])
  return payerAccount({ db: trx }, wallet)
}

/**
 * Moves money to the {@link payerAccount} of a wallet after a key was created for it. This is the balance of the
 * wallet's own account, and the later income of the wallet's revoked keys. Money that was paid in, earned or given back
 * is then usable with the key.
 */
export async function bindWallet(
  trx: Transaction<Schema>,
  { wallet, created_at: at }: Pick<KeyRow, 'created_at'> & { wallet: string },
): Promise<void> {
  await lockAccounts(trx, [accountOf('caller', wallet)])
  await gather(trx, [wallet, ...(await revokedWithMoney(trx, wallet))], { wallet, at })
}

/**
 * Moves the balance of a key to the caller that {@link payerAccount} now finds for its wallet, in the transaction that
 * revokes the key. A debt stays with the key.
 */
export async function unbindWallet(
  trx: Transaction<Schema>,
  { id, wallet, at }: Pick<KeyRow, 'id'> & { wallet: string; at: string },
): Promise<void> {
  await lockAccounts(trx, [accountOf('caller', wallet)])
  await gather(trx, [id], { wallet, at })
}

async function revokedWithMoney(trx: Transaction<Schema>, wallet: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('keys')
    .innerJoin('ledger_accounts', (join) => join.on('ledger_accounts.id', '=', sql<string>`'caller:' || keys.id`))
    .select('keys.id')
    .where('keys.wallet', '=', wallet)
    .where('keys.revoked_at', 'is not', null)
    .where('ledger_accounts.balance_micros', '>', 0)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Moves the balances of callers to the one that owns the wallet's money. Requires the lock on the wallet's own account.
 */
async function gather(
  trx: Transaction<Schema>,
  callers: readonly string[],
  { wallet, at }: { wallet: string; at: string },
): Promise<void> {
  const having = await trx
    .selectFrom('ledger_accounts')
    .select('owner')
    .where(
      'id',
      'in',
      callers.map((id) => accountOf('caller', id).id),
    )
    .where('balance_micros', '>', 0)
    .execute()
  if (having.length === 0) return
  const owner = await payerAccount({ db: trx }, wallet)
  const owners = [...having.map((account) => account.owner), owner]
  const accounts = owners.flatMap((id) => [accountOf('caller', id), accountOf('deposits', id)])
  const locked = await lockAccounts(
    trx,
    accounts.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
  )
  for (const from of locked)
    if (from.kind === 'caller' && from.owner !== owner && from.balance_micros > 0) await move(trx, from, { owner, at })
}

/** Posts two transfers, so that each account's chain and statement shows the move. */
async function move(
  trx: Transaction<Schema>,
  account: LedgerAccountRow,
  { owner, at }: { owner: string; at: string },
): Promise<void> {
  const { owner: from, balance_micros: micros, transfers } = account
  const out = [
    { account: accountOf('caller', from), micros: -micros },
    { account: accountOf('deposits', from), micros },
  ]
  const into = [
    { account: accountOf('deposits', owner), micros: -micros, floor: null, deposited: -depositedIn(account) },
    { account: accountOf('caller', owner), micros },
  ]
  // The transfer's key follows from the state, so concurrent moves of one balance happen once.
  const key = `bind:${from}:${transfers + 1}`
  await post(trx, { key: `${key}:out`, kind: 'bind', entries: out, at })
  await post(trx, { key: `${key}:in`, kind: 'bind', entries: into, at })
}
