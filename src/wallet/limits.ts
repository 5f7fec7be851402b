import { LRUCache } from 'lru-cache'
import { ENVIRONMENT_IDENTITY } from '../identity/identity.ts'
import type { Store } from '../store/store.ts'
import type { Micros } from '../text/money.ts'

const REMEMBERED = 10_000
const REMEMBERED_MS = 5_000

/** How far a caller may spend. */
export interface Limits {
  /** Beyond its deposits. */
  creditMicros: Micros
  /** Whose budgets count beside the caller's own. */
  groupId: string | null
}

/** Finds the limits of a caller. */
export type LimitsOf = (callerId: string) => Promise<Limits>

/** The limits of callers, which are remembered for a while. */
export interface KnownLimits {
  of: LimitsOf
  /** Has a caller's limits read anew: they were changed. */
  forget(callerId: string): void
}

/**
 * The limits of callers, as of at most 5 s ago. They are on the keys; the fixed key has the default credit, and a wallet
 * address none: whoever brings one has only what it deposited.
 *
 * @param defaultCredit credit where the key says none
 */
export function createLimits(store: Store, defaultCredit: Micros): KnownLimits {
  // Promises: what is being read while it is forgotten is not remembered.
  const known = new LRUCache<string, Promise<Limits>>({ max: REMEMBERED, ttl: REMEMBERED_MS })

  async function read(callerId: string): Promise<Limits> {
    const key = await store.db
      .selectFrom('keys')
      .select(['credit_limit_micros', 'group_id'])
      .where('id', '=', callerId)
      .executeTakeFirst()
    const trusted = key !== undefined || callerId === ENVIRONMENT_IDENTITY.id
    return {
      creditMicros: key?.credit_limit_micros ?? (trusted ? defaultCredit : 0),
      groupId: key?.group_id ?? null,
    }
  }

  return {
    of(callerId) {
      const remembered = known.get(callerId)
      if (remembered) return remembered
      const limits = read(callerId)
      known.set(callerId, limits)
      limits.catch(() => known.delete(callerId))
      return limits
    },
    forget: (callerId) => void known.delete(callerId),
  }
}
