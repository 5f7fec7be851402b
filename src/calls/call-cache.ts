import * as z from 'zod'
import type { CallRow } from '../store/tables/calls-tables.ts'
import { type Micros, toMicros, toUsd } from '../text/money.ts'

/** Part of a prompt at its beginning that a client changed, so that nothing behind it was found in the cache. */
export const ChangedPart = z.enum(['tools', 'instructions'])
export type ChangedPart = z.infer<typeof ChangedPart>

/** Money that the provider's prompt cache saved on a call, and tokens that were missed in it. */
export const CallCache = z.object({
  saved_usd: z.number(),
  missed_tokens: z.int(),
  missed_usd: z.number(),
  changed: ChangedPart.nullable(),
})
export type CallCache = z.infer<typeof CallCache>

/** Stored form of it. */
type Columns = Pick<CallRow, 'cache_saved_micros' | 'cache_missed_tokens' | 'cache_missed_micros' | 'cache_changed'>

/** Builds the columns of a call. */
export const cacheColumns = (cache: CallCache | undefined): Columns => ({
  cache_saved_micros: toMicros(cache?.saved_usd ?? 0) ?? 0,
  cache_missed_tokens: cache?.missed_tokens ?? 0,
  cache_missed_micros: toMicros(cache?.missed_usd ?? 0) ?? 0,
  cache_changed: cache?.changed ?? null,
})

/** Reads the columns of a call. Undefined where its cache has saved and missed nothing. */
export function cacheOfRow(row: Columns): CallCache | undefined {
  const { cache_saved_micros: saved, cache_missed_tokens: tokens, cache_missed_micros: missed, cache_changed } = row
  if (saved === 0 && tokens === 0 && cache_changed === null) return undefined
  return {
    saved_usd: toUsd(saved),
    missed_tokens: tokens,
    missed_usd: toUsd(missed),
    changed: ChangedPart.nullable().parse(cache_changed),
  }
}

/** Sums over the prompt caches of calls. */
export const CacheSums = z.object({
  cached_tokens: z.int(),
  cache_write_tokens: z.int(),
  hit_rate: z.number().nullable().describe('cached_tokens / prompt_tokens'),
  saved_usd: z.number(),
  missed_tokens: z.int(),
  missed_usd: z.number(),
})
export type CacheSums = z.infer<typeof CacheSums>

/** Figures that sums of caches are built from. */
interface CacheFigures {
  prompt_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  cache_saved_micros: Micros
  cache_missed_tokens: number
  cache_missed_micros: Micros
}

/** Builds the sums. */
export const cacheSums = (of: CacheFigures): CacheSums => ({
  cached_tokens: of.cached_tokens,
  cache_write_tokens: of.cache_write_tokens,
  hit_rate: of.prompt_tokens === 0 ? null : of.cached_tokens / of.prompt_tokens,
  saved_usd: toUsd(of.cache_saved_micros),
  missed_tokens: of.cache_missed_tokens,
  missed_usd: toUsd(of.cache_missed_micros),
})
