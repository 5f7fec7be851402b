import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { MAX_COUNTED } from './page.ts'
import type { Schema } from './schema.ts'

/** Counts the rows of a query one by one, up to {@link MAX_COUNTED}, for a page's `total`. */
export async function countMatches<Tables, From extends keyof Tables>(
  db: Kysely<Schema>,
  matches: SelectQueryBuilder<Tables, From, object>,
): Promise<number> {
  const counted = matches.select(sql`1`.as('one')).limit(MAX_COUNTED)
  const { rows } = await sql<{ total: number }>`select count(*) as total from (${counted}) as counted`.execute(db)
  return Number(rows[0]?.total ?? 0)
}
