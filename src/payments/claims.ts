import type { Kysely, Transaction } from 'kysely'
import { storeTime } from '../store/clock.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { PaymentRow } from '../store/tables/payments-tables.ts'
import type { Payment, PaymentStatus } from './payment.ts'

/** Lease of a payment in milliseconds: the time after which another process may take it over. */
export const LEASE_MS = 60_000

/** A payment to settle. */
export interface Claim extends Payment {
  scope: string
  proof: string
  /** Time after which its credential can no longer be settled, RFC 3339. */
  expiresAt: string
}

/** A payment that was taken over, with the store's time. */
export type TakenOver = PaymentRow & { seen_at: string }

/** Payments by credential. Each credential pays once. Leases use the store's clock. */
export interface Claims {
  /** Tells whether a credential was used and not freed again. */
  isUsed(id: string): Promise<boolean>
  /**
   * Claims a credential.
   *
   * @param step status and reference of the payment; `claimed` by default
   * @returns the lease, for {@link renew}; null when any process used the credential before and it was not freed
   */
  claim(claim: Claim, step?: ClaimStep, trx?: Transaction<Schema>): Promise<string | null>
  /**
   * Moves a payment to its next status, in the transaction of a settlement if there is one. A signature counts for one
   * payment only, although one transaction of another sender may use several.
   *
   * @returns false when the payment was not at `from`, or its signature has already counted; then nothing is written
   */
  advance(
    id: string,
    from: PaymentStatus,
    to: PaymentStatus,
    reference?: string,
    trx?: Transaction<Schema>,
  ): Promise<boolean>
  /** Renews a lease. @returns the new lease; null when another process has taken over */
  renew(id: string, lease: string): Promise<string | null>
  /** Ends a lease, so that another process can take over at once. */
  abandon(id: string): Promise<void>
  /** Takes over payments with expired leases. @returns at most `limit`; each goes to one process */
  takeOver(limit: number): Promise<TakenOver[]>
}

/** Status of a payment when its credential is claimed. */
export interface ClaimStep {
  status: PaymentStatus
  reference: string | null
}

const FREED = 'freed' satisfies PaymentStatus
const FINAL: readonly PaymentStatus[] = ['served', 'credited', 'failed']
const CLAIMED: ClaimStep = { status: 'claimed', reference: null }

/**
 * Creates the claims of credentials, each of which pays once.
 *
 * @param leaseMs {@link LEASE_MS} by default
 */
export function createClaims({
  store,
  now,
  leaseMs = LEASE_MS,
}: {
  store: Store
  now: () => Date
  leaseMs?: number
}): Claims {
  const { db, engine } = store
  const lease = () => storeTime(engine, leaseMs)

  return {
    async isUsed(id) {
      const used = db.selectFrom('payments').select('id').where('id', '=', id).where('status', '<>', FREED)
      return (await used.executeTakeFirst()) !== undefined
    },

    async claim({ id, method, payer, caller, account, amount, scope, proof, expiresAt }, step = CLAIMED, trx) {
      const row = {
        id,
        method,
        payer,
        account: caller,
        amount_micros: amount,
        scope,
        proof,
        reference: step.reference,
        status: step.status,
        lease_until: FINAL.includes(step.status) ? null : lease(),
        created_at: now().toISOString(),
        expires_at: expiresAt,
        account_named: account === null ? 0 : 1,
      }
      const claimed = await (trx ?? db)
        .insertInto('payments')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row).where('payments.status', '=', FREED))
        .returning('lease_until')
        .executeTakeFirst()
      return claimed ? (claimed.lease_until ?? '') : null
    },

    async advance(id, from, to, reference, trx) {
      let update = (trx ?? (db as Kysely<Schema>))
        .updateTable('payments')
        .set({
          status: to,
          ...(FINAL.includes(to) && { lease_until: null }),
          ...(reference !== undefined && { reference }),
        })
        .where('id', '=', id)
        .where('status', '=', from)
      if (reference !== undefined) {
        update = update.where(({ not, exists, selectFrom }) => {
          const other = selectFrom('payments as other').select('other.id').where('other.reference', 'is not', null)
          const same = ['method', 'payer', 'proof'] as const
          return not(exists(same.reduce((all, it) => all.whereRef(`other.${it}`, '=', `payments.${it}`), other)))
        })
      }
      const { numUpdatedRows } = await update.executeTakeFirst()
      return numUpdatedRows === 1n
    },

    ...claimLeases(store, leaseMs),
  }
}

/** Creates the leases of claimed payments. */
function claimLeases({ db, engine }: Store, leaseMs: number): Pick<Claims, 'renew' | 'abandon' | 'takeOver'> {
  const lease = () => storeTime(engine, leaseMs)

  return {
    async renew(id, held) {
      const renewed = await db
        .updateTable('payments')
        .set({ lease_until: lease() })
        .where('id', '=', id)
        .where('lease_until', '=', held)
        .returning('lease_until')
        .executeTakeFirst()
      return renewed?.lease_until ?? null
    },

    async abandon(id) {
      await db
        .updateTable('payments')
        .set({ lease_until: storeTime(engine) })
        .where('id', '=', id)
        .where('lease_until', 'is not', null)
        .execute()
    },

    async takeOver(limit) {
      const idle = await db
        .selectFrom('payments')
        .selectAll()
        .select(storeTime(engine).as('seen_at'))
        .where('lease_until', '<=', storeTime(engine))
        .orderBy('lease_until')
        .limit(limit)
        .execute()
      const taken: TakenOver[] = []
      for (const row of idle) {
        const { numUpdatedRows } = await db
          .updateTable('payments')
          .set({ lease_until: lease() })
          .where('id', '=', row.id)
          .where('status', '=', row.status)
          .where('lease_until', '=', row.lease_until)
          .executeTakeFirst()
        if (numUpdatedRows === 1n) taken.push(row)
      }
      return taken
    },
  }
}
