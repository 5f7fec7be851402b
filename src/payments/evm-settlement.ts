import { setTimeout as delay } from 'node:timers/promises'
import { Errors } from 'mppx'
import {
  BaseError,
  ContractFunctionRevertedError,
  createPublicClient,
  createWalletClient,
  defineChain,
  type Hex,
  http,
  parseAbi,
  parseSignature,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { EvmSettings } from './settings.ts'

/** EIP-3009, as far as it is used here. */
const TOKEN = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
])
/** How long a transaction may take to be mined, and how often it is looked for, in milliseconds. */
const CONFIRM_MS = 60_000
const POLL_MS = 250
/** How often a transaction is signed anew when another process took its number. */
const ATTEMPTS = 8
const TAKEN = /nonce too low|nonce is lower|already known|replacement transaction underpriced/i

/** A signed authorization to move tokens (EIP-3009 `TransferWithAuthorization`). Amounts and times are decimal text. */
export interface Authorization {
  from: string
  to: string
  value: string
  validAfter: string
  validBefore: string
  nonce: string
  signature: string
}

/** Settles authorizations with one account, which pays the gas. */
export interface EvmSettlement {
  /**
   * Checks that the token would carry an authorization out now. One that was carried out already passes.
   *
   * @throws mppx `VerificationFailedError` when the token refuses it; viem's error when the chain cannot be asked
   */
  tryOut(authorization: Authorization): Promise<void>
  /**
   * Carries an authorization out and waits until it is mined.
   *
   * @returns the transaction's hash
   * @throws mppx `VerificationFailedError` when the token refuses it; other errors leave open what became of it
   */
  settle(authorization: Authorization): Promise<Hex>
  /** The transaction that used an authorization; null while none did. */
  find(payer: string, nonce: string): Promise<Hex | null>
}

/**
 * An authorization moves money once, whatever transaction carries it: so transactions need not be remembered to be sent
 * again, and the chain itself tells after a crash whether one went through.
 */
export function createEvmSettlement({ chainId, rpcUrl, token, privateKey }: EvmSettings): EvmSettlement {
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: 'native', symbol: 'NATIVE', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  const account = privateKeyToAccount(privateKey)
  const reader = createPublicClient({ chain, transport: http(rpcUrl), pollingInterval: POLL_MS })
  const writer = createWalletClient({ chain, transport: http(rpcUrl), account })
  const call = { address: token, abi: TOKEN, functionName: 'transferWithAuthorization' } as const
  // One after the other, so that each transaction of this process has a number of its own.
  let last: Promise<unknown> = Promise.resolve()

  async function send(authorization: Authorization): Promise<Hex> {
    for (let attempt = 1; ; attempt++) {
      try {
        const nonce = await reader.getTransactionCount({ address: account.address, blockTag: 'pending' })
        return await writer.writeContract({ ...call, args: argumentsOf(authorization), nonce })
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof BaseError) || !TAKEN.test(error.message)) throw error
        await delay(attempt * 50 * Math.random())
      }
    }
  }

  async function find(payer: string, nonce: string): Promise<Hex | null> {
    const authorization = { authorizer: payer as Hex, nonce: nonce as Hex }
    const used = await reader.readContract({
      address: token,
      abi: TOKEN,
      functionName: 'authorizationState',
      args: [authorization.authorizer, authorization.nonce],
    })
    if (!used) return null
    const [event] = await reader.getContractEvents({
      address: token,
      abi: TOKEN,
      eventName: 'AuthorizationUsed',
      args: authorization,
      fromBlock: await recentBlock(),
    })
    // Cancelled by its payer, or used so long ago that it is no payment that was interrupted.
    return event?.transactionHash ?? null
  }

  /** Nodes limit how far back events are searched. */
  async function recentBlock(): Promise<bigint> {
    const newest = await reader.getBlockNumber()
    return newest > 5000n ? newest - 5000n : 0n
  }

  return {
    async tryOut(authorization) {
      try {
        await reader.simulateContract({ ...call, account, args: argumentsOf(authorization) })
      } catch (error) {
        const reverted =
          error instanceof BaseError ? error.walk((cause) => cause instanceof ContractFunctionRevertedError) : null
        if (!(reverted instanceof ContractFunctionRevertedError)) throw error
        if ((await find(authorization.from, authorization.nonce)) !== null) return
        const reason = reverted.data?.errorName ?? reverted.reason ?? 'it gave no reason'
        throw new Errors.VerificationFailedError({ reason: `the token refuses the transfer (${reason})` })
      }
    },

    async settle(authorization) {
      const turn = last.then(() => send(authorization))
      last = turn.catch(() => undefined)
      const hash = await turn
      const { status } = await reader.waitForTransactionReceipt({ hash, timeout: CONFIRM_MS })
      if (status !== 'success') throw new Errors.VerificationFailedError({ reason: 'the token refused the transfer' })
      return hash
    },

    find,
  }
}

function argumentsOf({ from, to, value, validAfter, validBefore, nonce, signature }: Authorization) {
  const { r, s, yParity } = parseSignature(signature as Hex)
  return [
    from as Hex,
    to as Hex,
    BigInt(value),
    BigInt(validAfter),
    BigInt(validBefore),
    nonce as Hex,
    27 + yParity,
    r,
    s,
  ] as const
}
