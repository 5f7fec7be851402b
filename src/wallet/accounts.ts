import type { Transaction } from 'kysely'
import { LRUCache } from 'lru-cache'
import { runBuilt } from '../store/built.ts'
import type { Schema } from '../store/schema.ts'
import type { LedgerAccountRow } from '../store/tables/wallet-tables.ts'
import { FIRST_HEAD } from './transfer.ts'

/**
 * What an account is for. Money comes from `deposits`, is spent from `caller`, waits in `held` while a call is made or
 * in `escrow` while a task is done, and ends as `upstream_cost` and `revenue`. What is to be paid on a chain waits in
 * `settling`, and goes back to `deposits` once it is.
 */
export type AccountKind = 'caller' | 'held' | 'revenue' | 'upstream_cost' | 'deposits' | 'escrow' | 'settling'

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

/** Accounts that are known to exist, for each open store: an account is never removed. */
const seen = new WeakMap<object, LRUCache<string, true>>()
const SEEN = 100_000

/**
 * The rows of accounts, locked until the transaction ends; those that do not exist yet are made. Locked in the order of
 * their ids, and made before any is locked, so that no two transactions wait for each other.
 *
 * @returns in the order of `accounts`, which must be sorted by id
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
  // They were known from a transaction that was then given up.
  for (const id of ids) known.delete(id)
  return lockAccounts(trx, accounts)
}

function seenIn(trx: Transaction<Schema>): LRUCache<string, true> {
  const { adapter } = trx.getExecutor()
  const known = seen.get(adapter) ?? new LRUCache({ max: SEEN })
  seen.set(adapter, known)
  return known
}

/** @returns how many there were not; none says that all are there for good */
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
