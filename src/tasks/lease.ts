import { setImmediate as turn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { createTally } from '../escrow/escrow-tally.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { markCapabilities } from './mark-capabilities.ts'

/** Claim of a task that nobody has claimed. */
export const UNCLAIMED = {
  agent: null,
  claimed_by: null,
  claim_hash: null,
  lease_seconds: null,
  lease_expires_at: null,
  claimed_at: null,
}

/** Rows per batch when a reader reopens tasks. A background sweep keeps them few. */
const SEEN_AT_ONCE = 500

/** Reopens tasks whose leases have expired. */
export interface Leases {
  /** Reopens the tasks due at `at`, before a list selects and counts by status. */
  seeDue(at: string): Promise<void>
  /** Reopens a task whose lease has expired, so that it can be claimed. @returns whether it did */
  reopen(id: string, at: string): Promise<boolean>
  /** Reopens at most `limit` tasks. @returns how many were checked */
  sweep(limit: number): Promise<number>
}

/** Creates the leases of the tasks in `store`. */
export function createLeases({ store, now }: { store: Store; now: () => Date }): Leases {
  /** @returns how many were reopened */
  function open(ids: readonly string[], at: string): Promise<number> {
    return store.write(async (trx) => {
      const over = await trx
        .selectFrom('tasks')
        .select('id')
        .where('id', 'in', ids)
        .where('status', '=', 'claimed')
        .where('lease_expires_at', '<=', at)
        .orderBy('id')
        .forUpdate()
        .execute()
      if (over.length === 0) return 0
      const opened = await trx
        .updateTable('tasks')
        .set({
          status: 'open',
          ...UNCLAIMED,
          updated_at: sql`lease_expires_at`,
        })
        .where(
          'id',
          'in',
          over.map(({ id }) => id),
        )
        .returning(['id', 'capabilities'])
        .execute()
      await markCapabilities(trx, opened)
      const tally = createTally()
      tally.add('claimed', -opened.length)
      tally.add('open', opened.length)
      await tally.write(trx)
      return opened.length
    })
  }

  async function openDue(at: string, limit: number): Promise<number> {
    const ids = await due(store.db, at, limit)
    if (ids.length > 0) await open(ids, at)
    return ids.length
  }

  return {
    async seeDue(at) {
      // SQLite runs in this process without yielding: let other work run between batches.
      while ((await openDue(at, SEEN_AT_ONCE)) === SEEN_AT_ONCE) await turn()
    },
    reopen: async (id, at) => (await open([id], at)) === 1,
    sweep: (limit) => openDue(now().toISOString(), limit),
  }
}

async function due(db: Kysely<Schema>, at: string, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('tasks')
    .select('id')
    // Only claimed tasks have a lease.
    .where('lease_expires_at', '<=', at)
    .orderBy('lease_expires_at')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id).sort()
}
