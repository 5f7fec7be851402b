import type { CallCache } from '../../calls/call-cache.ts'
import { costOfMiss, savedByCache } from '../../providers/cache-cost.ts'
import type { UsedByCall } from '../../providers/cost.ts'
import type { PricedModel, Prices } from '../../providers/prices.ts'
import { toUsd } from '../../text/money.ts'
import type { CacheWatch, WatchedCall } from '../session/cache-watch.ts'

/** Dependencies of the effect of a cache. */
interface EffectDeps {
  prices: Prices
  watchCache?: CacheWatch | undefined
}

/** A call that has ended. */
interface EndedCall extends Pick<WatchedCall, 'context' | 'callId'> {
  used: UsedByCall
  /** Model whose prices apply. */
  priced: PricedModel
}

/**
 * Effect of the provider's prompt cache on the cost of a call. Undefined where it has saved and missed nothing.
 *
 * @param made the client's request, and where it went
 */
export function cacheEffect(
  { prices, watchCache }: EffectDeps,
  made: { asked: WatchedCall['request']; provider: { name: string }; model: { upstream: string } | null },
  { context, callId, used, priced }: EndedCall,
): CallCache | undefined {
  const { usage } = used
  const { asked: request, provider, model } = made
  const isWatched = usage !== null && watchCache !== undefined && (context.session?.session_id ?? null) !== null
  const upstream = provider.name
  const loss = isWatched
    ? watchCache({ context, request, callId, upstream, model: model?.upstream ?? '', usage })
    : null
  if (usage === null || (loss === null && (usage.cached_tokens ?? 0) === 0)) return undefined
  const { tokens = 0, changed = null } = loss ?? {}
  return {
    saved_usd: toUsd(savedByCache(used, priced, prices)),
    missed_tokens: tokens,
    missed_usd: toUsd(costOfMiss(tokens, usage, used, priced, prices)),
    changed,
  }
}
