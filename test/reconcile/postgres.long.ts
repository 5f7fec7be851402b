import { sharedPostgres } from '../contract/shared-postgres.ts'
import { reconcileContract } from './reconcile-contract.ts'

const server = await sharedPostgres()

reconcileContract('postgres', () => server.emptyStore())
