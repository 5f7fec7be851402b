import { setImmediate as turn } from 'node:timers/promises'
import type { Store } from '../store/store.ts'
import { createTally } from './escrow-tally.ts'
import { lockedRows } from './escrow-transfers.ts'

/** Rows per batch when a reader expires escrows. A background sweep keeps them few. */
const SEEN_AT_ONCE = 500

/** Expiry of escrows. */
export interface Expiry {
  /** Expires the escrows due at `at`, before a list selects and counts by status. */
  seeDue(at: string): Promise<void>
  /** Expires at most `limit` escrows. @returns how many */
  sweep(limit: number): Promise<number>
}

/** Creates the expiry of the escrows in `store`. */
export function createExpiry({ store, now }: { store: Store; now: () => Date }): Expiry {
  async function expire(at: string, limit: number): Promise<number> {
    const due = await store.db
      .selectFrom('escrows')
      .select('id')
      .where('status', '=', 'locked')
      .where('expires_at', '<=', at)
      .orderBy('expires_at')
      .limit(limit)
      .execute()
    if (due.length === 0) return 0
    return store.write(async (trx) => {
      const held = await lockedRows(
        trx,
        due.map(({ id }) => id),
      )
      const expired = held.filter(({ status }) => status === 'locked').map(({ id }) => id)
      if (expired.length > 0)
        await trx.updateTable('escrows').set({ status: 'expired' }).where('id', 'in', expired).execute()
      const tally = createTally()
      tally.add('escrow_locked', -expired.length)
      tally.add('escrow_expired', expired.length)
      await tally.write(trx)
      return due.length
    })
  }

  return {
    async seeDue(at) {
      // SQLite runs in this process without yielding: let other work run between batches.
      while ((await expire(at, SEEN_AT_ONCE)) === SEEN_AT_ONCE) await turn()
    },
    sweep: (limit) => expire(now().toISOString(), limit),
  }
}
