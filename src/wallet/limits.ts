import { sql, type Transaction } from 'kysely'
import { LRUCache } from 'lru-cache'
import { GazewayError } from '../errors.ts'
import { ENVIRONMENT_IDENTITY } from '../identity/identity.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { type Micros, toUsd } from '../text/money.ts'

const REMEMBERED = 10_000
const REMEMBERED_MS = 5_000

/** How far a caller may spend. */
export interface Limits {
  /** Beyond its deposits. */
  creditMicros: Micros
  /** On one UTC day; null is no limit. */
  dailyMicros: Micros | null
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
      .leftJoin('budgets', (join) => join.onRef('budgets.owner', '=', 'keys.id').on('budgets.per', '=', 'day'))
      .select(['keys.credit_limit_micros', 'budgets.micros as daily_limit_micros'])
      .where('keys.id', '=', callerId)
      .executeTakeFirst()
    const trusted = key !== undefined || callerId === ENVIRONMENT_IDENTITY.id
    return {
      creditMicros: key?.credit_limit_micros ?? (trusted ? defaultCredit : 0),
      dailyMicros: key?.daily_limit_micros ?? null,
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

/** The UTC day of a time: `2026-11-21`. */
export const dayOf = (at: string): string => at.slice(0, 10)

/** An amount on one day of one caller. */
export interface DayAmount {
  callerId: string
  day: string
  /** Above zero. */
  micros: Micros
}

/**
 * Adds to what a caller has spent on a day, in one statement that its limit bounds. Callers without a daily limit are not
 * counted.
 *
 * @param limit the caller's daily limit
 * @throws GazewayError `daily_limit_reached`; the transaction must then be given up
 */
export async function spendOnDay(
  trx: Transaction<Schema>,
  { callerId, day, micros }: DayAmount,
  limit: Micros | null,
): Promise<void> {
  if (limit === null) return
  if (micros <= limit && (await addToDay(trx, { callerId, day, micros }, limit))) return
  throw new GazewayError(
    'daily_limit_reached',
    `${toUsd(micros)} USD are needed, and less is left of the daily limit of ${toUsd(limit)} USD. ` +
      'It starts anew at 00:00 UTC; ask for less, or have the limit raised.',
  )
}

/** Takes back from a day what was reserved and not spent. */
export async function giveBackToDay(trx: Transaction<Schema>, { callerId, day, micros }: DayAmount): Promise<void> {
  await trx
    .updateTable('daily_spending')
    .set({ spent_micros: sql`spent_micros - ${micros}` })
    .where('caller_id', '=', callerId)
    .where('day', '=', day)
    .execute()
}

async function addToDay(
  trx: Transaction<Schema>,
  { callerId, day, micros }: DayAmount,
  limit: Micros,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('daily_spending')
    .values({ caller_id: callerId, day, spent_micros: micros })
    .onConflict((conflict) =>
      conflict
        .columns(['caller_id', 'day'])
        .doUpdateSet({ spent_micros: sql`daily_spending.spent_micros + excluded.spent_micros` })
        .where(sql<boolean>`daily_spending.spent_micros + excluded.spent_micros <= ${limit}`),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === 1n
}
