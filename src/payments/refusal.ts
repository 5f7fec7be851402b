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

/** Errors that say nothing about a payment, only that the chain's node could not be asked. */
const UNREACHABLE = [
  HttpRequestError,
  TimeoutError,
  SocketClosedError,
  WebSocketRequestError,
  LimitExceededRpcError,
  ResourceUnavailableRpcError,
]
/** Errors of transactions that were only tried out. */
const TRIED_OUT = [CallExecutionError, ContractFunctionExecutionError, EstimateGasExecutionError]

/** Whether the chain's node could not be asked: what became of a payment is then not known. */
export function isUnreachable(error: unknown): boolean {
  return isOf(UNREACHABLE, error)
}

/**
 * Why a credential was refused, in words for who sent it.
 *
 * @returns null for an error that is no refusal
 */
export function refusalOf(error: unknown): string | null {
  if (error instanceof Errors.PaymentError) return error.status < 500 ? error.message : null
  // What the chain answered to a transaction that was tried out: not enough tokens, an authorization used before. What it
  // answers to one that was sent is no refusal: it may take that all the same.
  if (error instanceof BaseError && isOf(TRIED_OUT, error) && !isUnreachable(error))
    return `Payment verification failed: ${error.shortMessage}`
  return null
}

const isOf = (kinds: readonly (new (...args: never[]) => BaseError)[], error: unknown): boolean =>
  error instanceof BaseError && error.walk((cause) => kinds.some((kind) => cause instanceof kind)) !== null

/** The refusal of a request that has yet to be paid. */
export function paymentRequired(message: string, cause?: unknown): GazewayError {
  return new GazewayError('payment_required', message, { cause })
}

/** The node of a chain could not be asked before any money moved. */
export function chainUnreachable(cause: unknown): GazewayError {
  return new GazewayError(
    'upstream_unreachable',
    'The chain that payments are settled on cannot be reached; no money was moved. Try again later.',
    { cause },
  )
}

/** What became of a payment is not known yet. */
export function unconfirmed(cause?: unknown): GazewayError {
  return new GazewayError(
    'upstream_timeout',
    'The chain has not confirmed the payment in time. If it does later, the amount is credited to your account.',
    { cause },
  )
}

/** How long whoever meets a pause is asked to wait, in seconds. */
const PAUSE_SECONDS = 300

/** No payment can be taken for now, and none was. What only the operator can mend is in the cause, for the log. */
export function paymentsPaused(why: string): GazewayError {
  return new GazewayError('payments_paused', 'No payments are taken for now; no money was moved. Try again later.', {
    cause: new Error(why),
    retryAfterSeconds: PAUSE_SECONDS,
  })
}

/** Whether a payment that failed so is known to be neither signed nor sent. */
export const isUntouched = (error: unknown): boolean =>
  error instanceof GazewayError && (error.code === 'upstream_unreachable' || error.code === 'payments_paused')
