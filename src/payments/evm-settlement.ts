import { Errors } from 'mppx'
import { type BaseError, ContractFunctionRevertedError, encodeFunctionData, type Hex } from 'viem'
import type { ChainAccount, Price } from '../chain/account.ts'
import { isRevert } from '../chain/revert.ts'
import { createTending } from '../chain/watch-transactions.ts'
import { GazewayError } from '../errors.ts'
import { type Authorization, argumentsOf } from './authorization.ts'
import { type AuthorizationUses, createAuthorizationUses } from './authorization-uses.ts'
import type { EvmCheck } from './evm-check.ts'
import { PURPOSE, requireGasLeft } from './gas-budget.ts'
import type { EvmSettings, PaymentSettings } from './payment-settings.ts'
import { chainUnreachable, isUntouched, paymentsPaused, unconfirmed } from './refusal.ts'
import { transferOf } from './token-domain.ts'

/** Timeout of a confirmation and its polling interval, in milliseconds. */
const CONFIRM_MS = 60_000
const POLL_MS = 250
/** Age at which a pending transaction gets a higher fee, in milliseconds. */
const STUCK_MS = 60_000
/** Confirmations after which a transaction is no longer watched. */
const TENDED = 2

/** Settles authorizations with one account, which pays the gas. */
export interface EvmSettlement extends Omit<AuthorizationUses, 'useOf'> {
  /**
   * Simulates an authorization on the chain. Passes when it was already carried out; fails when its nonce was used for
   * something else.
   *
   * @throws mppx `VerificationFailedError` when the token refuses it; GazewayError `upstream_unreachable` when the node
   *   does not answer
   */
  tryOut(authorization: Authorization): Promise<void>
  /**
   * Carries an authorization out and waits for the configured confirmations.
   *
   * @returns the transaction's hash
   * @throws mppx `VerificationFailedError` when the token refuses it
   * @throws GazewayError before anything is signed: `upstream_unreachable` when the node does not answer,
   *   `payments_paused` without gas; after other errors the outcome is unknown
   */
  settle(authorization: Authorization): Promise<Hex>
  /** Resends pending transactions and raises the fee of stuck ones. */
  tend(): Promise<void>
}

/**
 * Settles each authorization at most once: the chain accepts its nonce once, and shows after a crash whether it was
 * used. Nonces of transactions come from the account, which settlements may share.
 */
export function createEvmSettlement(
  { token, recipient, gasPerHour }: Pick<EvmSettings, 'token' | 'gasPerHour'> & Pick<PaymentSettings, 'recipient'>,
  account: ChainAccount,
  { require: requireChecked }: Pick<EvmCheck, 'require'>,
): EvmSettlement {
  const { client } = account.node
  const { useOf, ...uses } = createAuthorizationUses(account, { token, recipient })
  const tend = createTending({
    account,
    confirmations: Math.max(TENDED, account.confirmations),
    stuckMs: STUCK_MS,
    resendMs: 0,
    followers: { follows: ({ purpose }) => purpose.startsWith(PURPOSE) },
  })

  /** @throws GazewayError `upstream_unreachable` when the node does not answer */
  async function useNow({ from: payer, nonce, value }: Authorization) {
    return useOf({ payer, nonce, units: BigInt(value) }).catch((error: unknown) => {
      throw chainUnreachable(error)
    })
  }

  return {
    async tryOut(authorization) {
      const args = argumentsOf(authorization)
      try {
        await requireChecked()
        await client.simulateContract({ ...transferOf(token), account: account.address, args })
      } catch (error) {
        if (isUntouched(error)) throw error
        if (!isRevert(error)) throw chainUnreachable(error)
        const use = await useNow(authorization)
        if (use === null) throw refused(error)
        if (!use.isPayment)
          throw new Errors.VerificationFailedError({ reason: 'its authorization was used for something else' })
      }
    },

    async settle(authorization) {
      const data = encodeFunctionData({ ...transferOf(token), args: argumentsOf(authorization) })
      const price = await account.price({ to: token, data }).catch((error: unknown) => {
        throw isRevert(error) ? refused(error) : chainUnreachable(error)
      })
      await requireGas(account, price).catch((error: unknown) => {
        throw error instanceof GazewayError ? error : chainUnreachable(error)
      })
      const sent = await account.send({
        purpose: PURPOSE + authorization.nonce,
        to: token,
        data,
        price,
        async claim(trx, transaction) {
          await requireGasLeft(trx, transaction, { limit: gasPerHour, at: account.now() })
          return true
        },
      })
      const receipt = sent && (await account.mined(sent.nonce, { pollMs: POLL_MS, timeoutMs: CONFIRM_MS }))
      if (!receipt) throw unconfirmed()
      if (receipt.status !== 'success')
        throw new Errors.VerificationFailedError({ reason: 'the token refused the transfer' })
      return receipt.transactionHash
    },

    tend,
    ...uses,
  }
}

/** Rejects a payment early when the account has no gas: no node would accept the transaction. */
async function requireGas({ node, address }: ChainAccount, { gas, fees }: Price): Promise<void> {
  const balance = await node.client.getBalance({ address })
  if (balance < BigInt(gas) * BigInt(fees.maxFee))
    throw paymentsPaused(`The account ${address} cannot pay the gas of a payment. Fund it.`)
}

/** A simulated call that reverted. */
function refused(error: unknown): Error {
  const reverted = (error as BaseError).walk((cause) => cause instanceof ContractFunctionRevertedError)
  const { data, reason } = (reverted ?? {}) as Partial<ContractFunctionRevertedError>
  return new Errors.VerificationFailedError({
    reason: `the token refuses the transfer (${data?.errorName ?? reason ?? 'it gave no reason'})`,
  })
}
