import { Errors } from 'mppx'
import { type BaseError, ContractFunctionRevertedError, encodeFunctionData, type Hex } from 'viem'
import type { ChainAccount, Price } from '../chain/account.ts'
import { isRevert } from '../chain/revert.ts'
import { createTending } from '../chain/tend.ts'
import { GazewayError } from '../errors.ts'
import { type Authorization, argumentsOf, TOKEN } from './authorization.ts'
import { AUTHORIZATION_USED, type AuthorizedPayment, isPaidBy } from './authorization-use.ts'
import type { EvmCheck } from './evm-check.ts'
import { PURPOSE, requireGasLeft } from './gas-budget.ts'
import type { EvmSettings, PaymentSettings } from './payment-settings.ts'
import { chainUnreachable, isUntouched, paymentsPaused, unconfirmed } from './refusal.ts'

/** Timeout of a confirmation and its polling interval, in milliseconds. */
const CONFIRM_MS = 60_000
const POLL_MS = 250
/** Age at which a pending transaction gets a higher fee, in milliseconds. */
const STUCK_MS = 60_000
/** Confirmations after which a transaction is no longer watched. */
const TENDED = 2

/** Settles authorizations with one account, which pays the gas. */
export interface EvmSettlement {
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
  /** Finds the confirmed transaction that carried a payment out; null when there is none. */
  find(payment: AuthorizedPayment): Promise<Hex | null>
  /** Tells whether a transaction signed here may still be mined, or another one has carried the payment out. */
  isOpen(payment: AuthorizedPayment): Promise<boolean>
  /** Tells whether a confirmed transaction used the authorization for something other than its payment. */
  isSpent(payment: AuthorizedPayment): Promise<boolean>
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
  const call = { address: token, abi: TOKEN, functionName: 'transferWithAuthorization' } as const
  const tend = createTending({
    account,
    confirmations: Math.max(TENDED, account.confirmations),
    stuckMs: STUCK_MS,
    resendMs: 0,
    followers: { follows: ({ purpose }) => purpose.startsWith(PURPOSE) },
  })

  async function find(payment: AuthorizedPayment): Promise<Hex | null> {
    // Transactions signed here are found by their hashes, whatever their age.
    const own = await account.transactions.findFor(PURPOSE + payment.nonce)
    const receipt = own && (await account.finalReceipt(own.hashes))
    if (receipt?.status === 'success') return receipt.transactionHash
    const use = await useOf(payment)
    return use?.isPayment && (await account.isFinal(use.receipt)) ? use.receipt.transactionHash : null
  }

  /** Finds the current use of an authorization and tells whether it is the payment; null when unused. */
  async function useOf(payment: AuthorizedPayment) {
    const { payer, nonce } = payment
    const authorization = { authorizer: payer as Hex, nonce: nonce as Hex }
    const used = await client.readContract({
      address: token,
      abi: TOKEN,
      functionName: 'authorizationState',
      args: [authorization.authorizer, authorization.nonce],
    })
    if (!used) return null
    const [event] = await client.getLogs({
      address: token,
      event: AUTHORIZATION_USED,
      args: authorization,
      fromBlock: await recentBlock(),
    })
    // The payer cancelled it, or it was used too long ago to be an interrupted payment.
    if (!event) return null
    const receipt = await account.receiptOf([event.transactionHash])
    if (!receipt)
      throw new GazewayError('upstream_bad_reply', 'The node returned an event but no receipt for it. Check the node.')
    // A transaction signed here uses no other authorization, in whatever order the token logs.
    const own = await account.transactions.findFor(PURPOSE + nonce)
    const isOwn = own?.hashes.includes(receipt.transactionHash) ?? false
    return { receipt, isPayment: isOwn || isPaidBy(receipt, { token, recipient, ...payment }) }
  }

  /** @throws GazewayError `upstream_unreachable` when the node does not answer */
  async function useNow({ from: payer, nonce, value }: Authorization) {
    return useOf({ payer, nonce, units: BigInt(value) }).catch((error: unknown) => {
      throw chainUnreachable(error)
    })
  }

  /** Rejects a payment early when the account has no gas: no node would accept the transaction. */
  async function requireGas({ gas, fees }: Price): Promise<void> {
    const balance = await client.getBalance({ address: account.address })
    if (balance < BigInt(gas) * BigInt(fees.maxFee))
      throw paymentsPaused(`The account ${account.address} cannot pay the gas of a payment. Fund it.`)
  }

  /** Nodes limit the block range of event searches. */
  async function recentBlock(): Promise<bigint> {
    const newest = await client.getBlockNumber()
    return newest > 5000n ? newest - 5000n : 0n
  }

  return {
    async tryOut(authorization) {
      const args = argumentsOf(authorization)
      try {
        await requireChecked()
        await client.simulateContract({ ...call, account: account.address, args })
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
      const { abi, functionName } = call
      const data = encodeFunctionData({ abi, functionName, args: argumentsOf(authorization) })
      const price = await account.price({ to: token, data }).catch((error: unknown) => {
        throw isRevert(error) ? refused(error) : chainUnreachable(error)
      })
      await requireGas(price).catch((error: unknown) => {
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
    find,
    async isOpen(payment) {
      const own = await account.transactions.findFor(PURPOSE + payment.nonce)
      if (own?.status === 'sent' && (await account.finalReceipt(own.hashes)) === null) return true
      return (await useOf(payment))?.isPayment ?? false
    },
    async isSpent(payment) {
      const use = await useOf(payment)
      return use !== null && !use.isPayment && (await account.isFinal(use.receipt))
    },
  }
}

/** A simulated call that reverted. */
function refused(error: unknown): Error {
  const reverted = (error as BaseError).walk((cause) => cause instanceof ContractFunctionRevertedError)
  const { data, reason } = (reverted ?? {}) as Partial<ContractFunctionRevertedError>
  return new Errors.VerificationFailedError({
    reason: `the token refuses the transfer (${data?.errorName ?? reason ?? 'it gave no reason'})`,
  })
}
