import { LRUCache } from 'lru-cache'
import { ENVIRONMENT_IDENTITY } from '../../identity/identity.ts'
import type { Store } from '../../store/store.ts'
import type { Micros } from '../../text/money.ts'

const REMEMBERED = 10_000
const REMEMBERED_MS = 5_000

/** Spending limits of a caller. */
export interface Limits {
  /** Credit beyond its deposits. */
  creditMicros: Micros
  /** Group whose budgets apply besides the caller's own. */
  groupId: string | null
}

/** Finds the limits of a caller. */
export type LimitsOf = (callerId: string) => Promise<Limits>

/** Cached limits of callers. */
export interface KnownLimits {
  of: LimitsOf
  /** Drops a caller from the cache after its limits changed. */
  forget(callerId: string): void
}

/**
 * Caches the limits of callers for at most 5 s. Keys carry their limits. The fixed key has the default credit. Wallet
 * addresses have no credit.
 *
 * @param defaultCredit credit of keys that set none
 */
export function createLimits(store: Store, defaultCredit: Micros): KnownLimits {
  // Caches promises, so that `forget` also drops a read in flight.
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
