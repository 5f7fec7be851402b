import { sql } from 'kysely'
import type { Store } from '../store/store.ts'
import type { AlertMessageRow } from '../store/tables/alerts-tables.ts'
import { newId } from '../text/ids.ts'
import { type Micros, toUsd } from '../text/money.ts'
import { PERIOD_NAMES, type Period, periodOf } from '../text/period.ts'
import { dayOf } from '../wallet/budget/spending.ts'

/** A budget that has passed a threshold without an alert in its current period. */
interface Passed {
  owner: string
  name: string
  per: Period
  period: string
  percent: number
  micros: Micros
  spent: Micros
}

/**
 * Records in the outbox which budgets have passed an alert's threshold. Reads owners with alerts, and their spending
 * per day of the current periods.
 *
 * @returns number recorded, at most `limit`
 */
export async function noticeAlerts({ db, reads }: Store, now: Date, limit: number): Promise<number> {
  const day = dayOf(now.toISOString())
  const periods = PERIOD_NAMES.map((per) => {
    const { from, to } = periodOf(per, day)
    return sql`select cast(${per} as text) as per, cast(${from} as text) as first_day, cast(${to} as text) as last_day`
  })
  const spent = sql`sum(s.charged_micros + s.recorded_micros)`
  const { rows } = await sql<Passed>`
    with periods as (${sql.join(periods, sql` union all `)})
    select a.owner, coalesce(k.name, g.name) as name, b.per, p.first_day as period, a.percent, b.micros, ${spent} as spent
    from alerts a
      join budgets b on b.owner = a.owner
      join periods p on p.per = b.per
      join spending s on s.owner = a.owner and s.day >= p.first_day and s.day <= p.last_day
      left join keys k on k.id = a.owner
      left join key_groups g on g.id = a.owner
      left join alert_messages m
        on m.owner = a.owner and m.per = b.per and m.period = p.first_day and m.percent = a.percent
    where m.id is null and k.revoked_at is null
    group by a.owner, k.name, g.name, b.per, p.first_day, a.percent, b.micros
    having ${spent} * 100 >= b.micros * a.percent
    order by a.owner, b.per, a.percent limit ${limit}`.execute(reads)
  if (rows.length === 0) return 0
  await db
    .insertInto('alert_messages')
    .values(rows.map((row) => toMessage({ ...row, spent: Number(row.spent) }, now)))
    // Another process has recorded it too.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return rows.length
}

function toMessage(passed: Passed, now: Date): AlertMessageRow {
  const { owner, name, per, period, percent, micros, spent } = passed
  const at = now.toISOString()
  const body = {
    type: 'budget.spent',
    timestamp: at,
    data: {
      id: owner,
      kind: owner.startsWith('grp_') ? 'group' : 'key',
      name,
      alert: { at: percent / 100, of: 'budget' },
      budget: {
        per,
        usd: toUsd(micros),
        spent_usd: toUsd(spent),
        left_usd: toUsd(micros - spent),
        resets_at: periodOf(per, dayOf(at)).resetsAt,
      },
    },
  }
  return {
    id: newId('alert'),
    owner,
    per,
    period,
    percent,
    body: JSON.stringify(body),
    created_at: at,
    next_at: at,
    attempts: 0,
    delivered_at: null,
    error: null,
  }
}
