import { type Kysely, sql } from 'kysely'
import type { Schema } from './schema.ts'

/** A figure that must be equal in a store and its copy, beside the number of rows. */
export interface CopyCheck {
  name: string
  figure(db: Kysely<Schema>): Promise<number>
}

/** Figures compared before a copy is kept. */
export const COPY_CHECKS: readonly CopyCheck[] = [
  { name: 'bytes of memories', figure: (db) => sum(db, 'memories', 'bytes') },
  { name: 'calls in the totals', figure: (db) => sum(db, 'call_totals', 'calls') },
  { name: 'calls of the newest hours', figure: (db) => sum(db, 'call_rollups', 'calls') },
  { name: 'calls in the sums of hours and days', figure: (db) => sum(db, 'call_sums', 'calls') },
  {
    name: 'micro-dollars of upstream cost in the newest hours',
    figure: (db) => sum(db, 'call_rollups', 'upstream_cost_micros'),
  },
  { name: 'micro-dollars of upstream cost', figure: (db) => sum(db, 'call_sums', 'upstream_cost_micros') },
  { name: 'milliseconds of attention', figure: (db) => sum(db, 'gaze_dwell', 'dwell_ms') },
  { name: "micro-dollars in the ledger's accounts", figure: (db) => sum(db, 'ledger_accounts', 'balance_micros') },
  { name: 'micro-dollars of deposits left to callers', figure: (db) => balance(db, 'caller', 'deposited_micros') },
  { name: 'micro-dollars left to callers', figure: (db) => balance(db, 'caller') },
  { name: 'micro-dollars of deposits', figure: (db) => balance(db, 'deposits') },
  { name: 'micro-dollars of revenue', figure: (db) => balance(db, 'revenue') },
  { name: 'micro-dollars in escrow', figure: (db) => balance(db, 'escrow') },
  { name: 'micro-dollars of rewards', figure: (db) => sum(db, 'tasks', 'reward_micros') },
  { name: 'micro-dollars of settlements', figure: (db) => sum(db, 'settlements', 'micros') },
]

async function sum(db: Kysely<Schema>, table: keyof Schema, column: string): Promise<number> {
  const { rows } = await sql<{
    sum: number | null
  }>`select sum(${sql.ref(column)}) as sum from ${sql.table(table)}`.execute(db)
  return rows[0]?.sum ?? 0
}

async function balance(db: Kysely<Schema>, kind: string, column = 'balance_micros'): Promise<number> {
  const { rows } = await sql<{
    sum: number | null
  }>`select sum(${sql.ref(column)}) as sum from ledger_accounts where kind = ${kind}`.execute(db)
  return rows[0]?.sum ?? 0
}
