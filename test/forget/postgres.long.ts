import { sharedPostgres } from '../contract/shared-postgres.ts'
import { forgetting } from './forgetting.ts'

forgetting('PostgreSQL', async () => (await sharedPostgres()).databaseWithTables())
