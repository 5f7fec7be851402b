import { type RawBuilder, sql } from 'kysely'

/** SQL for a column's sum, capped at 2^53 − 1, the limit of a JSON number. Null without rows. */
export function safeSum(column: string): RawBuilder<number | null> {
  const sum = sql`sum(${sql.ref(column)})`
  return sql`cast(case when ${sum} > ${MOST} then ${MOST} else ${sum} end as bigint)`
}

const MOST = sql.lit(Number.MAX_SAFE_INTEGER)
