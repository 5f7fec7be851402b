import { GazewayError, isUntrusted } from '../../errors.ts'

/**
 * SQLSTATEs that are transient or depend on the connection: the server ends the session, is starting, has too many
 * connections, or is a standby. After a failover, the address may lead to a standby for a while.
 */
const PASSING = /^(?:08|57P|53300|25P03|25P04|25006)/
/** SQLSTATEs of conflicting transactions: one of them is retried. */
const CONFLICTS = new Set(['40001', '40P01'])

const MESSAGES: ReadonlyArray<
  [prefix: string, code: 'store_full' | 'store_unavailable' | 'validation_failed', advice: string]
> = [
  ['28', 'store_unavailable', 'it refused the user or the password; check both in the store URL.'],
  ['3D000', 'store_unavailable', 'there is no such database; create it, or name another in the store URL.'],
  ['42P07', 'store_unavailable', 'it holds a table of another program; give Gazeway a database of its own.'],
  [
    '42501',
    'store_unavailable',
    'the user may not do this; grant it CREATE and USAGE on the schema, and make it the owner of the tables.',
  ],
  ['53100', 'store_full', 'the disk is full; nothing was written. Free some space and retry.'],
  ['53', 'store_unavailable', 'it is out of connections or memory; retry, or raise its limits.'],
  [
    '57014',
    'store_unavailable',
    'a statement took too long and was stopped; nothing was written. Retry, or raise statement_timeout in the store URL.',
  ],
  ['25P04', 'store_unavailable', 'a transaction took too long and was stopped; nothing was written. Retry.'],
  ['55P03', 'store_unavailable', 'a lock was not free in time; nothing was written. Retry.'],
  ['25006', 'store_unavailable', 'it is read-only; point the store URL at the primary server.'],
  ['40', 'store_unavailable', 'too many conflicting transactions; nothing was written. Retry.'],
  ['22', 'validation_failed', 'a value is outside the range of its column. Send a smaller one.'],
]

/** Messages of the driver when it cannot connect, and our advice. */
const DRIVER_MESSAGES: ReadonlyArray<[pattern: RegExp, advice: string]> = [
  [
    /client password must be/,
    'it asks for a password, and the store URL has none: postgres://USER:PASSWORD@HOST/DATABASE.',
  ],
  [
    /does not support SSL/,
    'the server does not encrypt connections; enable TLS there, or omit sslmode from the store URL.',
  ],
]

/** Codes of system errors, and of Node's errors about a socket. Its others, such as `ERR_INVALID_ARG_TYPE`, are faults of a program. */
const SYSTEM = /^(?:E(?!RR_)[A-Z_]+|ERR_(?:STREAM|SOCKET|TLS|SSL|OSSL)_[A-Z_]+)$/

/** SQLSTATE of a prepared statement from before a migration; another connection prepares it again. */
const STALE_PLAN = '0A000'

/** SQLSTATE of a statement that a time limit or an operator stopped. */
const CANCELED = '57014'

/** SQLSTATE of a server error. Null for other errors. */
function stateOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return null
  return /^[0-9A-Z]{5}$/.test(error.code) ? error.code : null
}

/**
 * Tells whether an error means that the connection is lost, unusable, or could not be opened. This is a system error,
 * the driver's own error, or a transient SQLSTATE.
 */
export function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const state = stateOf(error)
  if (state !== null && !state.startsWith('E')) return PASSING.test(state)
  const system = 'code' in error && typeof error.code === 'string' && SYSTEM.test(error.code)
  return (
    system ||
    /^(Connection terminated|Query read timeout|timeout e|Client has encountered a connection error|Client was closed)/.test(
      error.message,
    )
  )
}

/**
 * Tells whether the server stopped a statement, because it took too long or an operator asked for it. It is not sent
 * again: it would take as long.
 *
 * @param error of the driver, or as returned by {@link storeError}
 */
export const isCanceled = (error: unknown): boolean =>
  stateOf(error instanceof GazewayError ? error.cause : error) === CANCELED

/** Tells whether the connection holds a statement from before a migration. */
export const isStale = (error: unknown): boolean =>
  stateOf(error) === STALE_PLAN && (error as Error).message.startsWith('cached plan')

/**
 * Tells whether a transaction that failed with `error` has certainly changed nothing and may succeed on a retry.
 *
 * @param error as returned by {@link storeError}
 */
export function mayRunAgain(error: unknown): boolean {
  const cause = error instanceof GazewayError ? error.cause : error
  return isConnectionLoss(cause) || isStale(cause) || CONFLICTS.has(stateOf(cause) ?? '')
}

/**
 * Converts a driver error to a message that says what to do, without the password. Errors that are not about the server
 * are returned unchanged. Callers see the database's name in the place of the store.
 *
 * @param name the store without credentials
 */
export function storeError(error: unknown, name: string): unknown {
  if (error instanceof GazewayError) return error
  const state = stateOf(error) ?? ''
  const found = MESSAGES.find(([prefix]) => state.startsWith(prefix))
  if (found) return new GazewayError(found[1], `The store ${name}: ${found[2]}`, { cause: error, file: name })
  if (isUntrusted(error))
    return new GazewayError(
      'store_unavailable',
      `The store ${name} shows a certificate that is not trusted (${error.message}). Name its certificate authority with ` +
        'sslrootcert=FILE in the store URL, or skip the check with sslmode=no-verify.',
      { cause: error, file: name },
    )
  if (!isConnectionLoss(error)) return error
  // Its code alone: the message repeats the address.
  const reason = error instanceof Error && 'code' in error ? String(error.code) : ''
  return new GazewayError(
    'store_unavailable',
    `The store ${name} cannot be reached${reason ? ` (${reason})` : ''}. Check its address and that the server is up.`,
    { cause: error, file: name, retryAfterSeconds: 1 },
  )
}

/**
 * Converts a connection error to a message that says what to do.
 *
 * @param name the store without credentials
 */
export function connectError(error: unknown, name: string): unknown {
  const known = storeError(error, name)
  if (known instanceof GazewayError || !(error instanceof Error)) return known
  const advice = DRIVER_MESSAGES.find(([pattern]) => pattern.test(error.message))?.[1]
  return new GazewayError(
    'store_unavailable',
    `The store ${name}: ${advice ?? `it cannot be connected to (${error.message}); check the store URL.`}`,
    { cause: error, file: name },
  )
}

/** Error for a connection lost during a commit, when the server does not know the outcome. */
export function unknownOutcome(name: string): GazewayError {
  return new GazewayError(
    'store_unavailable',
    `The store ${name} was lost during a commit. Check whether the change was made before you retry.`,
    { file: name },
  )
}
