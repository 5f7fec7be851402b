import type { Kysely } from 'kysely'
import type { Engine } from '../engine.ts'
import { up as initial } from './001_initial.ts'
import { up as memoryWriters } from './002_memory_writers.ts'
import { up as skippedCandidates } from './003_skipped_candidates.ts'
import { up as callAddresses } from './004_call_addresses.ts'
import { up as chargedCalls } from './005_charged_calls.ts'
import { up as tasksOfKeys } from './006_tasks_of_keys.ts'
import { up as priceOrigins } from './007_price_origins.ts'
import { up as statements } from './010_statements.ts'
import { up as memoryProjects } from './011_memory_projects.ts'
import { up as reviews } from './012_reviews.ts'
import { up as debts } from './013_debts.ts'
import { up as presumedAllowances } from './014_presumed_allowances.ts'
import { up as rateWindows } from './015_rate_windows.ts'
import { up as billedActivity } from './016_billed_activity.ts'
import { up as projects } from './017_projects.ts'
import { up as reasoning } from './019_reasoning.ts'
import { up as providerKeys } from './021_provider_keys.ts'
import { up as facts } from './022_facts.ts'
import { up as lenientKeys } from './023_lenient_keys.ts'
import { up as callSessions } from './024_call_sessions.ts'
import { up as reviewTerms } from './026_review_terms.ts'
import { up as cacheKeys } from './027_cache_keys.ts'
import { up as cacheCosts } from './028_cache_costs.ts'
import { up as keptResponses } from './029_kept_responses.ts'
import { up as codingSessions } from './030_coding_sessions.ts'
import { up as sessionLimits } from './031_session_limits.ts'
import { up as listedSessions } from './032_listed_sessions.ts'
import { up as gazePacks } from './033_gaze_packs.ts'
import { up as gazeLevels } from './034_gaze_levels.ts'
import { up as retention } from './036_retention.ts'
import { up as forgotten } from './037_forgotten.ts'
import { up as leanIndexes } from './038_lean_indexes.ts'
import { up as sharedWords } from './039_shared_words.ts'
import { up as archives } from './040_archives.ts'
import { up as projectWords } from './041_project_words.ts'
import { up as projectWordsOnPostgres } from './042_project_words_postgres.ts'
import { up as outboxAndChatWords } from './043_outbox_and_chat_words.ts'
import { up as escrowRecipients } from './044_escrow_recipients.ts'
import { up as callTimes } from './045_call_times.ts'
import { up as failedCalls } from './047_failed_calls.ts'
import { up as callsByHour } from './048_calls_by_hour.ts'
import { up as matchedReceipts } from './049_matched_receipts.ts'

/** Migrates the store by one step, forward only. */
export type Migrate = (db: Kysely<unknown>, engine: Engine) => Promise<void>

/** Migrations by name, in order. */
export type Migrations = Readonly<Record<string, Migrate>>

/** Migrations. A released name never changes. */
export const MIGRATIONS: Migrations = {
  '001_initial': initial,
  '002_memory_writers': memoryWriters,
  '003_skipped_candidates': skippedCandidates,
  '004_call_addresses': callAddresses,
  '005_charged_calls': chargedCalls,
  '006_tasks_of_keys': tasksOfKeys,
  '007_price_origins': priceOrigins,
  '010_statements': statements,
  '011_memory_projects': memoryProjects,
  '012_reviews': reviews,
  '013_debts': debts,
  '014_presumed_allowances': presumedAllowances,
  '015_rate_windows': rateWindows,
  '016_billed_activity': billedActivity,
  '017_projects': projects,
  '019_reasoning': reasoning,
  '021_provider_keys': providerKeys,
  '022_facts': facts,
  '023_lenient_keys': lenientKeys,
  '024_call_sessions': callSessions,
  '026_review_terms': reviewTerms,
  '027_cache_keys': cacheKeys,
  '028_cache_costs': cacheCosts,
  '029_kept_responses': keptResponses,
  '030_coding_sessions': codingSessions,
  '031_session_limits': sessionLimits,
  '032_listed_sessions': listedSessions,
  '033_gaze_packs': gazePacks,
  '034_gaze_levels': gazeLevels,
  '036_retention': retention,
  '037_forgotten': forgotten,
  '038_lean_indexes': leanIndexes,
  '039_shared_words': sharedWords,
  '040_archives': archives,
  '041_project_words': projectWords,
  '042_project_words_postgres': projectWordsOnPostgres,
  '043_outbox_and_chat_words': outboxAndChatWords,
  '044_escrow_recipients': escrowRecipients,
  '045_call_times': callTimes,
  '047_failed_calls': failedCalls,
  '048_calls_by_hour': callsByHour,
  '049_matched_receipts': matchedReceipts,
}
