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

/** How long a transaction may take until its block is deep enough, and how often it is looked for, in milliseconds. */
const CONFIRM_MS = 60_000
const POLL_MS = 250
/** How long one may wait before its fee is raised, in milliseconds. */
const STUCK_MS = 60_000
/** Blocks that hold a transaction before it is looked after no more, however soon it counts. */
const TENDED = 2

/** Settles authorizations with one account, which pays the gas. */
export interface EvmSettlement {
  /**
   * Checks that the token would carry an authorization out now. One that was carried out already passes; one whose nonce was
   * used for something else does not.
   *
   * @throws mppx `VerificationFailedError` when the token refuses it; GazewayError `upstream_unreachable` when the chain cannot
   *   be asked
   */
  tryOut(authorization: Authorization): Promise<void>
  /**
   * Carries an authorization out and waits until its block is as deep as the chain is configured to need it.
   *
   * @returns the transaction's hash
   * @throws mppx `VerificationFailedError` when the token refuses it; GazewayError `upstream_unreachable` when the chain cannot
   *   be asked and `payments_paused` without gas, before anything is signed; other errors leave open what became of it
   */
  settle(authorization: Authorization): Promise<Hex>
  /** Looks after transactions that are in no block yet: sends them again, raises the fee of what is stuck. */
  tend(): Promise<void>
  /** The transaction that carried a payment out, in a block that is deep enough; null while there is none. */
  find(payment: AuthorizedPayment): Promise<Hex | null>
  /** Whether the chain may yet take a transaction that was signed here for a payment, or another one has carried it out. */
  isOpen(payment: AuthorizedPayment): Promise<boolean>
  /** Whether the authorization was used for something else than its payment, in a block that is deep enough. */
  isSpent(payment: AuthorizedPayment): Promise<boolean>
}

/**
 * An authorization moves money once, whatever transaction carries it, and the chain itself tells after a crash whether one
 * went through. The transactions get their numbers where settlements do: they may share the account.
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
    // What was signed here is known by its hashes, however long ago that was.
    const own = await account.transactions.findFor(PURPOSE + payment.nonce)
    const receipt = own && (await account.finalReceipt(own.hashes))
    if (receipt?.status === 'success') return receipt.transactionHash
    const use = await useOf(payment)
    return use?.isPayment && (await account.isFinal(use.receipt)) ? use.receipt.transactionHash : null
  }

  /** Where an authorization was used, as far as the chain tells now, and whether for its payment; null where it was not. */
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
    // Cancelled by its payer, or used by somebody else so long ago that it is no payment that was interrupted.
    if (!event) return null
    const receipt = await account.receiptOf([event.transactionHash])
    if (!receipt) throw new GazewayError('upstream_bad_reply', 'The node tells of an event, and of no receipt for it.')
    // What was signed here carries out nothing else, in whatever order the token tells of it.
    const own = await account.transactions.findFor(PURPOSE + nonce)
    const isOwn = own?.hashes.includes(receipt.transactionHash) ?? false
    return { receipt, isPayment: isOwn || isPaidBy(receipt, { token, recipient, ...payment }) }
  }

  /** @throws GazewayError `upstream_unreachable` when the chain cannot be asked */
  async function useNow({ from: payer, nonce, value }: Authorization) {
    return useOf({ payer, nonce, units: BigInt(value) }).catch((error: unknown) => {
      throw chainUnreachable(error)
    })
  }

  /** Without gas a node takes no transaction, and its payer would wait in vain. */
  async function requireGas({ gas, fees }: Price): Promise<void> {
    const balance = await client.getBalance({ address: account.address })
    if (balance < BigInt(gas) * BigInt(fees.maxFee))
      throw paymentsPaused(`The account ${account.address} cannot pay the gas of a payment. Send it some.`)
  }

  /** Nodes limit how far back events are searched. */
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

/** A call that was only tried out has reverted. */
function refused(error: unknown): Error {
  const reverted = (error as BaseError).walk((cause) => cause instanceof ContractFunctionRevertedError)
  const { data, reason } = (reverted ?? {}) as Partial<ContractFunctionRevertedError>
  return new Errors.VerificationFailedError({
    reason: `the token refuses the transfer (${data?.errorName ?? reason ?? 'it gave no reason'})`,
  })
}
