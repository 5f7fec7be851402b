import { type Kysely, sql } from 'kysely'

/** Columns of metered calls in flight, and of their replies, which `idempotency_keys` keeps. */
const GONE = ['status', 'deadline', 'held_micros', 'idempotency_key', 'fingerprint', 'content']

/**
 * Leaves only charged calls in `metered_calls`. Metered calls reserve allowances from here on, as all calls. A metered
 * call that was under way becomes an allowance that nobody renews, so a sweep gives its money back.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into allowances (id, holder, key_id, group_id, day, charged, micros, turn, granted, renewed_at)
    select 'alw_' || call_id, 'metered call', caller_id, group_id, counted_on, 1, held_micros, 0, 0, at
    from metered_calls where status = 'held' and held_micros > 0`.execute(db)
  // What an allowance reserves is not spent yet.
  await sql`
    update spending set charged_micros = charged_micros - (
      select coalesce(sum(c.held_micros), 0) from metered_calls as c
      where c.status = 'held' and spending.owner in (c.caller_id, c.group_id)
        and spending.day in (c.counted_on, 'total'))
    where owner in (
      select caller_id from metered_calls where status = 'held'
      union select group_id from metered_calls where status = 'held')`.execute(db)
  await sql`delete from metered_calls where status <> 'captured'`.execute(db)
  for (const index of ['holds', 'metered_calls_once', 'metered_calls_kept', 'receipts', 'receipts_of_caller'])
    await sql`drop index ${sql.id(index)}`.execute(db)
  for (const column of GONE) await sql`alter table metered_calls drop column ${sql.id(column)}`.execute(db)
  await sql`create index receipts on metered_calls (at, call_id)`.execute(db)
  await sql`create index receipts_of_caller on metered_calls (caller_id, at, call_id)`.execute(db)
}
