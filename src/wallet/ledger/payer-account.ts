import type { Store } from '../../store/store.ts'

/**
 * Finds the caller whose ledger account holds a wallet's money. It is the oldest unrevoked key that is bound to the
 * wallet, or the wallet itself.
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
