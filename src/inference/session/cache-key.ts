import { createHash } from 'node:crypto'
import type { CallContext } from '../../calls/call-record.ts'
import type { Fields } from '../../text/typed-reader.ts'
import { affinityOf } from './affinity.ts'
import { isConversation } from './session-words.ts'

const FIELD = 'prompt_cache_key'
const HEADER = 'x-grok-conv-id'

/** Fields and headers that lead the requests of a session to the same cache at a provider. */
export interface CacheKey {
  fields: Readonly<Fields>
  headers: Readonly<Record<string, string>>
}

/** Stands where a request needs no key, or has one. */
export const NO_CACHE_KEY: CacheKey = Object.freeze({ fields: {}, headers: {} })

/**
 * Names a session to a provider that keeps caches apart by a key. The name is a hash of the session and of the caller's
 * key, so that two callers never share one, and the provider learns neither. A request that has a key keeps it.
 *
 * - OpenAI: `prompt_cache_key` (https://platform.openai.com/docs/guides/prompt-caching)
 * - xAI: `x-grok-conv-id` for chat completions, `prompt_cache_key` for responses
 *   (https://docs.x.ai/docs/advanced-api-usage/prompt-caching)
 *
 * @param accepts forms that the provider takes, as in its preset
 * @param path endpoint there
 * @param sent request as the provider gets it
 */
export function cacheKeyFor(
  accepts: readonly string[],
  path: string,
  sent: object,
  context: Pick<CallContext, 'callerId' | 'session'>,
): CacheKey {
  const isField = accepts.includes('cache_key') || (accepts.includes('conversation_id') && path === '/responses')
  const isHeader = accepts.includes('conversation_id') && path === '/chat/completions'
  if (!(isField || isHeader) || !isConversation(context.session?.session_id ?? null)) return NO_CACHE_KEY
  const affinity = affinityOf(context)
  if (affinity === null || ((sent as Fields)[FIELD] ?? null) !== null) return NO_CACHE_KEY
  const key = createHash('sha256').update(affinity).digest('hex').slice(0, 32)
  return isHeader ? { fields: {}, headers: { [HEADER]: key } } : { fields: { [FIELD]: key }, headers: {} }
}
