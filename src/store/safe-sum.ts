import { type RawBuilder, sql } from 'kysely'

/** A column's sum, or 2^53 − 1 where it is larger, which a JSON number could not hold; null without rows. */
export function safeSum(column: string): RawBuilder<number | null> {
  const sum = sql`sum(${sql.ref(column)})`
  return sql`cast(case when ${sum} > ${MOST} then ${MOST} else ${sum} end as bigint)`
}

const MOST = sql.lit(Number.MAX_SAFE_INTEGER)
