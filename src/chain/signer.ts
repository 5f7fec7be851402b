import { keccak256 } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { GazewayError } from '../errors.ts'
import type { Fees } from './fees.ts'

/** A transaction that moves no native coin, before it is signed. */
export interface Unsigned {
  chainId: number
  nonce: number
  to: `0x${string}`
  data: `0x${string}`
  gas: number
  fees: Fees
}

/** Signs with the wallet's key, which it does not let out. */
export interface Signer {
  /** In lower case. */
  address: `0x${string}`
  /** Whether the key is here; without it nothing can be signed, and `sign` throws {@link keyMissing}. */
  hasKey: boolean
  /** @returns the bytes to send, and the hash that the chain will know them by */
  sign(transaction: Unsigned): Promise<{ raw: `0x${string}`; hash: `0x${string}` }>
}

/** @param privateKey `wallet.private_key` */
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

/** An account whose key is not here: what it has signed before can be followed and sent again. */
export function watchOnly(address: string): Signer {
  return {
    address: address as `0x${string}`,
    hasKey: false,
    sign: () => Promise.reject(keyMissing(address)),
  }
}

/** Says which account's key is needed to go on with what that account has signed. */
export const keyMissing = (address: string): GazewayError =>
  new GazewayError(
    'config_invalid',
    `It was signed by the account ${address}, whose key is not set any more, and no other account pays it while that may ` +
      `still be taken. If it stays so, set GAZEWAY_WALLET_PRIVATE_KEY back to the key of ${address} until it is confirmed.`,
  )
