import type { LedgerAccountRow } from '../../store/tables/wallet-tables.ts'
import type { Micros } from '../../text/money.ts'
import type { AccountRef } from './accounts.ts'
import type { Entry } from './transfer.ts'

/**
 * Deposited part of a balance, the only part that may be paid out. Debt reduces it: after a deposit of 5 USD, with 5
 * USD drawn on credit, nothing can be paid out.
 */
export const depositedIn = ({
  deposited_micros,
  balance_micros,
}: Pick<LedgerAccountRow, 'deposited_micros' | 'balance_micros'>): Micros =>
  Math.max(0, Math.min(deposited_micros, balance_micros))

/**
 * Computes the deposited part of each entry. The parts sum to zero, as the entries do. Deposits leave an account first.
 * They arrive at the last account by name first, so that a call's cost and margin receive them before the rest of its
 * reservation.
 *
 * @param entries sorted by account
 * @param accounts the accounts of the entries, locked until the transaction ends
 */
export function withDeposited(entries: readonly NewEntry[], accounts: readonly LedgerAccountRow[]): Entry[] {
  const leaving = entries.map(({ micros, deposited }, i) => {
    if (micros > 0) return 0
    return deposited === undefined ? Math.min(-micros, depositedIn(accounts[i] as LedgerAccountRow)) : -deposited
  })
  let left = leaving.reduce((sum, part) => sum + part, 0)
  const arriving = entries.map(() => 0)
  for (let i = entries.length - 1; i >= 0; i--) {
    const part = Math.min(left, Math.max(0, entries[i]?.micros ?? 0))
    arriving[i] = part
    left -= part
  }
  return entries.map(({ account, micros }, i) => {
    const deposited = (arriving[i] ?? 0) - (leaving[i] ?? 0)
    return { account: account.id, micros, ...(deposited !== 0 && { deposited }) }
  })
}

/** An amount to move into (positive) or out of (negative) an account. */
export interface NewEntry {
  account: AccountRef
  micros: Micros
  /** Lowest allowed balance: 0 by default, negative for a caller with credit, null for no limit. */
  floor?: Micros | null
  /**
   * Deposited part of money that leaves, with the sign of `micros`. The account must have it, unless it has no floor.
   * By default deposits leave first.
   */
  deposited?: Micros
}
