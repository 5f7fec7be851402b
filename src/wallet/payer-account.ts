import type { Store } from '../store/store.ts'

/**
 * The caller whose ledger account a wallet's money belongs to, whether it pays or is paid: the oldest key in force that it
 * is bound to, else the wallet itself.
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
