import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Store } from '../../store/store.ts'
import type { LedgerAccountRow } from '../../store/tables/wallet-tables.ts'

/** Accounts per page. */
const PAGE = 5_000

/** SHA-256 over the heads of all chains, in the order of their accounts. It changes with every transfer. */
export function headOf(accounts: Iterable<Pick<LedgerAccountRow, 'id' | 'head'>>): string {
  const hash = createHash('sha256')
  for (const { id, head } of accounts) hash.update(`${id} ${head}\n`)
  return hash.digest('hex')
}

/** Computes the current head of the ledger. Reads each account once and no transfer. */
export function readLedgerHead(store: Store): Promise<string> {
  return store.snapshot(async (trx) => {
    const accounts: Pick<LedgerAccountRow, 'id' | 'head'>[] = []
    for (;;) {
      const page = await trx
        .selectFrom('ledger_accounts')
        .select(['id', 'head'])
        .where('id', '>', accounts.at(-1)?.id ?? '')
        .orderBy('id')
        .limit(PAGE)
        .execute()
      accounts.push(...page)
      if (page.length < PAGE) return headOf(accounts)
      // SQLite runs in this process without yielding: let other work run between pages.
      await turn()
    }
  })
}
