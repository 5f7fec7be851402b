import type { CallRollupRow } from '../store/tables/calls-tables.ts'

/** Columns of sums that are added up: counts, tokens and money; latencies are kept apart. */
export const FIGURES = [
  'calls',
  'prompt_tokens',
  'completion_tokens',
  'total_tokens',
  'upstream_cost_micros',
  'cached_tokens',
  'cache_write_tokens',
  'cache_saved_micros',
  'cache_missed_tokens',
  'cache_missed_micros',
] as const

/** Counts, tokens and cost of a set of calls. */
export type CallFigures = Pick<CallRollupRow, (typeof FIGURES)[number]>

/** Figures of an empty set. */
export const NO_CALLS: Readonly<CallFigures> = {
  calls: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  upstream_cost_micros: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  cache_saved_micros: 0,
  cache_missed_tokens: 0,
  cache_missed_micros: 0,
}

/** Adds `more` to `sum`. */
export function addFigures(sum: CallFigures, more: CallFigures): void {
  for (const figure of FIGURES) sum[figure] += more[figure]
}
