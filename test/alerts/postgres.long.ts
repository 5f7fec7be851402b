import { sharedPostgres } from '../contract/shared-postgres.ts'
import { alertsContract } from './alerts-contract.ts'

const server = await sharedPostgres()

alertsContract('PostgreSQL', () => server.databaseWithTables())
