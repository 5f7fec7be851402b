import { type RawBuilder, sql } from 'kysely'
import type { Store } from '../../store/store.ts'

/** Something of a month that is not over: a query of its rows before a time, and what to do. */
interface Unsettled {
  rows: (month: { from: string; to: string }) => RawBuilder<unknown>
  reason: (rows: number) => string
}

const UNSETTLED: readonly Unsettled[] = [
  {
    rows: ({ to }) => sql`allowances where day < ${to.slice(0, 10)}`,
    reason: (rows) =>
      `reservations that are open: ${rows}. Start the process that made them again, run \`gazeway doctor --recover\` on its data ` +
      'folder, or release them with `gazeway key release`',
  },
  {
    rows: ({ to }) => sql`escrows where created_at < ${to} and (status in ('locked', 'expired')
      or (status = 'released' and settlement_mode <> 'ledger'))`,
    reason: (rows) => `rewards that are locked, or not paid: ${rows}. They end by themselves while a gateway runs`,
  },
  {
    rows: ({ to }) => sql`withdrawals where created_at < ${to} and settled_at is null`,
    reason: (rows) => `withdrawals that are not paid: ${rows}. See \`gazeway doctor\` for their chain`,
  },
  {
    rows: ({ to }) => sql`settlements where created_at < ${to} and status in ('pending', 'submitted')`,
    reason: (rows) => `settlements that no chain has confirmed: ${rows}. See \`gazeway doctor\` for their chain`,
  },
  {
    rows: ({ to }) => sql`payments where created_at < ${to} and lease_until is not null`,
    reason: (rows) => `payments that are unfinished: ${rows}. A running gateway finishes them`,
  },
  {
    rows: ({ from, to }) => sql`ledger_accounts as a where a.kind = 'caller' and a.balance_micros < 0 and exists
      (select 1 from metered_calls as m where m.caller_id = a.owner and m.at >= ${from} and m.at < ${to}
        and m.debt_micros > 0)`,
    reason: (rows) => `keys with a debt from it: ${rows}. A deposit ends a debt`,
  },
]

/** Finds what of a month is not over, so that it stays in the store. Null when all is. */
export async function unsettledIn({ db }: Store, month: { from: string; to: string }): Promise<string | null> {
  for (const { rows, reason } of UNSETTLED) {
    const found = await sql<{ number: number }>`select count(*) as number from ${rows(month)}`.execute(db)
    const number = Number(found.rows[0]?.number)
    if (number > 0) return reason(number)
  }
  return null
}
