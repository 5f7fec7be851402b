import { sql } from 'kysely'
import type { Store } from '../store/store.ts'

/** Maximum number of reported faults per kind. */
const MAX_REPORTED = 10

interface Fault {
  id: string
  held: number | null
  due: number
}

/**
 * Compares escrows with the ledger:
 * - the account of a live escrow holds its amount, other accounts hold nothing
 * - an escrow to be paid on a chain holds deposits only
 */
export async function escrowFaults({ db }: Store): Promise<string[]> {
  const { rows: short } = await sql<Fault>`
    select escrows.id, a.balance_micros as held, escrows.amount_micros as due
    from escrows left join ledger_accounts as a on a.id = 'escrow:' || escrows.id
    where escrows.status in ('locked', 'expired') and (a.balance_micros is null or a.balance_micros <> escrows.amount_micros)
    limit ${MAX_REPORTED}`.execute(db)
  const { rows: over } = await sql<Fault>`
    select a.id, a.balance_micros as held, 0 as due
    from ledger_accounts as a left join escrows on a.id = 'escrow:' || escrows.id
    where a.kind = 'escrow' and a.balance_micros <> 0 and (escrows.id is null or escrows.status not in ('locked', 'expired'))
    limit ${MAX_REPORTED}`.execute(db)
  const { rows: credit } = await sql<Fault>`
    select escrows.id, a.deposited_micros as held, escrows.amount_micros as due
    from escrows join ledger_accounts as a on a.id = 'escrow:' || escrows.id
    where escrows.status in ('locked', 'expired') and escrows.settlement_mode = 'evm'
      and a.deposited_micros <> escrows.amount_micros
    limit ${MAX_REPORTED}`.execute(db)
  return [
    ...[...short, ...over].map(
      ({ id, held, due }) => `${id}: its account holds ${held ?? 'nothing'}, not ${due} micro-dollars.`,
    ),
    ...credit.map(
      ({ id, held, due }) =>
        `${id}: its payment is due on a chain, but only ${held} of its ${due} micro-dollars are deposits.`,
    ),
  ]
}

/** Finds releases without a used attestation, and uses for a release that did not happen. */
export async function attestationFaults({ db }: Store): Promise<string[]> {
  const { rows: unproven } = await sql<{ id: string }>`
    select e.id from escrows as e left join attestation_uses as u
      on u.attestation_id = e.attestation_id and u.used_by = 'release ' || e.id
    where e.status in ('released', 'settled') and u.attestation_id is null
    limit ${MAX_REPORTED}`.execute(db)
  const { rows: unreleased } = await sql<{ id: string; used_by: string }>`
    select u.attestation_id as id, u.used_by from attestation_uses as u left join escrows as e
      on e.id = substr(u.used_by, 9)
    where u.used_by like 'release %' and (e.id is null or e.status not in ('released', 'settled')
      or e.attestation_id is null or e.attestation_id <> u.attestation_id)
    limit ${MAX_REPORTED}`.execute(db)
  return [
    ...unproven.map(({ id }) => `${id}: it is released, but no attestation was used for it.`),
    ...unreleased.map(({ id, used_by }) => `${id}: it was used for "${used_by}", which did not happen with it.`),
  ]
}
