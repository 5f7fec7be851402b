import { after } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { startPostgres } from './postgres-server.ts'
import { storeContract } from './store.ts'

const server = await startPostgres()
after(() => server.remove())

storeContract('postgres', async () => openStore(await server.databaseWithTables()))
