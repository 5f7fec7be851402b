import type { Store } from '../store/store.ts'
import type { PaymentRow } from '../store/tables/payments.ts'
import type { Payment, PaymentStatus } from './payment.ts'

/** How long a payment counts as being worked on after the last sign of life of its process, in milliseconds. */
const LEASE_MS = 60_000

/** A payment that is about to be settled. */
export interface Claim extends Payment {
  scope: string
  proof: string
  /** When its credential can no longer be settled, RFC 3339. */
  expiresAt: string
}

/** The payments that were made, each by one credential. */
export interface Claims {
  /** Whether a credential was used before, and is not free again. */
  isUsed(id: string): Promise<boolean>
  /** Uses a credential up. @returns false when it was used before, by whichever process, and is not free again */
  claim(claim: Claim): Promise<boolean>
  /**
   * Notes a step of a payment; those of a settlement come with its transaction. What its payer signed counts for one payment
   * only; somebody else's transaction may carry several out.
   *
   * @returns false when the payment was not at `from`, or what was signed has counted already: nothing is noted then
   */
  advance(id: string, from: PaymentStatus, to: PaymentStatus, reference?: string): Promise<boolean>
  /** Tells the others that this process is still at work. */
  renew(id: string): Promise<void>
  /** Lets another process take over at once. */
  abandon(id: string): Promise<void>
  /** Takes over payments whose process is gone. @returns at most `limit`; each goes to one process */
  takeOver(limit: number): Promise<PaymentRow[]>
}

const FREED = 'freed' satisfies PaymentStatus
const FINAL: readonly PaymentStatus[] = ['served', 'credited', 'failed']

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
  const { db } = store
  const lease = () => new Date(now().getTime() + leaseMs).toISOString()

  async function setLease(id: string, lease_until: string): Promise<void> {
    await db
      .updateTable('payments')
      .set({ lease_until })
      .where('id', '=', id)
      .where('lease_until', 'is not', null)
      .execute()
  }

  return {
    async isUsed(id) {
      const used = db.selectFrom('payments').select('id').where('id', '=', id).where('status', '<>', FREED)
      return (await used.executeTakeFirst()) !== undefined
    },

    async claim({ id, method, payer, caller, account, amount, scope, proof, expiresAt }) {
      const row: PaymentRow = {
        id,
        method,
        payer,
        account: caller,
        amount_micros: amount,
        scope,
        proof,
        reference: null,
        status: 'claimed' satisfies PaymentStatus,
        lease_until: lease(),
        created_at: now().toISOString(),
        expires_at: expiresAt,
        account_named: account === null ? 0 : 1,
      }
      const claimed = await db
        .insertInto('payments')
        .values(row)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(row).where('payments.status', '=', FREED))
        .returning('id')
        .execute()
      return claimed.length === 1
    },

    async advance(id, from, to, reference) {
      let update = db
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

    renew: (id) => setLease(id, lease()),
    abandon: (id) => setLease(id, now().toISOString()),

    async takeOver(limit) {
      const at = now().toISOString()
      const idle = await db
        .selectFrom('payments')
        .selectAll()
        .where('lease_until', '<=', at)
        .orderBy('lease_until')
        .limit(limit)
        .execute()
      const taken: PaymentRow[] = []
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
