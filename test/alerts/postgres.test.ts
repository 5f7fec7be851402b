import { after, before } from 'node:test'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { alertsContract } from './alerts-contract.ts'

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.remove())

alertsContract('PostgreSQL', () => server.databaseWithTables())
