import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { GazewayError } from '../../errors.ts'
import { inTime } from '../../wire/in-time.ts'
import { connectError, isConnectionLoss } from './postgres-errors.ts'
import { TYPES } from './postgres-values.ts'

/** Connections of one process; a server with its default of 100 serves six processes. */
const POOL_SIZE = 16
/** How long one attempt to connect, or the wait for a free connection, may take. */
const CONNECT_TIMEOUT_MS = 5_000
/** How long connecting is tried again. */
const PATIENCE_MS = 10_000
/** How long the wait for a free connection may take while the server answers others. */
const QUEUE_PATIENCE_MS = 30_000
const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 500
/** A statement that takes longer is stopped by the server. */
const STATEMENT_TIMEOUT_MS = 30_000
/** How much later this side gives up, where the server itself has gone silent. */
const SILENCE_MS = 5_000
const KEEP_ALIVE_MS = 10_000

/** A connection that knows how the database keeps text, which the server says as it begins. */
class EncodedClient extends pg.Client {
  /** Undefined behind a pooler that does not pass it on. */
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
  /** The server and database, without credentials. */
  name: string
  /**
   * A connection of one's own until it is released. Where the server cannot be reached it is tried again, with growing
   * pauses, for 10 s.
   *
   * @throws GazewayError `store_unavailable`
   */
  connect(): Promise<pg.PoolClient>
  /** Whether the server answers within `timeoutMs`, without trying again, and is not read-only. */
  usable(timeoutMs: number): Promise<boolean>
  end(): Promise<void>
}

/**
 * @param url `postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=…`; `pool_size` and `statement_timeout` (ms; 0 for
 *   none) may be set in its query
 * @throws GazewayError `config_invalid`
 */
export function createPool(url: string, options: { size?: number; statementTimeoutMs?: number } = {}): ConnectionPool {
  const { connectionString, name, size, statementTimeoutMs } = readUrl(url, options)
  requireReadable(connectionString)
  const settings = sessionSettings({
    // In which `toTime` reads them.
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
    // Statements that do not wait for each other share a round trip.
    pipeline: true,
    application_name: 'gazeway',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + SILENCE_MS }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  // A connection that dies in the pool is replaced when one is needed; without a listener its error would end the process.
  pool.on('error', () => {})
  // Nor one that dies between two owners; whoever uses it next, or uses it now, hears of it from its query.
  pool.on('connect', (client) => void client.on('error', () => {}))

  return {
    name,
    async connect() {
      const began = Date.now()
      for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        try {
          return await pool.connect()
        } catch (error) {
          // All of them are there and busy: the server is up, and this is only a queue.
          const patience = pool.totalCount >= size ? QUEUE_PATIENCE_MS : PATIENCE_MS
          if (!isConnectionLoss(error) || Date.now() - began > patience) throw connectError(error, name)
          await delay(pause * (0.5 + Math.random() / 2))
        }
      }
    },
    // The health check tells that it fails; whoever needs the store gets the reason.
    usable: async (timeoutMs) =>
      (await inTime(
        timeoutMs,
        takesWrites(pool).catch(() => false),
      )) ?? false,
    end: () => pool.end(),
  }
}

/** A connection to a server that is read-only is given up: its address may lead to another one by now. */
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

/** Over those of the role and the database. Not with the greeting of a connection, in which poolers refuse what they do not know. */
const sessionSettings = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `set ${name} = ${pg.escapeLiteral(String(value))}`)
    .join('; ')

/** Others refuse most of what people write, or take it for bytes that are no characters. */
function requireUtf8({ encoding = 'UTF8' }: EncodedClient, name: string): void {
  if (encoding === 'UTF8') return
  throw new GazewayError(
    'store_unavailable',
    `The store ${name} keeps text as ${encoding}; create its database with ENCODING 'UTF8' TEMPLATE template0. ` +
      'What it holds already can be moved there with pg_dump and pg_restore.',
  )
}

/** The driver reads what the URL names only when it connects, where a missing certificate looks like a missing server. */
function requireReadable(connectionString: string): void {
  try {
    new pg.Client(connectionString)
  } catch (cause) {
    throw invalid('it cannot be read, or a certificate that it names cannot', cause)
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
  // `require` and its like mean an encrypted and verified connection here, now and in later versions of the driver.
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
    `The store URL: ${what}; accepted: postgres://USER:PASSWORD@HOST:PORT/DATABASE?sslmode=verify-full.`,
    { param: 'store', ...(cause !== undefined && { cause }) },
  )
}
