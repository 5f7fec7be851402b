import type { CallTables } from './tables/calls.ts'
import type { GazeTables } from './tables/gaze.ts'
import type { IdempotencyTables } from './tables/idempotency.ts'
import type { KeyTables } from './tables/keys.ts'
import type { MemoryTables } from './tables/memory.ts'
import type { PaymentTables } from './tables/payments.ts'
import type { SweepTables } from './tables/sweeps.ts'
import type { WalletTables } from './tables/wallet.ts'

/** Every table of the store, as the services see it (the same on both engines). */
export interface Schema
  extends CallTables,
    MemoryTables,
    GazeTables,
    KeyTables,
    IdempotencyTables,
    PaymentTables,
    SweepTables,
    WalletTables {}

/** The tables that hold records, with the columns of their primary keys: what moving to another engine copies. */
export const RECORD_TABLES = {
  memories: ['seq'],
  memory_tags: ['seq', 'tag'],
  memory_totals: ['namespace', 'shard'],
  calls: ['call_id'],
  call_rollups: ['hour', 'model', 'caller_id', 'path', 'status', 'latency_bucket'],
  call_totals: ['model', 'caller_id', 'path', 'status'],
  gaze_sessions: ['session_id'],
  gaze_records: ['id'],
  gaze_prints: ['hash'],
  gaze_dwell: ['hour', 'path', 'line_start', 'line_end'],
  attestations: ['id'],
  keys: ['id'],
  idempotency_keys: ['scope', 'key'],
  ledger_accounts: ['id'],
  ledger_transfers: ['chain', 'position'],
  metered_calls: ['call_id'],
  metered_usage: ['caller_id', 'day', 'model'],
  daily_spending: ['caller_id', 'day'],
  payments: ['id'],
} as const satisfies { [Table in Exclude<keyof Schema, 'sweeps'>]: ReadonlyArray<keyof Schema[Table]> }

export type RecordTable = keyof typeof RECORD_TABLES
