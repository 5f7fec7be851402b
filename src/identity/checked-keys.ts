import { type Kysely, sql } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { BudgetRow, KeyRow } from '../store/tables/keys-tables.ts'
import type { SessionLimitsRow } from '../store/tables/session-limits-tables.ts'

/** Columns of what holds for a key. */
export const TERM_COLUMNS = [
  'id',
  'name',
  'scopes',
  'group_id',
  'wallet',
  'billing',
  'credit_limit_micros',
  'requests_per_minute',
  'tokens_per_minute',
  'concurrent',
  'models',
  'lenient',
  'cache',
  'expires_at',
  'revoked_at',
] as const

/** Columns that authentication needs. */
const CHECKED_COLUMNS = [...TERM_COLUMNS, 'hash', 'previous_hash', 'previous_until'] as const

/** Row of a key for authentication, with its budgets, the limits of its sessions, and those of its group. */
export interface CheckedRow extends Pick<KeyRow, (typeof CHECKED_COLUMNS)[number]> {
  budgets: BudgetRow[]
  sessions: Omit<SessionLimitsRow, 'owner'>[]
}

/** Columns of the limits of sessions. */
const LIMITS = ['micros', 'calls', 'minutes', 'repeat_times', 'repeat_minutes'] as const

/**
 * Reads a key by id, or the unrevoked keys of a wallet (in lower case), newest first. One statement reads keys,
 * budgets and limits, so that they are consistent.
 */
export async function readCheckedKeys(
  db: Kysely<Schema>,
  of: { id: string } | { wallet: string },
): Promise<CheckedRow[]> {
  const query = db
    .selectFrom('keys')
    .leftJoin('budgets', (join) => join.on(sql<boolean>`budgets.owner in (keys.id, keys.group_id)`))
    .leftJoin('session_limits as own', 'own.owner', 'keys.id')
    .leftJoin('session_limits as of_group', 'of_group.owner', 'keys.group_id')
    .select(CHECKED_COLUMNS.map((column) => `keys.${column}` as const))
    .select(['budgets.owner', 'budgets.per', 'budgets.micros'])
    .select(LIMITS.map((column) => `own.${column} as own_${column}` as const))
    .select(LIMITS.map((column) => `of_group.${column} as group_${column}` as const))
    .orderBy('keys.id', 'desc')
  const found =
    'id' in of
      ? query.where('keys.id', '=', of.id)
      : query.where('keys.wallet', '=', of.wallet).where('keys.revoked_at', 'is', null)
  const keys = new Map<string, CheckedRow>()
  for (const { owner, per, micros, ...row } of await found.execute()) {
    const limitsOf = (whose: 'own' | 'group') => ({
      micros: row[`${whose}_micros`],
      calls: row[`${whose}_calls`],
      minutes: row[`${whose}_minutes`],
      repeat_times: row[`${whose}_repeat_times`],
      repeat_minutes: row[`${whose}_repeat_minutes`],
    })
    const key = keys.get(row.id) ?? { ...row, budgets: [], sessions: [limitsOf('own'), limitsOf('group')] }
    keys.set(row.id, key)
    if (owner !== null && per !== null && micros !== null) key.budgets.push({ owner, per, micros })
  }
  return [...keys.values()]
}
