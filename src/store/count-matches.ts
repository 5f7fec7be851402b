import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { MAX_COUNTED } from './page.ts'
import type { Schema } from './schema.ts'

/** Counts the rows of a query one by one, up to `most`, by default for a page's `total`. */
export async function countMatches<Tables, From extends keyof Tables>(
  db: Kysely<Schema>,
  matches: SelectQueryBuilder<Tables, From, object>,
  most = MAX_COUNTED,
): Promise<number> {
  const counted = matches.select(sql`1`.as('one')).limit(most)
  const { rows } = await sql<{ total: number }>`select count(*) as total from (${counted}) as counted`.execute(db)
  return Number(rows[0]?.total ?? 0)
}
