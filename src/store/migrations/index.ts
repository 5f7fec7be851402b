import type { Kysely } from 'kysely'
import type { Engine } from '../columns.ts'
import { up as memoryAndCalls } from './001_memory_and_calls.ts'
import { up as gaze } from './002_gaze.ts'
import { up as keysAndIdempotency } from './003_keys_and_idempotency.ts'
import { up as sweeps } from './004_sweeps.ts'
import { up as wallet } from './005_wallet.ts'
import { up as payments } from './006_payments.ts'
import { up as tasksAndEscrow } from './007_tasks_and_escrow.ts'
import { up as attestationUses } from './008_attestation_uses.ts'
import { up as settlements } from './009_settlements.ts'
import { up as sessions } from './010_sessions.ts'
import { up as settings } from './011_settings.ts'
import { up as connections } from './012_connections.ts'
import { up as gazeSessions } from './013_gaze_sessions.ts'
import { up as fallbackCalls } from './014_fallback_calls.ts'
import { up as taskLists } from './015_task_lists.ts'
import { up as usedRecords } from './016_used_records.ts'
import { up as clusteredUsage } from './017_clustered_usage.ts'
import { up as smallerCallIndexes } from './018_smaller_call_indexes.ts'
import { up as countedCalls } from './019_counted_calls.ts'
import { up as marksInWords } from './020_marks_in_words.ts'
import { up as authorizationsInOneTransaction } from './021_authorizations_in_one_transaction.ts'
import { up as plainWords } from './022_plain_words.ts'
import { up as callSums } from './023_call_sums.ts'
import { up as gazeOfAKey } from './024_gaze_of_a_key.ts'
import { up as totalsOfNoCalls } from './025_totals_of_no_calls.ts'
import { up as wordsWithoutDigits } from './026_words_without_digits.ts'

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
  '007_tasks_and_escrow': tasksAndEscrow,
  '008_attestation_uses': attestationUses,
  '009_settlements': settlements,
  '010_sessions': sessions,
  '011_settings': settings,
  '012_connections': connections,
  '013_gaze_sessions': gazeSessions,
  '014_fallback_calls': fallbackCalls,
  '015_task_lists': taskLists,
  '016_used_records': usedRecords,
  '017_clustered_usage': clusteredUsage,
  '018_smaller_call_indexes': smallerCallIndexes,
  '019_counted_calls': countedCalls,
  '020_marks_in_words': marksInWords,
  '021_authorizations_in_one_transaction': authorizationsInOneTransaction,
  '022_plain_words': plainWords,
  '023_call_sums': callSums,
  '024_gaze_of_a_key': gazeOfAKey,
  '025_totals_of_no_calls': totalsOfNoCalls,
  '026_words_without_digits': wordsWithoutDigits,
}
