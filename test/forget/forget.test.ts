import { forgetting } from './forgetting.ts'

forgetting('SQLite', async () => null)
