import { randomBytes } from 'node:crypto'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { ChainAccount } from '../chain/account.ts'
import { inCoins } from '../chain/chain-balances.ts'
import { suggestFees } from '../chain/fees.ts'
import { gasFor } from '../chain/gas.ts'
import { isRevert } from '../chain/revert.ts'
import { hasContract, requireDecimals } from '../chain/token-contract.ts'
import { GazewayError } from '../errors.ts'
import { MICROS_PER_USD, type Micros } from '../text/money.ts'
import { type Authorization, argumentsOf, TOKEN } from './authorization.ts'
import type { EvmSettings, PaymentSettings } from './payment-settings.ts'
import { paymentsPaused } from './refusal.ts'

/** Lowest payment when the price of the chain's coin is not known: one cent. */
const FLOOR: Micros = 10_000
/**
 * Gas of a transfer in addition to a transfer of nothing. Two balances change, one of them from zero (EIP-2929: 22,100
 * and 2,900).
 */
const STORAGE_GAS = 25_000
const COIN_DECIMALS = 18
/** A time later than any clock. Fits into 48 bits, in which some tokens store times. */
const FOREVER = 2 ** 47
/** Longest part of a token's name in messages. */
const MAX_NAME = 64

const NAMES = parseAbi([
  'function eip712Domain() view returns (bytes1 fields, string name, string version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] extensions)',
  'function name() view returns (string)',
  'function version() view returns (string)',
])
const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

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
  const call = { address: token, abi: TOKEN, functionName: 'transferWithAuthorization' } as const
  let least = FLOOR
  let running: Promise<string> | null = null
  let passed = false

  async function requireChain(): Promise<void> {
    const id = await client.getChainId()
    if (id !== chainId) throw wrong('mpp.evm.rpc_url', `The node is on chain ${id}, not ${chainId}`)
  }

  /** Signs an authorization of nothing from the account to the recipient, which is never sent. */
  async function authorizationOfNothing(): Promise<Authorization> {
    const signer = privateKeyToAccount(settings.privateKey)
    const nonce: Hex = `0x${randomBytes(32).toString('hex')}`
    const message = {
      from: signer.address,
      to: recipient,
      value: 0n,
      validAfter: 0n,
      validBefore: BigInt(FOREVER),
      nonce,
    }
    const signature = await signer.signTypedData({
      domain: { ...domain, chainId, verifyingContract: token },
      types: TYPES,
      primaryType: 'TransferWithAuthorization',
      message,
    })
    return { ...message, value: '0', validAfter: '0', validBefore: String(FOREVER), signature }
  }

  async function requireDomain(authorization: Authorization): Promise<void> {
    try {
      await client.simulateContract({ ...call, account: address, args: argumentsOf(authorization) })
    } catch (error) {
      if (!isRevert(error)) throw error
      throw wrong(
        'mpp.evm.token_name',
        `The token refuses an authorization for the domain ${named(domain)}${await ownName()}`,
        'mpp.evm.token_name and mpp.evm.token_version, or mpp.evm.token if it is not an EIP-3009 token',
      )
    }
  }

  /** Reads the token's own name and version, when it has them. */
  async function ownName(): Promise<string> {
    const read = <N extends 'eip712Domain' | 'name' | 'version'>(functionName: N) =>
      client.readContract({ address: token, abi: NAMES, functionName }).catch(() => null)
    const domain = (await read('eip712Domain')) as readonly unknown[] | null
    const [name, version] = domain ? [domain[1], domain[2]] : await Promise.all([read('name'), read('version')])
    return typeof name === 'string' ? `; it calls itself ${named({ name, version: String(version ?? '?') })}` : ''
  }

  async function gasOfTransfer(authorization: Authorization): Promise<bigint> {
    const data = encodeFunctionData({ ...call, args: argumentsOf(authorization) })
    const [gas, { maxFee }] = await Promise.all([
      gasFor(node, { account: address, to: token, data }),
      suggestFees(node, account.feeLimit),
    ])
    return BigInt(gas + STORAGE_GAS) * BigInt(maxFee)
  }

  async function ask(): Promise<string> {
    await requireChain()
    if (!(await hasContract(node, token))) throw wrong('mpp.evm.token', `There is no contract at ${token}`)
    await requireDecimals(node, { address: token, symbol: domain.name, decimals }, 'mpp.evm.decimals')
    const authorization = await authorizationOfNothing()
    await requireDomain(authorization)
    const wei = await gasOfTransfer(authorization)
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
      `evm (chain ${chainId}): ${named(domain)}; ${address} has ${inCoins(balance, COIN_DECIMALS)} coins for gas, and ` +
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

function wrong(param: string, fault: string, settings = param): GazewayError {
  return new GazewayError('config_invalid', `${fault}. Correct ${settings}.`, { param })
}

/** Quotes a name of unknown origin for the log. */
const named = ({ name, version }: { name: string; version: string }): string =>
  `${JSON.stringify(name.slice(0, MAX_NAME))} version ${JSON.stringify(version.slice(0, MAX_NAME))}`
