import { sql } from 'kysely'
import { z } from 'zod'
import { type Micros, toUsd } from '../money.ts'
import type { Store } from '../store/store.ts'
import { accountOf } from './accounts.ts'
import type { LimitsOf } from './limits.ts'

/** What a caller has. */
export const Balances = z.object({
  available_usd: z.number().describe('What is left of the deposits; below zero where credit is used'),
  held_usd: z.number().describe('Set aside for calls that are being made'),
  escrow_usd: z.number().describe('Locked for tasks that are not done'),
  credit_limit_usd: z.number().describe('How far available_usd may fall below zero'),
  daily_limit_usd: z.number().nullable().describe('How much may be spent on one UTC day'),
})
export type Balances = z.infer<typeof Balances>

/** The balances and limits of a caller; all zero for one that the ledger does not know. */
export async function readBalances(store: Store, callerId: string, limitsOf: LimitsOf): Promise<Balances> {
  const { id: caller } = accountOf('caller', callerId)
  const { id: held } = accountOf('held', callerId)
  const rows = await store.db
    .selectFrom('ledger_accounts')
    .select(['id', 'balance_micros'])
    .where('id', 'in', [caller, held])
    .execute()
  const limits = await limitsOf(callerId)
  const balance = (account: string) => toUsd(rows.find(({ id }) => id === account)?.balance_micros ?? 0)
  return {
    available_usd: balance(caller),
    held_usd: balance(held),
    escrow_usd: toUsd(await inEscrow(store, callerId)),
    credit_limit_usd: toUsd(limits.creditMicros),
    daily_limit_usd: limits.dailyMicros === null ? null : toUsd(limits.dailyMicros),
  }
}

/** What is locked in escrows of a payer, summed over those that are live: their accounts stay, long after they are empty. */
async function inEscrow({ db }: Store, payer: string): Promise<Micros> {
  const { micros } = await db
    .selectFrom('escrows')
    .select(sql<number | null>`sum(amount_micros)`.as('micros'))
    .where('payer', '=', payer)
    // Written out, for the index is of live escrows alone.
    .where(sql<boolean>`status in ('locked', 'expired')`)
    .executeTakeFirstOrThrow()
  return micros ?? 0
}
