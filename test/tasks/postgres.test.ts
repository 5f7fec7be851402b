import { after } from 'node:test'
import { openStore } from '../../src/store/open.ts'
import { startPostgres } from '../contract/postgres-server.ts'
import { worksContract } from './works-contract.ts'

const server = await startPostgres()
after(() => server.remove())

worksContract('postgres', async () => openStore(await server.database()))
