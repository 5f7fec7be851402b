import type { Store } from '../store/store.ts'

/**
 * Finds the caller whose ledger account holds a wallet's money: the oldest key bound to the wallet that is not
 * revoked, or the wallet itself when there is none.
 *
 * @param wallet an address in lower case
 */
export async function payerAccount({ db }: Pick<Store, 'db'>, wallet: string): Promise<string> {
  const key = await db
    .selectFrom('keys')
    .select('id')
    .where('wallet', '=', wallet)
    .where('revoked_at', 'is', null)
    .orderBy('id')
    .executeTakeFirst()
  return key?.id ?? wallet
}
