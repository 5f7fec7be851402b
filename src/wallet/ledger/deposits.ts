import type { Transaction } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../../errors.ts'
import { ENVIRONMENT_IDENTITY } from '../../identity/identity.ts'
import { KeyId, WalletAddress } from '../../identity/key.ts'
import type { Schema } from '../../store/schema.ts'
import type { Store } from '../../store/store.ts'
import { AmountAboveZero, type Micros, toMicros, toUsd } from '../../text/money.ts'
import { parseInput } from '../../wire/validation.ts'
import { accountOf } from './accounts.ts'
import { lockedPayerAccount } from './bind-wallet.ts'
import { post } from './ledger.ts'
import { payerAccount } from './payer-account.ts'

/** A deposit for a caller. */
export const Deposit = z.strictObject({
  caller_id: z.string().min(1).max(256).describe('The id of a key, or a wallet address'),
  amount_usd: AmountAboveZero,
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/)
    .describe('Unique id of the payment, such as its transaction hash; each is credited once')
    .meta({ accepted: '1 to 200 visible ASCII characters without spaces' }),
})
export type Deposit = z.infer<typeof Deposit>

/** A booked deposit. */
export const DepositReceipt = Deposit.extend({
  caller_id: Deposit.shape.caller_id.describe('The credited account; for a wallet, the key it is bound to'),
  at: z.iso.datetime(),
  available_usd: z.number().describe('Balance of the caller after the deposit'),
})
export type DepositReceipt = z.infer<typeof DepositReceipt>

/** A payment to credit: to the owner of a ledger account, or to a wallet's {@link payerAccount}. */
export type Credit = ({ account: string } | { wallet: string }) & {
  micros: Micros
  /** Idempotency key. */
  reference: string
}

/**
 * Credits a caller's account, once per `reference`. A repeated deposit is recognised even when its caller has changed
 * since, as after a wallet was bound to a key.
 */
export async function makeDeposit(
  store: Store,
  input: unknown,
  at: Date,
  { hasFixedKey = false } = {},
): Promise<DepositReceipt> {
  const { caller_id, amount_usd, reference } = parseInput(Deposit, input)
  const wallet = WalletAddress.safeParse(caller_id).data
  const micros = toMicros(amount_usd) as Micros
  return store.write(async (trx) => {
    if (wallet !== undefined) return creditPayer(trx, { wallet, micros, reference }, at)
    const before = await creditedBefore(trx, { callerId: caller_id, payer: null, reference })
    const account = before ?? (await knownCaller({ db: trx }, caller_id, { hasFixedKey }))
    return credit(trx, { account, micros, reference }, at)
  })
}

async function creditPayer(
  trx: Transaction<Schema>,
  { wallet, micros, reference }: { wallet: string; micros: Micros; reference: string },
  at: Date,
): Promise<DepositReceipt> {
  const payer = await lockedPayerAccount(trx, wallet)
  const before = await creditedBefore(trx, { callerId: wallet, payer, reference })
  return credit(trx, { account: before ?? payer, micros, reference }, at)
}

/**
 * Finds the account credited under a reference, when it is the caller's own, that of the wallet's payer, or that of a
 * revoked key that was the payer.
 *
 * @param payer see {@link payerAccount}; null when the caller is not a wallet
 */
async function creditedBefore(
  trx: Transaction<Schema>,
  { callerId, payer, reference }: { callerId: string; payer: string | null; reference: string },
): Promise<string | null> {
  const transfer = await trx
    .selectFrom('ledger_transfers')
    .innerJoin('ledger_accounts', 'ledger_accounts.id', 'ledger_transfers.chain')
    .leftJoin('keys', 'keys.id', 'ledger_accounts.owner')
    .select(['ledger_accounts.owner', 'keys.wallet', 'keys.revoked_at'])
    .where('ledger_transfers.key', '=', keyOf(reference))
    .executeTakeFirst()
  if (!transfer) return null
  const { owner, wallet, revoked_at } = transfer
  const wasPayer = wallet === callerId && revoked_at !== null
  return owner === callerId || owner === payer || wasPayer ? owner : null
}

/**
 * Credits an account, once per `reference`. A named account is credited itself, even a wallet's own account while the
 * wallet is bound to a key. A named wallet is credited as {@link makeDeposit} does.
 *
 * @throws GazewayError `conflict` when the reference was credited to another account or with another amount
 */
export function creditAccount(store: Store, to: Credit, at: Date): Promise<DepositReceipt> {
  return store.write((trx) => ('wallet' in to ? creditPayer(trx, to, at) : credit(trx, to, at)))
}

async function credit(
  trx: Transaction<Schema>,
  { account: callerId, micros, reference }: { account: string; micros: Micros; reference: string },
  at: Date,
): Promise<DepositReceipt> {
  const account = accountOf('caller', callerId)
  const transfer = await post(trx, {
    key: keyOf(reference),
    kind: 'deposit',
    entries: [
      { account: accountOf('deposits', callerId), micros: -micros, floor: null, deposited: -micros },
      { account, micros },
    ],
    at: at.toISOString(),
  })
  const { balance_micros } = await trx
    .selectFrom('ledger_accounts')
    .select('balance_micros')
    .where('id', '=', account.id)
    .executeTakeFirstOrThrow()
  return {
    caller_id: callerId,
    amount_usd: toUsd(micros),
    reference,
    at: transfer.at,
    available_usd: toUsd(balance_micros),
  }
}

/** Key of a deposit's transfer. */
const keyOf = (reference: string): string => `deposit:${reference}`

/**
 * Finds the caller to credit for a key id or wallet address; see {@link payerAccount} for addresses. Refuses mistyped
 * and revoked keys, and the fixed key when none is set: their money would be unreachable.
 *
 * @param options.hasFixedKey a fixed key is set
 * @param options.orRevoked accepts revoked keys too, and a fixed key that is no longer set, for money earned before
 * @throws GazewayError `not_found` for other ids
 */
export async function knownCaller(
  store: Pick<Store, 'db'>,
  callerId: string,
  { hasFixedKey = false, orRevoked = false } = {},
): Promise<string> {
  const wallet = WalletAddress.safeParse(callerId)
  if (wallet.success) return payerAccount(store, wallet.data)
  if (callerId === ENVIRONMENT_IDENTITY.id && (orRevoked || hasFixedKey)) return callerId
  const key = KeyId.safeParse(callerId).success
    ? await store.db.selectFrom('keys').select('revoked_at').where('id', '=', callerId).executeTakeFirst()
    : undefined
  if (key && (orRevoked || key.revoked_at === null)) return callerId
  // The id is not repeated: it may be a secret key sent by mistake.
  throw new GazewayError('not_found', 'caller_id: neither the id of a valid key nor a wallet address.', {
    param: 'caller_id',
  })
}
