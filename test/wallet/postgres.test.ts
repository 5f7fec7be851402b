import { after } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { startPostgres } from '../contract/postgres-server.ts'
import { walletContract } from './wallet-contract.ts'

const server = await startPostgres()
after(() => server.remove())

walletContract('postgres', async () => openStore(await server.databaseWithTables()))
