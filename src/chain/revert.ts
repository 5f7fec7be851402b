import { BaseError, RpcRequestError } from 'viem'

/** Error codes of a reverted call; the second is Nethermind's. */
const CODES = [3, -32_015]

/** Tells whether a call reverts on the chain, as when the token refuses it. Other errors say nothing about the call. */
export function isRevert(error: unknown): boolean {
  return error instanceof BaseError && error.walk(saysSo) !== null
}

/** Some nodes report a revert in words only, under a general code. */
const saysSo = (cause: unknown): boolean =>
  cause instanceof RpcRequestError && (CODES.includes(cause.code) || /revert/i.test(cause.details))
