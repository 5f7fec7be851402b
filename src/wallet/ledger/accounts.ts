import type { Transaction } from 'kysely'
import { LRUCache } from 'lru-cache'
import { runBuilt } from '../../store/prepared-sql.ts'
import type { Schema } from '../../store/schema.ts'
import type { LedgerAccountRow } from '../../store/tables/wallet-tables.ts'
import { FIRST_HEAD } from './transfer.ts'

/**
 * Kind of a ledger account:
 * - `deposits`: the source of all money
 * - `caller`: money a caller can spend
 * - `held`: reserved while a call runs
 * - `escrow`: locked until a task is done
 * - `upstream_cost`, `revenue`: where spent money ends
 * - `settling`: waits for payment on a chain, then returns to `deposits`
 */
export type AccountKind = 'caller' | 'held' | 'revenue' | 'upstream_cost' | 'deposits' | 'escrow' | 'settling'

/** Name of an account, which need not exist yet. */
export interface AccountRef {
  /** Accounts are locked in the order of their ids. */
  id: string
  kind: AccountKind
  /** The caller whose money it is. */
  owner: string
}

/**
 * Names the one account of a kind that each caller has. Revenue, cost and deposits are kept by caller too, so that
 * calls of different callers never wait for each other. The total is the sum over a kind.
 *
 * @example accountOf('held', 'key_0199…') // { id: 'held:key_0199…', kind: 'held', owner: 'key_0199…' }
 */
export function accountOf(kind: Exclude<AccountKind, 'escrow'>, owner: string): AccountRef {
  return { id: `${kind}:${owner}`, kind, owner }
}

/** Names the account of one escrow. Its money counts as the payer's. */
export function escrowAccount(escrowId: string, payer: string): AccountRef {
  return { id: `escrow:${escrowId}`, kind: 'escrow', owner: payer }
}

/** Accounts known to exist, by open store. Accounts are never deleted. */
const seen = new WeakMap<object, LRUCache<string, true>>()
const SEEN = 100_000

/**
 * Locks accounts until the transaction ends, and creates the missing ones. All are created before any is locked, and
 * they are locked in the order of their ids. So transactions cannot deadlock.
 *
 * @param accounts sorted by id
 * @returns their rows, in the same order
 */
export async function lockAccounts(
  trx: Transaction<Schema>,
  accounts: readonly AccountRef[],
): Promise<LedgerAccountRow[]> {
  const known = seenIn(trx)
  const ids = accounts.map((account) => account.id)
  if (!ids.every((id) => known.has(id)) && (await make(trx, accounts)) === 0n) for (const id of ids) known.set(id, true)
  const locked = await lock(trx, ids)
  if (locked.length === ids.length) return locked
  // The transaction that created them was rolled back.
  for (const id of ids) known.delete(id)
  return lockAccounts(trx, accounts)
}

function seenIn(trx: Transaction<Schema>): LRUCache<string, true> {
  const { adapter } = trx.getExecutor()
  const known = seen.get(adapter) ?? new LRUCache({ max: SEEN })
  seen.set(adapter, known)
  return known
}

/** @returns how many accounts were created; with none, all exist permanently */
async function make(trx: Transaction<Schema>, accounts: readonly AccountRef[]): Promise<bigint> {
  const rows = accounts.map((account) => ({
    ...account,
    balance_micros: 0,
    deposited_micros: 0,
    transfers: 0,
    head: FIRST_HEAD,
  }))
  const { numInsertedOrUpdatedRows = 0n } = await trx
    .insertInto('ledger_accounts')
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows
}

async function lock(trx: Transaction<Schema>, ids: readonly string[]): Promise<LedgerAccountRow[]> {
  const { rows } = await runBuilt(trx, `lock ${ids.length}`, ids, () =>
    trx.selectFrom('ledger_accounts').selectAll().where('id', 'in', ids).orderBy('id').forUpdate().compile(),
  )
  return rows
}
