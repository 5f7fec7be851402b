import type * as z from 'zod'
import type { AlertRow, BudgetRow, KeyRow } from '../store/tables/keys-tables.ts'
import type { SessionLimitsRow } from '../store/tables/session-limits-tables.ts'
import { type Micros, toMicros, toUsd } from '../text/money.ts'
import { toAlertRecords } from './alert-thresholds.ts'
import { toBudgetRecords } from './budgets.ts'
import { TERM_COLUMNS } from './checked-keys.ts'
import { type KeyChange, type KeyRecord, modelsOf, type NewKey, Scope, scopesOf } from './key.ts'
import { toSessionLimits } from './session-limits.ts'
import { type Spent, toDebt, toPresumed, toSpend } from './spend.ts'

/** Columns of `keys` in a record. */
export const KEY_COLUMNS = [...TERM_COLUMNS, 'created_at', 'last_used_at', 'rotated_at'] as const
/** Row of a key for its record. */
export type ShownRow = Pick<KeyRow, (typeof KEY_COLUMNS)[number]>

/** Values of a new key that are not in its input. */
interface NewRow {
  id: string
  hash: Buffer
  groupId: string | null
  billing: KeyRow['billing']
  createdAt: string
}

/** Builds the row of a new key. */
export function toRow(key: z.output<typeof NewKey>, of: NewRow): KeyRow {
  return {
    id: of.id,
    name: key.name,
    hash: of.hash.toString('hex'),
    scopes: JSON.stringify(Scope.options.filter((scope) => key.scopes.includes(scope))),
    group_id: of.groupId,
    wallet: key.wallet,
    billing: of.billing,
    credit_limit_micros: null,
    requests_per_minute: null,
    tokens_per_minute: null,
    concurrent: null,
    ...limitColumns(key.limits),
    models: key.models === null ? null : JSON.stringify(key.models),
    lenient: Number(key.lenient),
    cache: key.cache,
    first: null,
    created_at: of.createdAt,
    expires_at: key.expires_at,
    last_used_at: null,
    rotated_at: null,
    previous_hash: null,
    previous_until: null,
    revoked_at: null,
  }
}

/** Builds the columns that a change names. */
export function toChangedColumns(change: z.output<typeof KeyChange>) {
  const { name, billing, limits, models, lenient, cache, expires_at } = change
  return {
    ...(name !== undefined && { name }),
    ...(billing !== undefined && { billing }),
    ...limitColumns(limits ?? {}),
    ...(models !== undefined && { models: models === null ? null : JSON.stringify(models) }),
    ...(lenient !== undefined && { lenient: Number(lenient) }),
    ...(cache !== undefined && { cache }),
    ...(expires_at !== undefined && { expires_at }),
  }
}

/** Budgets, alerts and limits of the sessions of a key, stored in their own rows. */
export interface KeyTerms {
  budgets: readonly BudgetRow[]
  alerts: readonly AlertRow[]
  sessions: SessionLimitsRow | undefined
}

/** Builds the record of a stored key. */
export function toRecord(row: ShownRow, { budgets, alerts, sessions }: KeyTerms, spent: Spent | undefined): KeyRecord {
  return {
    id: row.id,
    name: row.name,
    scopes: scopesOf(row),
    group: row.group_id,
    wallet: row.wallet,
    billing: row.billing,
    limits: {
      credit_limit_usd: row.credit_limit_micros === null ? null : toUsd(row.credit_limit_micros),
      budgets: toBudgetRecords(budgets),
      requests_per_minute: row.requests_per_minute,
      tokens_per_minute: row.tokens_per_minute,
      concurrent: row.concurrent,
      ...toSessionLimits(sessions),
    },
    alerts: toAlertRecords(alerts),
    models: modelsOf(row),
    lenient: row.lenient === 1,
    cache: row.cache,
    expires_at: row.expires_at,
    created_at: row.created_at,
    last_used_at: row.last_used_at,
    rotated_at: row.rotated_at,
    revoked_at: row.revoked_at,
    spend: toSpend(spent),
    debt_usd: toDebt(spent),
    presumed_usd: toPresumed(spent),
  }
}

/** Builds the columns of the given limits; budgets have their own rows. */
function limitColumns({ credit_limit_usd: credit, ...limits }: NonNullable<z.output<typeof KeyChange>['limits']>) {
  const { requests_per_minute, tokens_per_minute, concurrent } = limits
  return {
    ...(credit !== undefined && { credit_limit_micros: credit === null ? null : (toMicros(credit) as Micros) }),
    ...(requests_per_minute !== undefined && { requests_per_minute }),
    ...(tokens_per_minute !== undefined && { tokens_per_minute }),
    ...(concurrent !== undefined && { concurrent }),
  }
}
