import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { GazewayError } from '../../errors.ts'
import { inTime } from '../../wire/with-timeout.ts'
import type { PoolUse } from '../store.ts'
import { connectError, isConnectionLoss } from './postgres-errors.ts'
import { TYPES } from './postgres-values.ts'

/** Connections per process. A server with the default of 100 serves six processes. */
const POOL_SIZE = 16
/** Time limit of one attempt to connect, and of the wait for a free connection. */
const CONNECT_TIMEOUT_MS = 5_000
/** Time for which connecting is retried. */
const PATIENCE_MS = 10_000
/** Longest wait for a free connection while the server answers others. */
const QUEUE_PATIENCE_MS = 30_000
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 500
/** Time limit of a statement, enforced by the server. */
const STATEMENT_TIMEOUT_MS = 30_000
/** Extra time after which this side gives up on a silent server. */
const SILENCE_MS = 5_000
const KEEP_ALIVE_MS = 10_000

/** A connection that records the database's encoding, which the server reports at its start. */
class EncodedClient extends pg.Client {
  /** Undefined behind a pooler that does not report it. */
  encoding: string | undefined

  constructor(config?: string | pg.ClientConfig) {
    super(config)
    this.connection.on('parameterStatus', ({ parameterName, parameterValue }: Record<string, string>) => {
      if (parameterName === 'server_encoding') this.encoding = parameterValue
    })
  }
}

/** Connections to one PostgreSQL server. */
export interface ConnectionPool {
  /** Server and database, without credentials. */
  name: string
  /**
   * Takes a connection until it is released. While the server is unreachable, retries with growing pauses for 10 s.
   *
   * @throws GazewayError `store_unavailable`
   */
  connect(): Promise<pg.PoolClient>
  /** Tells whether the server answers within `timeoutMs`, without retries, and accepts writes. */
  usable(timeoutMs: number): Promise<boolean>
  use(): PoolUse
  end(): Promise<void>
}

/**
 * Creates a pool.
 *
 * @param url `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`; its query may set `pool_size` and
 *   `statement_timeout` (ms; 0 for none)
 * @throws GazewayError `config_invalid`
 */
export function createPool(url: string, options: { size?: number; statementTimeoutMs?: number } = {}): ConnectionPool {
  const { connectionString, name, size, statementTimeoutMs } = readUrl(url, options)
  requireReadable(connectionString)
  const settings = sessionSettings({
    // The format that `toTime` parses.
    datestyle: 'ISO',
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: 2 * STATEMENT_TIMEOUT_MS,
  })
  const pool = new pg.Pool({
    connectionString,
    Client: EncodedClient,
    onConnect: async (client) => {
      requireUtf8(client as EncodedClient, name)
      await client.query(settings)
    },
    max: size,
    types: TYPES,
    // Independent statements share a round trip.
    pipeline: true,
    application_name: 'gazeway',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + SILENCE_MS }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  // A connection that fails in the pool is replaced on demand. Without a listener, its error would end the process.
  pool.on('error', () => {})
  // Likewise for a connection that fails in use: its user gets the error from the query.
  pool.on('connect', (client) => void client.on('error', () => {}))

  return {
    name,
    async connect() {
      const began = Date.now()
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        try {
          return await pool.connect()
        } catch (error) {
          // All connections are in use: the server is up, so wait longer.
          const patience = pool.totalCount >= size ? QUEUE_PATIENCE_MS : PATIENCE_MS
          if (!isConnectionLoss(error) || Date.now() - began > patience) throw connectError(error, name)
          await delay(pause * (0.5 + Math.random() / 2))
        }
      }
    },
    // The health check reports only the failure; callers of the store get the reason.
    usable: async (timeoutMs) =>
      (await inTime(
        timeoutMs,
        takesWrites(pool).catch(() => false),
      )) ?? false,
    use: () => ({
      used: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      max: size,
    }),
    end: () => pool.end(),
  }
}

/** Tells whether the server accepts writes. After a failover, its address may lead to another server. */
async function takesWrites(pool: pg.Pool): Promise<boolean> {
  const client = await pool.connect()
  let writable = false
  try {
    const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only')
    writable = rows[0]?.transaction_read_only === 'off'
    return writable
  } finally {
    client.release(!writable)
  }
}

/**
 * Settings of a session, which override those of role and database. Sent after connecting, because poolers reject
 * unknown startup parameters.
 */
const sessionSettings = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `set ${name} = ${pg.escapeLiteral(String(value))}`)
    .join('; ')

/** Requires UTF-8: other encodings reject most text, or treat it as raw bytes. */
function requireUtf8({ encoding = 'UTF8' }: EncodedClient, name: string): void {
  if (encoding === 'UTF8') return
  throw new GazewayError(
    'store_unavailable',
    `The store ${name} stores text as ${encoding}. Create its database with ENCODING 'UTF8' TEMPLATE template0. ` +
      'Move its data there with pg_dump and pg_restore.',
  )
}

/**
 * Checks the files named in the URL. The driver reads them only when it connects, where a missing certificate looks
 * like a missing server.
 */
function requireReadable(connectionString: string): void {
  try {
    new pg.Client(connectionString)
  } catch (cause) {
    throw invalid('it, or a certificate file that it names, cannot be read', cause)
  }
}

function readUrl(url: string, options: { size?: number; statementTimeoutMs?: number }) {
  if (!URL.canParse(url)) throw invalid('it is not a URL')
  const parsed = new URL(url)
  const { searchParams } = parsed
  const number = (parameter: string, otherwise: number) => {
    const value = searchParams.get(parameter)
    if (value === null) return otherwise
    if (!/^\d{1,9}$/.test(value)) throw invalid(`${parameter} must be a whole number`)
    searchParams.delete(parameter)
    return Number(value)
  }
  const size = number('pool_size', POOL_SIZE)
  const statementTimeoutMs = number('statement_timeout', STATEMENT_TIMEOUT_MS)
  // Here `require`, `prefer` and `verify-ca` mean encrypted and verified, for every version of the driver.
  if (
    ['prefer', 'require', 'verify-ca'].includes(searchParams.get('sslmode') ?? '') &&
    !searchParams.has('uselibpqcompat')
  )
    searchParams.set('sslmode', 'verify-full')
  return {
    connectionString: parsed.href,
    name: `postgres://${parsed.host || searchParams.get('host') || 'localhost'}${parsed.pathname}`,
    size: options.size ?? Math.max(2, size),
    statementTimeoutMs: options.statementTimeoutMs ?? statementTimeoutMs,
  }
}

function invalid(what: string, cause?: unknown): GazewayError {
  return new GazewayError(
    'config_invalid',
    `The store URL: ${what}; must be postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full.`,
    { param: 'store', ...(cause !== undefined && { cause }) },
  )
}
