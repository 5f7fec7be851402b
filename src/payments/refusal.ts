import { Errors } from 'mppx'
import {
  BaseError,
  CallExecutionError,
  ContractFunctionExecutionError,
  EstimateGasExecutionError,
  HttpRequestError,
  LimitExceededRpcError,
  ResourceUnavailableRpcError,
  SocketClosedError,
  TimeoutError,
  WebSocketRequestError,
} from 'viem'
import { GazewayError } from '../errors.ts'

/** Errors of a node that did not answer. They say nothing about a payment. */
const UNREACHABLE = [
  HttpRequestError,
  TimeoutError,
  SocketClosedError,
  WebSocketRequestError,
  LimitExceededRpcError,
  ResourceUnavailableRpcError,
]
/** Errors of simulated transactions. */
const TRIED_OUT = [CallExecutionError, ContractFunctionExecutionError, EstimateGasExecutionError]

/** Tells whether the node did not answer, so that the outcome of a payment is unknown. */
export function isUnreachable(error: unknown): boolean {
  return isOf(UNREACHABLE, error)
}

/**
 * Explains to the sender why a credential was refused.
 *
 * @returns null for an error that is not a refusal
 */
export function refusalOf(error: unknown): string | null {
  if (error instanceof Errors.PaymentError) return error.status < 500 ? error.message : null
  // The chain's reply to a simulated transaction, such as too few tokens or a used authorization. A reply to a sent
  // transaction is no refusal: the chain may still accept it.
  if (error instanceof BaseError && isOf(TRIED_OUT, error) && !isUnreachable(error))
    return `Payment verification failed: ${error.shortMessage}`
  return null
}

const isOf = (kinds: readonly (new (...args: never[]) => BaseError)[], error: unknown): boolean =>
  error instanceof BaseError && error.walk((cause) => kinds.some((kind) => cause instanceof kind)) !== null

/** Error for a request that must be paid. */
export function paymentRequired(message: string, cause?: unknown): GazewayError {
  return new GazewayError('payment_required', message, { cause })
}

/** Error for a node that did not answer before any money moved. */
export function chainUnreachable(cause: unknown): GazewayError {
  return new GazewayError(
    'upstream_unreachable',
    'The chain that settles payments cannot be reached; no money was moved. Retry later.',
    { cause },
  )
}

/** Error for a payment with an unknown outcome. */
export function unconfirmed(cause?: unknown): GazewayError {
  return new GazewayError(
    'upstream_timeout',
    'The chain did not confirm the payment in time. If it confirms later, the amount is credited to your account.',
    { cause },
  )
}

/** `Retry-After` of a pause, in seconds. */
const PAUSE_SECONDS = 300

/** Error while payments are paused; no payment was taken. The cause for the operator goes only to the log. */
export function paymentsPaused(why: string): GazewayError {
  return new GazewayError('payments_paused', 'Payments are paused; no money was moved. Retry later.', {
    cause: new Error(why),
    retryAfterSeconds: PAUSE_SECONDS,
  })
}

/** Tells whether a payment failed before it was signed or sent. */
export const isUntouched = (error: unknown): boolean =>
  error instanceof GazewayError && (error.code === 'upstream_unreachable' || error.code === 'payments_paused')
