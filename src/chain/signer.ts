import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { GazewayError } from '../errors.ts'
import type { Fees } from './fees.ts'

/** An unsigned transaction that moves no native coin. */
export interface Unsigned {
  chainId: number
  nonce: number
  to: `0x${string}`
  data: `0x${string}`
  gas: number
  fees: Fees
}

/** Signs with the wallet's key without exposing it. */
export interface Signer {
  /** In lower case. */
  address: `0x${string}`
  /** The key is present; without it, `sign` throws {@link keyMissing}. */
  hasKey: boolean
  /** @returns the signed bytes and their transaction hash */
  sign(transaction: Unsigned): Promise<{ raw: `0x${string}`; hash: `0x${string}` }>
}

/** Creates the signer of a private key. @param privateKey `wallet.private_key` */
export function createSigner(privateKey: string): Signer {
  const account = privateKeyToAccount(privateKey as `0x${string}`)
  return {
    address: account.address.toLowerCase() as `0x${string}`,
    hasKey: true,
    async sign({ gas, fees, ...transaction }) {
      const common = { ...transaction, gas: BigInt(gas), value: 0n }
      const raw = await account.signTransaction(
        fees.priorityFee === null
          ? { ...common, type: 'legacy', gasPrice: BigInt(fees.maxFee) }
          : {
              ...common,
              type: 'eip1559',
              maxFeePerGas: BigInt(fees.maxFee),
              maxPriorityFeePerGas: BigInt(fees.priorityFee),
            },
      )
      return { raw, hash: keccak256(raw) }
    },
  }
}

/** An account without its key: its transactions can be watched and resent. */
export function watchOnly(address: string): Signer {
  return {
    address: address as `0x${string}`,
    hasKey: false,
    sign: () => Promise.reject(keyMissing(address)),
  }
}

/** Error that names the account whose key is needed. */
export const keyMissing = (address: string): GazewayError =>
  new GazewayError(
    'config_invalid',
    `It was signed by the account ${address}, whose key is no longer set. No other account pays it while that transaction may ` +
      `still be mined. If it stays pending, set GAZEWAY_WALLET_PRIVATE_KEY back to the key of ${address} until it is confirmed.`,
  )
