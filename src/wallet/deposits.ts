import type { Transaction } from 'kysely'
import { z } from 'zod'
import { GazewayError } from '../errors.ts'
import { ENVIRONMENT_IDENTITY } from '../identity/identity.ts'
import { KeyId, WalletAddress } from '../identity/key.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { AmountAboveZero, type Micros, toMicros, toUsd } from '../text/money.ts'
import { parseInput } from '../wire/validation.ts'
import { accountOf } from './accounts.ts'
import { lockedPayerAccount } from './bind-wallet.ts'
import { post } from './ledger.ts'
import { payerAccount } from './payer-account.ts'

/** Money that is paid in for a caller. */
export const Deposit = z.strictObject({
  caller_id: z.string().min(1).max(256).describe('The id of a key, or a wallet address'),
  amount_usd: AmountAboveZero,
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/)
    .describe('What tells this payment from all others, such as the hash of its transaction: it is credited once')
    .meta({ accepted: '1 to 200 visible ASCII characters without spaces' }),
})
export type Deposit = z.infer<typeof Deposit>

/** A deposit as it was booked. */
export const DepositReceipt = Deposit.extend({
  caller_id: Deposit.shape.caller_id.describe('Whose account it is in: for a wallet, the key that it is bound to'),
  at: z.iso.datetime(),
  available_usd: z.number().describe('In the account of the caller now'),
})
export type DepositReceipt = z.infer<typeof DepositReceipt>

/** Money that has come in, and whose it is: that of the owner of a ledger account, or of a wallet's {@link payerAccount}. */
export type Credit = ({ account: string } | { wallet: string }) & {
  micros: Micros
  /** What makes it happen once. */
  reference: string
}

/**
 * Credits a caller's account, once per `reference`: whoever its caller is by now, a deposit that was made before is the
 * same.
 *
 * @param options.hasFixedKey see {@link knownCaller}
 * @throws GazewayError `validation_failed`, `not_found` for a key that does not exist or was revoked, and as
 *   {@link creditAccount}
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
 * Whose account was credited under a reference, where that is the caller's: its own, that of the wallet's payer, or that
 * of a key that was the payer until it was revoked.
 *
 * @param payer see {@link payerAccount}; null for a caller that is no wallet
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
 * Credits the very account that is named, once per `reference`: a wallet's own one also where it is bound to a key. Where only a
 * wallet is named, it is credited as {@link makeDeposit} does.
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

/** What a deposit's transfer is called. */
const keyOf = (reference: string): string => `deposit:${reference}`

/**
 * The caller whose account money for this id or wallet address goes to: see {@link payerAccount} for an address. Money for a
 * mistyped key, for one that was revoked, or for a fixed key where none is set, would be out of reach.
 *
 * @param options.hasFixedKey whether a fixed key is set
 * @param options.orRevoked a key that is revoked, or not set any more, will do too: its owner had earned the money before
 * @throws GazewayError `not_found` for what is neither a wallet address nor the id of such a key
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
  // Not repeated: someone may have sent the key itself.
  throw new GazewayError('not_found', 'There is no key in force with this id, and it is not a wallet address.', {
    param: 'caller_id',
  })
}
