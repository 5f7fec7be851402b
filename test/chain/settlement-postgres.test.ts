import { after } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { startPostgres } from '../contract/postgres-server.ts'
import { settlementContract } from './settlement-contract.ts'

const server = await startPostgres()
after(() => server.remove())

settlementContract('postgres', async () => openStore(await server.databaseWithTables()))
