import { after } from 'node:test'
import { startPostgres } from '../contract/postgres-server.ts'
import { reconcileContract } from './reconcile-contract.ts'

const server = await startPostgres()
after(() => server.remove())

reconcileContract('postgres', () => server.emptyStore())
