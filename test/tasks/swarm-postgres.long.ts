import { after } from 'node:test'
import { startPostgres } from '../contract/postgres-server.ts'
import { swarmContract } from './swarm-contract.ts'

const server = await startPostgres()
after(() => server.remove())

swarmContract('postgres', () => server.databaseWithTables())
