import type { AlertTables } from './tables/alerts-tables.ts'
import type { CallTables } from './tables/calls-tables.ts'
import type { CodingSessionTables } from './tables/coding-sessions-tables.ts'
import type { ConnectionTables } from './tables/connections-tables.ts'
import type { ConversationTables } from './tables/conversations-tables.ts'
import type { EscrowTables } from './tables/escrow-tables.ts'
import type { FactTables } from './tables/facts-tables.ts'
import type { ForgottenTables } from './tables/forgotten-tables.ts'
import type { GazeTables } from './tables/gaze-tables.ts'
import type { IdempotencyTables } from './tables/idempotency-tables.ts'
import type { KeyTables } from './tables/keys-tables.ts'
import type { MemoryTables } from './tables/memory-tables.ts'
import type { PaymentTables } from './tables/payments-tables.ts'
import type { ProjectTables } from './tables/projects-tables.ts'
import type { RateTables } from './tables/rates-tables.ts'
import type { ReasoningTables } from './tables/reasoning-tables.ts'
import type { ReconcileTables } from './tables/reconcile-tables.ts'
import type { ReviewTables } from './tables/reviews-tables.ts'
import type { SessionLimitTables } from './tables/session-limits-tables.ts'
import type { SessionTables } from './tables/sessions-tables.ts'
import type { SettingsTables } from './tables/settings-tables.ts'
import type { SettlementTables } from './tables/settlements-tables.ts'
import type { SweepTables } from './tables/sweeps-tables.ts'
import type { TaskTables } from './tables/tasks-tables.ts'
import type { WalletTables } from './tables/wallet-tables.ts'

/** Tables of the store, as services see them. The same on both engines. */
export interface Schema
  extends AlertTables,
    CallTables,
    CodingSessionTables,
    ConnectionTables,
    ConversationTables,
    FactTables,
    ForgottenTables,
    MemoryTables,
    GazeTables,
    KeyTables,
    IdempotencyTables,
    PaymentTables,
    RateTables,
    ReasoningTables,
    ReconcileTables,
    ProjectTables,
    ReviewTables,
    SettingsTables,
    SettlementTables,
    SessionLimitTables,
    SessionTables,
    SweepTables,
    TaskTables,
    EscrowTables,
    WalletTables {}

/** Tables with records, and their primary keys. Moving to another engine copies them. */
export const RECORD_TABLES = {
  memory_spaces: ['space'],
  memories: ['seq'],
  memory_versions: ['id', 'version'],
  memory_tags: ['seq', 'tag'],
  memory_vectors: ['place'],
  memory_totals: ['space', 'namespace', 'shard'],
  memory_words: ['space', 'word'],
  project_places: ['path'],
  calls: ['call_id'],
  call_rollups: ['hour', 'model', 'caller_id', 'path', 'status', 'latency_bucket'],
  call_sums: ['level', 'start', 'caller_id', 'model', 'path', 'status'],
  call_totals: ['model', 'caller_id', 'path', 'status'],
  upstream_objects: ['id', 'caller_id'],
  coding_sessions: ['number'],
  session_facts: ['caller_id', 'session_id', 'from_at'],
  session_commits: ['caller_id', 'session_id', 'sha'],
  call_tags: ['call_id', 'tag'],
  gaze_sessions: ['session_id'],
  gaze_packs: ['session_id', 'first_seq'],
  gaze_stretches: ['number'],
  gaze_prints: ['content'],
  gaze_traces: ['hash'],
  gaze_dwell: ['hour', 'path', 'line_start', 'line_end'],
  attestations: ['id'],
  attestation_uses: ['attestation_id'],
  settings: ['path'],
  keys: ['id'],
  budgets: ['owner', 'per'],
  alerts: ['owner', 'percent'],
  session_limits: ['owner'],
  session_states: ['caller_id', 'session_id'],
  key_groups: ['id'],
  forgotten: ['id'],
  idempotency_keys: ['scope', 'key'],
  ledger_accounts: ['id'],
  ledger_transfers: ['chain', 'position'],
  metered_calls: ['call_id'],
  receipt_prices: ['number'],
  metered_usage: ['caller_id', 'day', 'model', 'upstream', 'price', 'charged'],
  closed_periods: ['period'],
  archives: ['month'],
  spending: ['owner', 'day'],
  allowances: ['id'],
  alert_messages: ['id'],
  payments: ['id'],
  tasks: ['id'],
  swarms: ['id'],
  task_capabilities: ['task_id', 'capability'],
  task_dependencies: ['depends_on', 'task_id'],
  task_totals: ['shard'],
  escrows: ['id'],
  sessions: ['id'],
  session_messages: ['session_id', 'position'],
  session_texts: ['seq'],
  session_totals: ['user_id', 'source'],
  conversations: ['id'],
  conversation_turns: ['conversation_id', 'turn'],
  reviews: ['id'],
  seal_keys: ['id'],
  reasoning_states: ['reference'],
  billed_activity: ['upstream', 'day', 'key', 'model'],
  settlements: ['id'],
  withdrawals: ['id'],
  chain_accounts: ['chain_id', 'address'],
  chain_transactions: ['chain_id', 'address', 'nonce'],
} as const satisfies {
  [Table in Exclude<
    keyof Schema,
    'sweeps' | 'settings_revision' | keyof ConnectionTables | keyof FactTables | keyof RateTables
  >]: ReadonlyArray<keyof Schema[Table]>
}

/** Name of a table with records, included in copies of a store. */
export type RecordTable = keyof typeof RECORD_TABLES

/** Tables about running processes only. */
const PRESENT_TABLES = {
  connections: true,
  connection_instances: true,
  connection_tickets: true,
  model_facts: true,
  rate_windows: true,
  settings_revision: true,
  sweeps: true,
} as const satisfies Record<Exclude<keyof Schema, RecordTable>, true>

/** Names of all tables. */
export const TABLES: readonly string[] = [...Object.keys(RECORD_TABLES), ...Object.keys(PRESENT_TABLES)]
