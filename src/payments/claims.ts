import type { Kysely, Transaction } from 'kysely'
import { storeTime } from '../store/clock.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { PaymentRow } from '../store/tables/payments-tables.ts'
import type { Payment, PaymentStatus } from './payment.ts'

/** How long a payment counts as being worked on after the last sign of life of its process, in milliseconds. */
export const LEASE_MS = 60_000

/** A payment that is about to be settled. */
export interface Claim extends Payment {
  scope: string
  proof: string
  /** When its credential can no longer be settled, RFC 3339. */
  expiresAt: string
}

/** A payment that was taken over, at the store's time. */
export type TakenOver = PaymentRow & { seen_at: string }

/** The payments that were made, each by one credential. Their leases are of the store's time. */
export interface Claims {
  /** Whether a credential was used before, and is not free again. */
  isUsed(id: string): Promise<boolean>
  /**
   * Uses a credential up.
   *
   * @param step where the payment stands then, and what it is known by; `claimed` when absent
   * @returns the lease, which {@link renew} takes; null when the credential was used before, by whichever process, and is not
   *   free again
   */
  claim(claim: Claim, step?: ClaimStep, trx?: Transaction<Schema>): Promise<string | null>
  /**
   * Notes a step of a payment; those of a settlement come with its transaction. What its payer signed counts for one payment
   * only; somebody else's transaction may carry several out.
   *
   * @returns false when the payment was not at `from`, or what was signed has counted already: nothing is noted then
   */
  advance(
    id: string,
    from: PaymentStatus,
    to: PaymentStatus,
    reference?: string,
    trx?: Transaction<Schema>,
  ): Promise<boolean>
  /** Tells the others that this process is still at work. @returns the new lease; null when another one has taken over */
  renew(id: string, lease: string): Promise<string | null>
  /** Lets another process take over at once. */
  abandon(id: string): Promise<void>
  /** Takes over payments whose process is gone. @returns at most `limit`; each goes to one process */
  takeOver(limit: number): Promise<TakenOver[]>
}

/** Where a payment stands as its credential is used up. */
export interface ClaimStep {
  status: PaymentStatus
  reference: string | null
}

const FREED = 'freed' satisfies PaymentStatus
const FINAL: readonly PaymentStatus[] = ['served', 'credited', 'failed']
const CLAIMED: ClaimStep = { status: 'claimed', reference: null }

/** @param leaseMs as {@link LEASE_MS}, which it is when absent */
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
