import type { CallTables } from './tables/calls.ts'
import type { GazeTables } from './tables/gaze.ts'
import type { IdempotencyTables } from './tables/idempotency.ts'
import type { KeyTables } from './tables/keys.ts'
import type { MemoryTables } from './tables/memory.ts'

/** Every table of the store, as the services see it (the same on both engines). */
export interface Schema extends CallTables, MemoryTables, GazeTables, KeyTables, IdempotencyTables {}
