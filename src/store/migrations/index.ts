import type { Kysely } from 'kysely'
import type { Engine } from '../columns.ts'
import { up as memoryAndCalls } from './001_memory_and_calls.ts'
import { up as gaze } from './002_gaze.ts'
import { up as keysAndIdempotency } from './003_keys_and_idempotency.ts'
import { up as sweeps } from './004_sweeps.ts'
import { up as wallet } from './005_wallet.ts'
import { up as payments } from './006_payments.ts'

/** Brings the store forward by one step; forward only. */
export type Migrate = (db: Kysely<unknown>, engine: Engine) => Promise<void>

/** All migrations, by name, in order. A name, once released, never changes. */
export const MIGRATIONS: Record<string, Migrate> = {
  '001_memory_and_calls': memoryAndCalls,
  '002_gaze': gaze,
  '003_keys_and_idempotency': keysAndIdempotency,
  '004_sweeps': sweeps,
  '005_wallet': wallet,
  '006_payments': payments,
}
