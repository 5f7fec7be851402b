import type { ChainAccount } from './account.ts'
import { bumpFees, suggestFees } from './fees.ts'
import { EMPTY_GAS, gasFor } from './gas.ts'
import { isRevert } from './revert.ts'
import type { Replacement, SentTransaction } from './transactions.ts'

/** Gas of a transaction whose call would fail now: more than a transfer needs, and little compared to a block. */
const FAILING_GAS = 500_000

/** Signs a transaction again with a higher fee. @returns null when the fee would exceed the account's limit */
export async function signReplacement(
  { node, address, signer, feeLimit, now }: ChainAccount,
  { nonce, max_fee, priority_fee, hashes, to_address, data }: SentTransaction,
): Promise<Replacement | null> {
  const fees = bumpFees({ maxFee: max_fee, priorityFee: priority_fee }, await suggestFees(node, feeLimit), feeLimit)
  if (fees === null) return null
  const call = { to: to_address as `0x${string}`, data: data as `0x${string}` }
  // The gas may be the reason. Even a failing call must use the nonce, because all later ones wait for it.
  const gas = await gasFor(node, { account: address, ...call }).catch(failingGas)
  const { raw, hash } = await signer.sign({ chainId: node.chainId, nonce, ...call, gas, fees })
  const paid = { max_fee: fees.maxFee, priority_fee: fees.priorityFee }
  return { raw, gas, hashes: [...hashes, hash], ...paid, signed_at: now().toISOString() }
}

/** Signs a transaction that only uses a nonce. */
export async function signEmpty({ node, address, signer, feeLimit }: ChainAccount, nonce: number) {
  const fees = await suggestFees(node, feeLimit)
  const { raw } = await signer.sign({ chainId: node.chainId, nonce, to: address, data: '0x', gas: EMPTY_GAS, fees })
  return raw
}

function failingGas(error: unknown): number {
  if (isRevert(error)) return FAILING_GAS
  throw error
}
