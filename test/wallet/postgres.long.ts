import { after } from 'node:test'
import { startPostgres } from '../contract/postgres-server.ts'
import { walletContract } from './wallet-contract.ts'

const server = await startPostgres()
after(() => server.remove())

walletContract('postgres', () => server.emptyStore())
