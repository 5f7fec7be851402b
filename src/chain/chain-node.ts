import { BaseError, createPublicClient, HttpRequestError, type HttpTransportConfig, http, TimeoutError } from 'viem'
import { redactText, withKeysOf } from '../config/redact.ts'
import { GazewayError } from '../errors.ts'
import { cut } from '../text/cut.ts'
import { networkFetch } from '../wire/network-fetch.ts'

/** Longest reply of a node in bytes. */
const MAX_ANSWER = 8 * 1024 * 1024
const MAX_FAULT = 200

/** JSON-RPC client of a chain's node. */
export interface Node {
  chainId: number
  client: ReturnType<typeof connect>
  /**
   * Checks that the node is on the configured chain.
   *
   * @throws GazewayError `upstream_bad_reply` on another chain; viem's error when it does not answer
   */
  verify(): Promise<void>
  /** Describes an error for the operator, without the node's URL, which may contain a secret. */
  faultOf(error: unknown): string
}

/** Address and timeout of a node. */
export interface NodeAddress {
  chainId: number
  rpcUrl: string
  timeoutMs: number
}

/** Opens a client without retries: callers poll anyway. */
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

/** Transport of viem to a node, through the proxy of its address if it has one. */
export const nodeTransport = (rpcUrl: string, options: HttpTransportConfig = {}) =>
  http(rpcUrl, { ...options, fetchFn: (url, init) => networkFetch(url instanceof Request ? url.url : url, init) })

function connect(rpcUrl: string, timeoutMs: number) {
  return createPublicClient({
    cacheTime: 0,
    transport: nodeTransport(rpcUrl, { timeout: timeoutMs, retryCount: 0, maxResponseBodySize: MAX_ANSWER }),
  })
}

function wrongChain(expected: number, found: number): GazewayError {
  return new GazewayError(
    'upstream_bad_reply',
    `The node is on chain ${found}, not ${expected}. Check chain.rpc_urls.${expected}.`,
  )
}

function fault(error: unknown, rpcUrl: string, timeoutMs: number): string {
  if (error instanceof GazewayError) return error.message
  if (error instanceof RangeError) return error.message
  if (!(error instanceof BaseError)) return 'The node did not answer with JSON-RPC.'
  if (error.walk((cause) => cause instanceof TimeoutError)) return `The node did not answer within ${timeoutMs} ms.`
  const ofProxy = error.walk((cause) => cause instanceof GazewayError)
  if (ofProxy instanceof GazewayError) return ofProxy.message
  const failed = error.walk((cause) => cause instanceof HttpRequestError)
  if (failed instanceof HttpRequestError)
    return failed.status === undefined ? 'The node cannot be reached.' : `The node answered HTTP ${failed.status}.`
  const message = redactText(error.details || error.shortMessage, withKeysOf(rpcUrl))
  return message.length > MAX_FAULT ? `${cut(message, 0, MAX_FAULT)}…` : message
}
