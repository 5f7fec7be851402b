import type { PaymentRow } from '../store/tables/payments-tables.ts'
import type { Claims, TakenOver } from './claims.ts'
import type { CreditOnce } from './crediting.ts'
import type { PaymentMethod, PaymentStatus } from './payment.ts'

/** Time after the expiry of its credential in which a payment may still appear on the chain, in milliseconds. */
const LATE_MS = 600_000

/**
 * Creates the function that continues a payment of a process that died: credits it when the chain has it, and ends it
 * when the chain can no longer take it.
 */
export function createResume(deps: {
  claims: Claims
  methods: readonly PaymentMethod[]
  /** Loads methods that are no longer offered. */
  retired: (() => Promise<readonly PaymentMethod[]>) | undefined
  creditOnce: CreditOnce
  /** Called when a payment ends uncredited because its signature was used for something else. */
  onSpent: (payment: PaymentRow) => void
}): (row: TakenOver) => Promise<void> {
  const { claims, methods, retired, creditOnce, onSpent } = deps

  async function methodOf(row: PaymentRow): Promise<PaymentMethod | undefined> {
    const ofRow = ({ name }: PaymentMethod) => name === row.method
    return methods.find(ofRow) ?? (await retired?.())?.find(ofRow)
  }

  return async (row) => {
    const { id, payer, amount_micros: amount } = row
    const payment = { id, method: row.method, payer, account: row.account_named === 0 ? null : row.account, amount }
    const status = row.status as PaymentStatus
    if (status !== 'claimed' && status !== 'freed') return creditOnce(payment, status)
    const method = await methodOf(row)
    const sought = { ...row, amount }
    const reference = method ? await method.find(sought) : null
    if (reference !== null && (await claims.advance(id, status, 'settled', reference)))
      return creditOnce(payment, 'settled')
    if (await method?.isSpent?.(sought)) {
      if (await claims.advance(id, status, 'failed')) onSpent(row)
      return
    }
    if (!method || Date.parse(row.seen_at) <= Date.parse(row.expires_at) + LATE_MS) return
    if (!(await method.isOpen(sought))) await claims.advance(id, status, 'failed')
  }
}
