import { swarmContract } from './swarm-contract.ts'

swarmContract('sqlite', async () => undefined)
