import { type RawBuilder, sql, type Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import type { Engine } from '../../store/engine.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import type { ClosedPeriodRow } from '../../store/tables/wallet-tables.ts'
import { readLedgerHead } from './ledger-head.ts'
import { boundsOf } from './statement-period.ts'

/** SQL that tells whether a time is after all closed periods. */
export const isOpenAt = (at: string): RawBuilder<boolean> =>
  sql<boolean>`not exists (select 1 from closed_periods where ends_at > ${at})`

/** End of the last closed period; null when none is closed. */
export async function closedUntil(trx: Transaction<Schema>): Promise<string | null> {
  const { until } = await trx
    .selectFrom('closed_periods')
    .select(({ fn }) => fn.max<string | null>('ends_at').as('until'))
    .executeTakeFirstOrThrow()
  return until
}

/**
 * Returns the first time from `at` on that something may be booked at. No period is closed until the transaction ends,
 * so that what it books at this time stays in an open one.
 */
export async function openTime(trx: Transaction<Schema>, engine: Engine, at: string): Promise<string> {
  // SQLite's writers take turns.
  if (engine === 'postgres') await sql`lock table closed_periods in share mode`.execute(trx)
  const until = await closedUntil(trx)
  return until !== null && until > at ? until : at
}

/**
 * Closes a period: nothing is booked into it, or before it, from here on. What would be is dated to the first moment
 * after it. A second request returns what the first one made.
 *
 * @param by who closes it
 * @throws GazewayError `validation_failed` for a malformed period, `conflict` for one that has not ended
 */
export async function closePeriod(
  store: Store,
  { period, by, now }: { period: string; by: string; now: Date },
): Promise<ClosedPeriodRow> {
  const { from, to } = boundsOf(period)
  if (to > now.toISOString())
    throw new GazewayError('conflict', `The period ${period} ends at ${to} and cannot be closed before.`, {
      param: 'period',
    })
  await store.write(async (trx) => {
    // Waits for transactions that book, and lets those that begin now see the closed period.
    if (store.engine === 'postgres')
      await sql`lock table closed_periods, ledger_transfers in share row exclusive mode`.execute(trx)
    const row = { period, starts_at: from, ends_at: to, closed_at: now.toISOString(), closed_by: by, ledger_head: null }
    await trx
      .insertInto('closed_periods')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  })
  return (await closedPeriod(store, period)) as ClosedPeriodRow
}

/** Finds a closed period. Reads the ledger's head once, for a period that has none yet. */
export async function closedPeriod(store: Store, period: string): Promise<ClosedPeriodRow | null> {
  const find = () => store.db.selectFrom('closed_periods').selectAll().where('period', '=', period).executeTakeFirst()
  const found = await find()
  if (found === undefined) return null
  if (found.ledger_head !== null) return found
  await store.db
    .updateTable('closed_periods')
    .set({ ledger_head: await readLedgerHead(store) })
    .where('period', '=', period)
    .where('ledger_head', 'is', null)
    .execute()
  return (await find()) ?? null
}
