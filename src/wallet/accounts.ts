import type { Transaction } from 'kysely'
import { runBuilt } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { LedgerAccountRow } from '../store/tables/wallet.ts'
import { FIRST_HEAD } from './transfer.ts'

/**
 * What an account is for. Money comes from `deposits`, is spent from `caller`, waits in `held` while a call is made or
 * in `escrow` while a task is done, and ends as `upstream_cost` and `revenue`.
 */
export type AccountKind = 'caller' | 'held' | 'revenue' | 'upstream_cost' | 'deposits' | 'escrow'

/** An account by name; it need not exist yet. */
export interface AccountRef {
  /** Sorts after those that are locked before it. */
  id: string
  kind: AccountKind
  /** Whose money it tells of: the caller's id. */
  owner: string
}

/**
 * The account of one kind that each caller has. Revenue, cost and deposits too are kept by caller, so that calls of
 * different callers never wait for one another; the whole is the sum over a kind.
 *
 * @example accountOf('held', 'key_0199…') // held:key_0199…
 */
export function accountOf(kind: Exclude<AccountKind, 'escrow'>, owner: string): AccountRef {
  return { id: `${kind}:${owner}`, kind, owner }
}

/** The account of one escrow; what is in it counts as its payer's. */
export function escrowAccount(escrowId: string, payer: string): AccountRef {
  return { id: `escrow:${escrowId}`, kind: 'escrow', owner: payer }
}

/**
 * The rows of accounts, locked until the transaction ends; those that do not exist yet are made. Locked in the order of
 * their ids, so that no two transactions wait for each other.
 *
 * @returns in the order of `accounts`, which must be sorted by id
 */
export async function lockAccounts(
  trx: Transaction<Schema>,
  accounts: readonly AccountRef[],
): Promise<LedgerAccountRow[]> {
  const ids = accounts.map((account) => account.id)
  const locked = await lock(trx, ids)
  if (locked.length === ids.length) return locked
  await trx
    .insertInto('ledger_accounts')
    .values(
      accounts.map(({ id, kind, owner }) => ({ id, kind, owner, balance_micros: 0, transfers: 0, head: FIRST_HEAD })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return lock(trx, ids)
}

async function lock(trx: Transaction<Schema>, ids: readonly string[]): Promise<LedgerAccountRow[]> {
  const { rows } = await runBuilt(trx, `lock ${ids.length}`, ids, () =>
    trx.selectFrom('ledger_accounts').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().compile(),
  )
  return rows
}
