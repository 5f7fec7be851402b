import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { GazewayError } from '../../errors.ts'
import { createThread, type Thread, threadCode } from '../../wire/thread.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import { connectionOf } from './kysely-connection.ts'
import type { Batch, Question, ReaderData } from './reader-messages.ts'
import { untilFree } from './sqlite-dialect.ts'
import { toRow } from './statements.ts'
import { createTurns } from './writing-turns.ts'

/** Maximum number of queued reads. Further ones are rejected. A search asks for up to four at the same time. */
const MAX_WAITING = 1024

const CODE = threadCode({ source: new URL('./reader-thread.ts', import.meta.url), name: 'sqlite-reader' })

/**
 * Kysely dialect for a read-only connection in its own thread, so that long reads only delay each other. The first
 * statement starts the thread.
 *
 * @param data called when the thread starts
 */
export function readerDialect(file: string, data: () => ReaderData): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver() {
      const thread = createThread<Question, Batch>(CODE, data)
      const connection = createConnection(file, thread)
      const turns = createTurns()
      const run = async (command: string) => void (await connection.executeQuery(CompiledQuery.raw(command)))
      return {
        init: async () => {},
        async acquireConnection() {
          if (turns.waiting() >= MAX_WAITING) throw tooMany()
          await turns.take()
          return connection
        },
        beginTransaction: () => run('begin'),
        commitTransaction: () => run('commit'),
        rollbackTransaction: () => run('rollback'),
        releaseConnection: async () => turns.giveBack(),
        destroy: () => thread.close(),
      }
    },
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

function createConnection(file: string, thread: Thread<Question, Batch>): DatabaseConnection {
  async function execute<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    let batch = await untilFree(file, () => thread.ask({ sql, parameters }))
    const rows: R[] = []
    for (;;) {
      for (const row of batch.rows) rows.push(toRow<R>(batch.columns, row))
      if (batch.done) return { rows }
      await yieldToEventLoop()
      batch = await thread.ask('more')
    }
  }

  return connectionOf(execute)
}

function tooMany(): GazewayError {
  return new GazewayError(
    'store_unavailable',
    'Too many long reads are queued. Retry, or request a shorter time range.',
    { retryAfterSeconds: 1 },
  )
}
