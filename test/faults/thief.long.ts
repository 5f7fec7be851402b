import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { startPostgres } from '../contract/postgres-server.ts'
import { runThief, type ThiefPlan } from './thief-run.ts'

const SHORT: ThiefPlan = { sleepMs: 0, endsLease: true }
const title = 'steals nothing from four processes that are killed and suspended'

it(`${title}, on SQLite`, { timeout: 120_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-thief-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const url = `sqlite:${join(folder, 'store.db')}`
  await (await openStore(url)).close()
  await runThief(t, { url, server: null }, SHORT)
})

it(`${title} while the database goes away, on PostgreSQL`, { timeout: 120_000 }, async (t) => {
  const postgres = await startPostgres()
  t.after(() => postgres.remove())
  await runThief(t, { url: await postgres.databaseWithTables(), server: postgres }, SHORT)
})
