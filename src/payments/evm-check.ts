import { encodeFunctionData, type Hex } from 'viem'
import type { ChainAccount } from '../chain/account.ts'
import { inCoins } from '../chain/chain-balances.ts'
import { suggestFees } from '../chain/fees.ts'
import { gasFor } from '../chain/gas.ts'
import { hasContract, requireDecimals } from '../chain/token-contract.ts'
import { GazewayError } from '../errors.ts'
import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import { type Authorization, argumentsOf } from './authorization.ts'
import type { EvmSettings, PaymentSettings } from './payment-settings.ts'
import { paymentsPaused } from './refusal.ts'
import { quotedName, requireDomain, transferOf, wrongSetting } from './token-domain.ts'

/** Lowest payment when the price of the chain's coin is not known: one cent. */
const FLOOR: Micros = 10_000
/**
 * Gas of a transfer in addition to a transfer of nothing. Two balances change, one of them from zero (EIP-2929: 22,100
 * and 2,900).
 */
const STORAGE_GAS = 25_000
const COIN_DECIMALS = 18
/** Check of an EVM payment configuration. */
export interface EvmCheck {
  /**
   * Checks that the token exists, has the configured decimals and accepts signatures for the configured domain, and
   * that the account can pay gas. Tries the token with an authorization of nothing.
   *
   * @returns a description of the result
   * @throws GazewayError
   * - `config_invalid` with the wrong setting
   * - `upstream_unreachable` when the node does not answer
   * - `payments_paused` without gas
   */
  run(): Promise<string>
  /** Runs the check until it has passed once. */
  require(): Promise<void>
  /** Lowest payment: a cent, or the gas of a transfer. */
  least(): Micros
}

/** Creates the check of a token and of the account that pays gas. */
export function createEvmCheck(
  settings: EvmSettings,
  { recipient }: Pick<PaymentSettings, 'recipient'>,
  account: ChainAccount,
): EvmCheck {
  const { token, domain, chainId, decimals, coinUsd, gasPerHour } = settings
  const { node, address } = account
  const { client } = node
  let least = FLOOR
  let running: Promise<string> | null = null
  let passed = false

  async function requireChain(): Promise<void> {
    const id = await client.getChainId()
    if (id !== chainId) throw wrongSetting('mpp.evm.rpc_url', `The node is on chain ${id}, not ${chainId}`)
  }

  async function ask(): Promise<string> {
    await requireChain()
    if (!(await hasContract(node, token))) throw wrongSetting('mpp.evm.token', `There is no contract at ${token}`)
    await requireDecimals(node, { address: token, symbol: domain.name, decimals }, 'mpp.evm.decimals')
    const authorization = await requireDomain(settings, { recipient, account })
    const wei = await gasOfTransfer(account, token, authorization)
    const coins = Number(wei) / 10 ** COIN_DECIMALS
    if (coinUsd !== null) least = Math.max(FLOOR, Math.ceil(coins * coinUsd * MICROS_PER_USD))
    const balance = await client.getBalance({ address })
    if (balance < wei) throw paymentsPaused(`${address} has no gas for a payment on chain ${chainId}. Fund it.`)
    if (coins > gasPerHour)
      throw paymentsPaused(
        `A payment costs up to ${coins} coins of gas, but mpp.evm.max_gas_per_hour is ${gasPerHour}. Raise it.`,
      )
    const perHour = Math.floor(gasPerHour / coins)
    return (
      `evm (chain ${chainId}): ${quotedName(domain)}; ${address} has ${inCoins(balance, COIN_DECIMALS)} coins for gas, and ` +
      `mpp.evm.max_gas_per_hour allows ${perHour} payments${coinUsd === null ? '; set mpp.evm.coin_usd to compare prices with gas' : ''}`
    )
  }

  async function run(): Promise<string> {
    try {
      const found = await ask()
      passed = true
      return found
    } catch (error) {
      if (error instanceof GazewayError && (error.code === 'config_invalid' || error.code === 'payments_paused'))
        throw error
      throw new GazewayError('upstream_unreachable', `mpp.evm.rpc_url: ${node.faultOf(error)}`, {
        param: 'mpp.evm.rpc_url',
        cause: error,
      })
    }
  }

  return {
    run,
    async require() {
      if (passed) return
      running ??= run().finally(() => {
        running = null
      })
      await running
    },
    least: () => least,
  }
}

async function gasOfTransfer(
  { node, address, feeLimit }: ChainAccount,
  token: Hex,
  authorization: Authorization,
): Promise<bigint> {
  const data = encodeFunctionData({ ...transferOf(token), args: argumentsOf(authorization) })
  const [gas, { maxFee }] = await Promise.all([
    gasFor(node, { account: address, to: token, data }),
    suggestFees(node, feeLimit),
  ])
  return BigInt(gas + STORAGE_GAS) * BigInt(maxFee)
}
