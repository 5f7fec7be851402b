import { after } from 'node:test'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

let server: Promise<PostgresServer> | undefined
after(async () => {
  await (await server)?.remove()
})

/**
 * The PostgreSQL server of all test files in a process, which start it together and end it after the last case. For files that
 * need databases of their own only: one that stops or configures its server starts its own.
 */
export function sharedPostgres(): Promise<
  Pick<PostgresServer, 'database' | 'databaseWithTables' | 'emptyStore' | 'port'>
> {
  server ??= startPostgres()
  return server
}
