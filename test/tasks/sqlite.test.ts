import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { sql } from 'kysely'
import { openStore } from '../../src/store/open-store.ts'
import { worksContract } from './works-contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-tasks-'))
after(() => rmSync(folder, { recursive: true }))

worksContract('sqlite', async () => {
  const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
  // What is tested here outlives no crash; other tests kill processes.
  await sql`pragma synchronous = off`.execute(store.db)
  return store
})
