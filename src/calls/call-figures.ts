import type { CallRollupRow } from '../store/tables/calls-tables.ts'

/** Counts, tokens and cost of a set of calls; latencies are kept apart. */
export type CallFigures = Pick<
  CallRollupRow,
  'calls' | 'prompt_tokens' | 'completion_tokens' | 'total_tokens' | 'upstream_cost_micros'
>

/** Figures of an empty set. */
export const NO_CALLS: Readonly<CallFigures> = {
  calls: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  upstream_cost_micros: 0,
}

/** Adds `more` to `sum`. */
export function addFigures(sum: CallFigures, more: CallFigures): void {
  sum.calls += more.calls
  sum.prompt_tokens += more.prompt_tokens
  sum.completion_tokens += more.completion_tokens
  sum.total_tokens += more.total_tokens
  sum.upstream_cost_micros += more.upstream_cost_micros
}
