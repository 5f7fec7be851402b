import { BaseError, RpcRequestError } from 'viem'

/** What nodes call a call that reverts; Nethermind has a code of its own. */
const CODES = [3, -32_015]

/**
 * Whether a node says that the call itself fails on the chain, as it does where the token refuses. Any other error says
 * nothing of the call: the node could not tell.
 */
export function isRevert(error: unknown): boolean {
  return error instanceof BaseError && error.walk(saysSo) !== null
}

/** Some say it in words alone, with a code that stands for any fault. */
const saysSo = (cause: unknown): boolean =>
  cause instanceof RpcRequestError && (CODES.includes(cause.code) || /revert/i.test(cause.details))
