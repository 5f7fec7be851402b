import { sql } from 'kysely'
import type { Store } from '../store/store.ts'

/** Faults of a kind that are told. */
const TOLD = 10

interface Fault {
  id: string
  held: number | null
  due: number
}

/**
 * Where the ledger does not hold what escrows say: each live escrow's account holds its amount, all others nothing.
 */
export async function escrowFaults({ db }: Store): Promise<string[]> {
  const { rows: short } = await sql<Fault>`
    select escrows.id, a.balance_micros as held, escrows.amount_micros as due
    from escrows left join ledger_accounts as a on a.id = 'escrow:' || escrows.id
    where escrows.status in ('locked', 'expired') and (a.balance_micros is null or a.balance_micros <> escrows.amount_micros)
    limit ${TOLD}`.execute(db)
  const { rows: over } = await sql<Fault>`
    select a.id, a.balance_micros as held, 0 as due
    from ledger_accounts as a left join escrows on a.id = 'escrow:' || escrows.id
    where a.kind = 'escrow' and a.balance_micros <> 0 and (escrows.id is null or escrows.status not in ('locked', 'expired'))
    limit ${TOLD}`.execute(db)
  return [...short, ...over].map(
    ({ id, held, due }) => `${id}: its account holds ${held ?? 'nothing'}, not ${due} micro-dollars.`,
  )
}
