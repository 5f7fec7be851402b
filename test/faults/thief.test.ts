import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import { runThief } from './thief-run.ts'

it('steals nothing from four processes that are killed and suspended', { timeout: 120_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-thief-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const url = `sqlite:${join(folder, 'store.db')}`
  await (await openStore(url)).close()
  await runThief(t, { url, server: null }, { sleepMs: 3_000, endsLease: true })
})
