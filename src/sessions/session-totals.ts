import { type Kysely, sql, type Transaction } from 'kysely'
import type { Schema } from '../store/schema.ts'
import type { SessionRow } from '../store/tables/sessions-tables.ts'

/** Adds a session to the totals of its user and source, or subtracts it. */
export async function countSession(
  trx: Transaction<Schema>,
  { user_id, source }: Pick<SessionRow, 'user_id' | 'source'>,
  each: 1 | -1,
): Promise<void> {
  await trx
    .insertInto('session_totals')
    .values({ user_id, source, sessions: each })
    .onConflict((conflict) =>
      conflict
        .columns(['user_id', 'source'])
        .doUpdateSet({ sessions: sql`session_totals.sessions + excluded.sessions` }),
    )
    .execute()
}

/** Reads the number of sessions of a user, of a source, or of all. */
export async function readSessionTotal(
  db: Kysely<Schema>,
  kind: { user_id?: string | undefined; source?: string | undefined },
): Promise<number> {
  let query = db.selectFrom('session_totals').select(({ fn }) => fn.sum<number | null>('sessions').as('sessions'))
  for (const column of ['user_id', 'source'] as const) {
    const value = kind[column]
    if (value !== undefined) query = query.where(column, '=', value)
  }
  return Number((await query.executeTakeFirstOrThrow()).sessions ?? 0)
}
