import { BaseError, createPublicClient, HttpRequestError, http, TimeoutError } from 'viem'
import { redactText, withKeysOf } from '../config/redact.ts'
import { GazewayError } from '../errors.ts'
import { cut } from '../text/cut.ts'

/** The most that a node may answer, in bytes. */
const MAX_ANSWER = 8 * 1024 * 1024
const MAX_FAULT = 200

/** A node of a chain, asked over JSON-RPC. */
export interface Node {
  chainId: number
  client: ReturnType<typeof connect>
  /**
   * Asks the node for its chain's id.
   *
   * @throws GazewayError `upstream_bad_reply` when it is another chain's; viem's error when it cannot be asked
   */
  verify(): Promise<void>
  /** What went wrong with a call, in words for whoever operates Gazeway: never with the node's URL, or a key in that. */
  faultOf(error: unknown): string
}

/** Where a node is, and how long it may take. */
export interface NodeAddress {
  chainId: number
  rpcUrl: string
  timeoutMs: number
}

/** A node that is asked without trying again: whoever asks looks again anyway. */
export function openNode({ chainId, rpcUrl, timeoutMs }: NodeAddress): Node {
  const client = connect(rpcUrl, timeoutMs)
  return {
    chainId,
    client,
    async verify() {
      const id = await client.getChainId()
      if (id !== chainId) throw wrongChain(chainId, id)
    },
    faultOf: (error) => fault(error, rpcUrl, timeoutMs),
  }
}

function connect(rpcUrl: string, timeoutMs: number) {
  return createPublicClient({
    cacheTime: 0,
    transport: http(rpcUrl, { timeout: timeoutMs, retryCount: 0, maxResponseBodySize: MAX_ANSWER }),
  })
}

function wrongChain(expected: number, found: number): GazewayError {
  return new GazewayError(
    'upstream_bad_reply',
    `The node says that it is of chain ${found}, not ${expected}. Check chain.rpc_urls.${expected}.`,
  )
}

function fault(error: unknown, rpcUrl: string, timeoutMs: number): string {
  if (error instanceof GazewayError) return error.message
  if (error instanceof RangeError) return error.message
  if (!(error instanceof BaseError)) return 'The node answered something that is no JSON-RPC.'
  if (error.walk((cause) => cause instanceof TimeoutError)) return `The node did not answer within ${timeoutMs} ms.`
  const failed = error.walk((cause) => cause instanceof HttpRequestError)
  if (failed instanceof HttpRequestError)
    return failed.status === undefined ? 'The node cannot be reached.' : `The node answered HTTP ${failed.status}.`
  const told = redactText(error.details || error.shortMessage, withKeysOf(rpcUrl))
  return told.length > MAX_FAULT ? `${cut(told, 0, MAX_FAULT)}…` : told
}
