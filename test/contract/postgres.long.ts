import { after } from 'node:test'
import { startPostgres } from './postgres-server.ts'
import { storeContract } from './store.ts'

const server = await startPostgres()
after(() => server.remove())

storeContract('postgres', () => server.emptyStore())
