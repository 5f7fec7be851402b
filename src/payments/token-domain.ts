import { randomBytes } from 'node:crypto'
import { type Hex, parseAbi } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { ChainAccount } from '../chain/account.ts'
import type { Node } from '../chain/chain-node.ts'
import { isRevert } from '../chain/revert.ts'
import { GazewayError } from '../errors.ts'
import { type Authorization, argumentsOf, TOKEN } from './authorization.ts'
import type { EvmSettings } from './payment-settings.ts'

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

/** Call of a token's transfer with an authorization, without its arguments. */
export const transferOf = (token: Hex) =>
  ({ address: token, abi: TOKEN, functionName: 'transferWithAuthorization' }) as const

/**
 * Checks that the token accepts signatures for the configured domain: tries it with an authorization of nothing.
 *
 * @returns the authorization
 * @throws GazewayError `config_invalid`
 */
export async function requireDomain(
  settings: EvmSettings,
  { recipient, account }: { recipient: Hex; account: ChainAccount },
): Promise<Authorization> {
  const { token, domain } = settings
  const { client } = account.node
  const authorization = await authorizationOfNothing(settings, recipient)
  try {
    await client.simulateContract({ ...transferOf(token), account: account.address, args: argumentsOf(authorization) })
    return authorization
  } catch (error) {
    if (!isRevert(error)) throw error
    throw wrongSetting(
      'mpp.evm.token_name',
      `The token refuses an authorization for the domain ${quotedName(domain)}${await ownName(client, token)}`,
      'mpp.evm.token_name and mpp.evm.token_version, or mpp.evm.token if it is not an EIP-3009 token',
    )
  }
}

/** Signs an authorization of nothing from the account to the recipient, which is never sent. */
async function authorizationOfNothing(
  { token, domain, chainId, privateKey }: EvmSettings,
  recipient: Hex,
): Promise<Authorization> {
  const signer = privateKeyToAccount(privateKey)
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

/** Reads the token's own name and version, when it has them. */
async function ownName(client: Node['client'], token: Hex): Promise<string> {
  const read = <N extends 'eip712Domain' | 'name' | 'version'>(functionName: N) =>
    client.readContract({ address: token, abi: NAMES, functionName }).catch(() => null)
  const domain = (await read('eip712Domain')) as readonly unknown[] | null
  const [name, version] = domain ? [domain[1], domain[2]] : await Promise.all([read('name'), read('version')])
  return typeof name === 'string' ? `; it calls itself ${quotedName({ name, version: String(version ?? '?') })}` : ''
}

/** @param settings the settings to correct */
export function wrongSetting(param: string, fault: string, settings = param): GazewayError {
  return new GazewayError('config_invalid', `${fault}. Correct ${settings}.`, { param })
}

/** Quotes a name of unknown origin for the log. */
export const quotedName = ({ name, version }: { name: string; version: string }): string =>
  `${JSON.stringify(name.slice(0, MAX_NAME))} version ${JSON.stringify(version.slice(0, MAX_NAME))}`
