import { sql } from 'kysely'
import { PAYMENT_METHODS } from '../config/sections/mpp-section.ts'
import { storeTime } from '../store/clock.ts'
import type { Store } from '../store/store.ts'
import { type Micros, toUsd } from '../text/money.ts'

/** How often payments of processes that died are looked for, in milliseconds. */
export const UNFINISHED_MS = 60_000
/** How long after its lease a payment is looked for by no process, before that is told, in milliseconds. */
const LATE_MS = 120_000

/** How long after its credential expired a payment is still looked for, before that is told, in milliseconds. */
const OPEN_MS = 3_600_000

/** Whether any payment is not ended yet, whoever works on it. */
export async function anyUnfinished({ db }: Store): Promise<boolean> {
  const one = db.selectFrom('payments').select('id').where('lease_until', 'is not', null).limit(1)
  return (await one.executeTakeFirst()) !== undefined
}

/**
 * What is left of payments that no process looks after, in words: whose money is here and not credited, or may be.
 *
 * @returns null when there is none
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
  const told: string[] = []
  if (paid.payments > 0)
    told.push(
      `${paid.payments} payments, ${paid.usd} USD in all, were made and are not credited: run gazeway --platform on this store, which credits them.`,
    )
  if (open.payments > 0)
    told.push(
      `Of ${open.payments} payments, ${open.usd} USD in all, it is not known whether they were made: run gazeway --platform with ${PAYMENT_METHODS.map((name) => `mpp.${name}`).join(' and ')} configured as they were, which asks the chain.`,
    )
  return told.join(' ')
}
