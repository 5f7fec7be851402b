import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { startPostgres } from '../contract/postgres-server.ts'
import { runThief } from '../faults/thief-run.ts'

/** Longer than the longest time after which a lease that has ended is noticed, 105 s. */
const LONG = { sleepMs: 120_000, endsLease: false }
const title = 'steals nothing from four processes of which one sleeps for two minutes'

it(`${title}, on PostgreSQL`, { timeout: 400_000 }, async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.remove())
  await runThief(t, { url: await postgres.databaseWithTables(), server: postgres }, LONG)
})

it(`${title}, on SQLite`, { timeout: 400_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-thief-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const url = `sqlite:${join(folder, 'store.db')}`
  await (await openStore(url)).close()
  await runThief(t, { url, server: null }, LONG)
})
