import { type Kysely, type RawBuilder, sql } from 'kysely'
import { runBuiltRows } from './prepared-sql.ts'
import type { Schema } from './schema.ts'

/** Tells whether a caller's content was erased, so that nothing of a request that is still under way is stored. */
export async function isForgotten(db: Kysely<Schema>, caller: string): Promise<boolean> {
  const found = await db.selectFrom('forgotten').select('id').where('id', '=', caller).executeTakeFirst()
  return found !== undefined
}

/** Finds those of some callers whose content was erased. */
export async function forgottenAmong(db: Kysely<Schema>, callers: ReadonlySet<string>): Promise<Set<string>> {
  const rows = [...callers].map((id) => ({ id }))
  const found = await runBuiltRows(db, 'find forgotten', rows, (part) =>
    db
      .selectFrom('forgotten')
      .select('id')
      .where(
        'id',
        'in',
        part.map(({ id }) => id),
      )
      .compile(),
  )
  return new Set(found.map(({ id }) => id))
}

/** SQL of a text that is null when the content of `caller` was erased. */
export const unlessForgotten = (caller: string, text: string | null): RawBuilder<string | null> =>
  sql`case when exists (select 1 from forgotten where id = ${caller}) then null else cast(${text} as text) end`
