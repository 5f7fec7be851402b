import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { gatewayKeys } from '../../src/signing/gateway-keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { listArchives } from '../../src/wallet/archive/archives.ts'
import { usageReport } from '../../src/wallet/receipts/usage-report.ts'
import { buildStatement } from '../../src/wallet/statements/build-statement.ts'
import { verifyWallet } from '../../src/wallet/wallet.ts'
import { putEmptyStore } from '../store/empty-store.ts'
import { bookMonth, monthsFrom } from '../wallet/past-months.ts'
import { newAddress } from '../wallet/setup.ts'
import { walletPrograms } from './wallet-process.ts'

const programs = walletPrograms()
after(() => programs.remove())

const MONTHS = monthsFrom(2025, 3)
const ALL = { kind: 'all' as const, id: null, callers: null }

async function read(store: Store) {
  const { items, totals } = await usageReport(store, { limit: 1000 })
  const { opening_usd, closing_usd, movements, charges } = await buildStatement(store, '2025-01', ALL, 'session')
  return { ids: items.map(({ call_id }) => call_id), totals, opening_usd, closing_usd, movements, charges }
}

it('archives each month once and loses nothing, whichever step a process is killed at', {
  timeout: 240_000,
}, async () => {
  const folder = join(programs.folder, 'kills')
  const archives = join(folder, 'archives')
  mkdirSync(archives, { recursive: true, mode: 0o700 })
  await putEmptyStore(folder)
  const url = `sqlite:${join(folder, 'gazeway.db')}`
  const store = await openStore(url)
  const caller = newAddress()
  // More than one batch is deleted of each month.
  for (const month of MONTHS) await bookMonth(store, month, { caller, calls: 600 })
  const before = await read(store)

  let ended: number | null = null
  let kills = 0
  // Each process gets one step further than the one before it, until one comes to the end.
  for (let step = 1; ended === null; step++) {
    const { lines, ended: end } = programs.start('archive-run', [url, archives, '2025-04', String(step)])
    lines.on('line', () => {})
    const { code, complaints } = await end
    assert.equal(complaints, '')
    ended = code
    kills += code === null ? 1 : 0
    assert.deepEqual(await read(store), before)
    const { faults } = await verifyWallet(store, () => gatewayKeys(archives, new Date()))
    assert.deepEqual(faults, [])
  }
  assert.ok(kills > 10, `${kills} kills`)
  assert.equal(ended, 0)
  assert.deepEqual(
    (await listArchives(store.db)).map(({ month, receipts, pruned_at }) => [month, receipts, pruned_at !== null]),
    MONTHS.map((month) => [month, 600, true]),
  )
  const { receipts } = await store.db
    .selectFrom('metered_calls')
    .select(({ fn }) => fn.countAll<number>().as('receipts'))
    .executeTakeFirstOrThrow()
  assert.equal(receipts, 0)
  assert.deepEqual(
    readdirSync(archives).filter((name) => name.endsWith('.partial')),
    [],
  )
  await store.close()
})
