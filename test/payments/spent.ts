import { Credential } from 'mppx'
import { type Hex, parseSignature } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Token } from '../chain/token.ts'

/** EIP-3009's typed data. */
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

/** Arguments of `transferWithAuthorization` in a credential of the method `evm`. */
export function authorizedBy(credential: string): readonly unknown[] {
  const { from, to, value, validAfter, validBefore, nonce, signature } =
    Credential.deserialize<Record<string, string>>(credential).payload
  return [from, to, value, validAfter, validBefore, nonce, ...partsOf(signature as Hex)]
}

/** Another authorization of the credential's payer under the same nonce: for nothing, to himself, unless told otherwise. */
export async function spentBy(
  credential: string,
  account: PrivateKeyAccount,
  { token, chainId, to = account.address, value = 0n }: { token: Token; chainId: number; to?: Hex; value?: bigint },
): Promise<readonly unknown[]> {
  const { payload } = Credential.deserialize<Record<string, string>>(credential)
  const [validAfter, validBefore] = [0n, BigInt(payload.validBefore as string)]
  const nonce = payload.nonce as Hex
  const signature = await account.signTypedData({
    domain: { ...token.domain, chainId, verifyingContract: token.address },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: { from: account.address, to, value, validAfter, validBefore, nonce },
  })
  return [account.address, to, value, validAfter, validBefore, nonce, ...partsOf(signature)]
}

/** The credential with its authorization signed anew, valid until another moment, as a wallet other than mppx's may sign it. */
export async function validUntil(
  credential: string,
  account: PrivateKeyAccount,
  { token, chainId, until }: { token: Token; chainId: number; until: Date },
): Promise<string> {
  const parsed = Credential.deserialize<Record<string, string>>(credential)
  const { from, to, value, validAfter, nonce } = parsed.payload as Record<string, Hex>
  const validBefore = Math.floor(until.getTime() / 1000)
  const signature = await account.signTypedData({
    domain: { ...token.domain, chainId, verifyingContract: token.address },
    types: TYPES,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...{ from: from as Hex, to: to as Hex, nonce: nonce as Hex },
      ...{ value: BigInt(value as Hex), validAfter: BigInt(validAfter as Hex), validBefore: BigInt(validBefore) },
    },
  })
  return Credential.serialize({
    ...parsed,
    payload: { ...parsed.payload, validBefore: String(validBefore), signature },
  })
}

function partsOf(signature: Hex): readonly unknown[] {
  const { r, s, yParity } = parseSignature(signature)
  return [27 + yParity, r, s]
}
