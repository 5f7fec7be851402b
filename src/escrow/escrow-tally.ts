import { type Kysely, sql, type Transaction } from 'kysely'
import { runBuilt } from '../store/prepared-sql.ts'
import { safeSum } from '../store/safe-sum.ts'
import type { Schema } from '../store/schema.ts'
import type { TaskTotalsRow } from '../store/tables/tasks-tables.ts'

/** Numbers of tasks and escrows by status, and micro-dollars of rewards: locked, paid and refunded. */
export type Totals = Omit<TaskTotalsRow, 'shard'>

/** Changes of the totals in one transaction. */
export interface Tally {
  /** @param by positive or negative */
  add(name: keyof Totals, by: number): void
  /** Moves one from a status to another. */
  move(from: keyof Totals, to: keyof Totals): void
  /** Adds the changes to the totals. Call it last in the transaction, because it locks a shared row. */
  write(trx: Transaction<Schema>): Promise<void>
}

/** Rows that totals are spread over, so that writers rarely wait for each other. */
const SHARDS = 16

const NAMES = [
  'blocked',
  'open',
  'claimed',
  'completed',
  'failed',
  'cancelled',
  'escrow_locked',
  'escrow_released',
  'escrow_settled',
  'escrow_expired',
  'escrow_refunded',
  'locked_micros',
  'paid_micros',
  'refunded_micros',
] as const satisfies ReadonlyArray<keyof Totals>

/** Creates an empty tally. A transaction that may be retried creates its own. */
export function createTally(): Tally {
  const changes = Object.fromEntries(NAMES.map((name) => [name, 0])) as unknown as Totals
  return {
    add(name, by) {
      changes[name] += by
    },
    move(from, to) {
      changes[from] -= 1
      changes[to] += 1
    },
    async write(trx) {
      const row = { shard: Math.floor(Math.random() * SHARDS), ...changes }
      await runBuilt(trx, 'tally', Object.values(row), () =>
        trx
          .insertInto('task_totals')
          .values(row)
          .onConflict((conflict) =>
            conflict
              .column('shard')
              .doUpdateSet(
                Object.fromEntries(
                  NAMES.map((name) => [name, sql`${sql.ref(`task_totals.${name}`)} + ${sql.ref(`excluded.${name}`)}`]),
                ),
              ),
          )
          .compile(),
      )
    },
  }
}

/** Reads all totals. */
export async function readTotals(db: Kysely<Schema>): Promise<Totals> {
  const { rows } = await sql<Totals>`select ${sql.join(
    NAMES.map((name) => sql`coalesce(${safeSum(name)}, 0) as ${sql.ref(name)}`),
  )} from task_totals`.execute(db)
  return rows[0] as Totals
}
