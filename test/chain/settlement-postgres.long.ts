import { after } from 'node:test'
import { startPostgres } from '../contract/postgres-server.ts'
import { settlementContract } from './settlement-contract.ts'

const server = await startPostgres()
after(() => server.remove())

settlementContract('postgres', () => server.emptyStore())
