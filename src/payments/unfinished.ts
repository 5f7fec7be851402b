import { sql } from 'kysely'
import { PAYMENT_METHODS } from '../config/sections/mpp-section.ts'
import { storeTime } from '../store/clock.ts'
import type { Store } from '../store/store.ts'
import { type Micros, toUsd } from '../text/money.ts'

/** Interval of the sweep for unfinished payments, in milliseconds. */
export const UNFINISHED_MS = 60_000
/** Time after the end of its lease before an unfinished payment is reported, in milliseconds. */
const LATE_MS = 120_000

/** Time after the expiry of its credential before an open payment is reported, in milliseconds. */
const OPEN_MS = 3_600_000

/** Tells whether any payment is unfinished. */
export async function anyUnfinished({ db }: Store): Promise<boolean> {
  const one = db.selectFrom('payments').select('id').where('lease_until', 'is not', null).limit(1)
  return (await one.executeTakeFirst()) !== undefined
}

/**
 * Describes unfinished payments that no process works on: those that were made and not credited, and those whose
 * outcome is unknown.
 *
 * @returns null when there are none
 */
export async function leftUnfinished({ db, engine }: Store): Promise<string | null> {
  const rows = await db
    .selectFrom('payments')
    .select(['status', ({ fn }) => fn.countAll().as('payments'), sql<Micros>`sum(amount_micros)`.as('micros')])
    .where('lease_until', 'is not', null)
    .where(({ or, eb }) =>
      or([eb('lease_until', '<', storeTime(engine, -LATE_MS)), eb('expires_at', '<', storeTime(engine, -OPEN_MS))]),
    )
    .groupBy('status')
    .execute()
  if (rows.length === 0) return null
  const sum = (of: typeof rows) => ({
    payments: of.reduce((total, { payments }) => total + Number(payments), 0),
    usd: toUsd(of.reduce((total, { micros }) => total + Number(micros), 0)),
  })
  const isOpen = ({ status }: { status: string }) => status === 'claimed' || status === 'freed'
  const [open, paid] = [sum(rows.filter(isOpen)), sum(rows.filter((row) => !isOpen(row)))]
  const notes: string[] = []
  if (paid.payments > 0)
    notes.push(
      `${paid.payments} payments, ${paid.usd} USD in all, were made but not credited: run gazeway --platform on this store to credit them.`,
    )
  if (open.payments > 0)
    notes.push(
      `${open.payments} payments, ${open.usd} USD in all, have an unknown outcome: run gazeway --platform with ${PAYMENT_METHODS.map((name) => `mpp.${name}`).join(' and ')} configured as before to look them up on the chain.`,
    )
  return notes.join(' ')
}
