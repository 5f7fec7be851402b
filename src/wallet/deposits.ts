import { z } from 'zod'
import { GazewayError } from '../errors.ts'
import { ENVIRONMENT_IDENTITY } from '../identity/identity.ts'
import { KeyId, WalletAddress } from '../identity/key.ts'
import { type Micros, toMicros, toUsd } from '../money.ts'
import type { Store } from '../store/store.ts'
import { parseInput } from '../validation.ts'
import { accountOf } from './accounts.ts'
import { post } from './ledger.ts'

const MOST_USD = 1_000_000

/** Money that is paid in for a caller. */
export const Deposit = z.strictObject({
  caller_id: z.string().min(1).max(256).describe('The id of a key, or a wallet address'),
  amount_usd: z
    .number()
    .positive()
    .max(MOST_USD)
    .refine((usd) => toMicros(usd) !== null, 'too many decimals')
    .meta({ accepted: `an amount in USD above 0 and up to ${MOST_USD} with at most 6 decimals` }),
  reference: z
    .string()
    .regex(/^[\x21-\x7e]{1,200}$/)
    .describe('What tells this payment from all others, such as the hash of its transaction: it is credited once')
    .meta({ accepted: '1 to 200 visible ASCII characters without spaces' }),
})
export type Deposit = z.infer<typeof Deposit>

/** A deposit as it was booked. */
export const DepositReceipt = Deposit.extend({
  at: z.iso.datetime(),
  available_usd: z.number().describe('In the account of the caller now'),
})
export type DepositReceipt = z.infer<typeof DepositReceipt>

/**
 * Credits a caller's account, once per `reference`.
 *
 * @throws GazewayError `validation_failed`, `not_found` for a key that does not exist, `conflict` when the reference was
 *   credited to another caller or with another amount
 */
export async function makeDeposit(store: Store, input: unknown, at: Date): Promise<DepositReceipt> {
  const { caller_id: named, amount_usd, reference } = parseInput(Deposit, input)
  const callerId = await knownCaller(store, named)
  const micros = toMicros(amount_usd) as Micros
  return store.write(async (trx) => {
    const account = accountOf('caller', callerId)
    const transfer = await post(trx, {
      key: `deposit:${reference}`,
      kind: 'deposit',
      entries: [
        { account: accountOf('deposits', callerId), micros: -micros, floor: null },
        { account, micros },
      ],
      at: at.toISOString(),
    })
    const { balance_micros } = await trx
      .selectFrom('ledger_accounts')
      .select('balance_micros')
      .where('id', '=', account.id)
      .executeTakeFirstOrThrow()
    return { caller_id: callerId, amount_usd, reference, at: transfer.at, available_usd: toUsd(balance_micros) }
  })
}

/**
 * The caller with this id, a wallet address in lower case: money for a mistyped key would be out of reach.
 *
 * @throws GazewayError `not_found` for what is neither a wallet address nor the id of a key
 */
export async function knownCaller(store: Store, callerId: string): Promise<string> {
  const wallet = WalletAddress.safeParse(callerId)
  if (wallet.success) return wallet.data
  const key = KeyId.safeParse(callerId).success
    ? await store.db.selectFrom('keys').select('id').where('id', '=', callerId).executeTakeFirst()
    : undefined
  if (key || callerId === ENVIRONMENT_IDENTITY.id) return callerId
  // Not repeated: someone may have sent the key itself.
  throw new GazewayError('not_found', 'There is no key with this id, and it is not a wallet address.', {
    param: 'caller_id',
  })
}
