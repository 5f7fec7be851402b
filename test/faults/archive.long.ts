import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { after, it, type TestContext } from 'node:test'
import { gatewayKeys, gatewaySigner } from '../../src/signing/gateway-keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { archiveMonths } from '../../src/wallet/archive/archive-months.ts'
import { listArchives } from '../../src/wallet/archive/archives.ts'
import { usageReport } from '../../src/wallet/receipts/usage-report.ts'
import { buildStatement } from '../../src/wallet/statements/build-statement.ts'
import { verifyWallet } from '../../src/wallet/wallet.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { until } from '../doubles/until.ts'
import { putEmptyStore } from '../store/empty-store.ts'
import { bookMonth, monthsFrom } from '../wallet/past-months.ts'
import { chargeCall, newAddress } from '../wallet/setup.ts'
import { walletPrograms } from './wallet-process.ts'

const programs = walletPrograms()
after(() => programs.remove())

const MONTHS = monthsFrom(2025, 3)
const BEFORE = '2025-04'
const NOW = new Date('2026-11-27T00:00:00.000Z')
const ALL = { kind: 'all' as const, id: null, callers: null }

const faultsOf = async (store: Store, archives: string) =>
  (await verifyWallet(store, () => gatewayKeys(archives, new Date()))).faults

async function read(store: Store) {
  const { items, totals } = await usageReport(store, { limit: 1000 })
  const { opening_usd, closing_usd, movements, charges } = await buildStatement(store, '2025-01', ALL, 'session')
  return { ids: items.map(({ call_id }) => call_id), totals, opening_usd, closing_usd, movements, charges }
}

const ENGINES: Readonly<Record<Store['engine'], (folder: string) => Promise<string>>> = {
  async sqlite(folder) {
    await putEmptyStore(folder)
    return `sqlite:${join(folder, 'gazeway.db')}`
  },
  postgres: async () => (await sharedPostgres()).databaseWithTables(),
}

/** A store with three months of charged calls: more than one batch is deleted of each. */
async function filled(engine: Store['engine'], name: string, t: TestContext) {
  const folder = join(programs.folder, `${name}-${engine}`)
  const archives = join(folder, 'archives')
  mkdirSync(archives, { recursive: true, mode: 0o700 })
  const url = await ENGINES[engine](folder)
  const store = await openStore(url)
  t.after(() => store.close())
  const caller = newAddress()
  for (const month of MONTHS) await bookMonth(store, month, { caller, calls: 600 })
  /** Archives in a process of its own. @param step that it is killed at; 0 for none */
  const archive = async (step: number) => {
    const { lines, ended } = programs.start('archive-run', [url, archives, BEFORE, String(step)])
    lines.on('line', () => {})
    const { code, complaints } = await ended
    assert.equal(complaints, '')
    return code
  }
  return { store, archives, caller, archive }
}

const sealedMonths = async (store: Store) =>
  (await listArchives(store.db)).map(({ month, receipts, pruned_at }) => [month, receipts, pruned_at !== null])
const ALL_SEALED = MONTHS.map((month) => [month, 600, true])
const partials = (archives: string) => readdirSync(archives).filter((name) => name.endsWith('.partial'))

async function receiptsIn(store: Store): Promise<number> {
  const { receipts } = await store.db
    .selectFrom('metered_calls')
    .select(({ fn }) => fn.countAll<number>().as('receipts'))
    .executeTakeFirstOrThrow()
  return Number(receipts)
}

for (const engine of ['sqlite', 'postgres'] as const) {
  it(`archives each month once and loses nothing, whichever step a process is killed at, on ${engine}`, {
    timeout: 240_000,
  }, async (t) => {
    const { store, archives, archive } = await filled(engine, 'kills', t)
    const before = await read(store)
    let ended: number | null = null
    let kills = 0
    // Each process gets one step further than the one before it, until one comes to the end.
    for (let step = 1; ended === null; step++) {
      ended = await archive(step)
      kills += ended === null ? 1 : 0
      assert.deepEqual(await read(store), before)
      assert.deepEqual(await faultsOf(store, archives), [])
    }
    assert.ok(kills > 10, `${kills} kills`)
    assert.equal(ended, 0)
    assert.deepEqual(await sealedMonths(store), ALL_SEALED)
    assert.equal(await receiptsIn(store), 0)
    assert.deepEqual(partials(archives), [])
  })

  it(`archives beside calls that are charged, without a receipt lost or doubled, on ${engine}`, {
    timeout: 240_000,
  }, async (t) => {
    const { store, archives, archive } = await filled(engine, 'load', t)
    const before = await read(store)
    let busy = true
    const made: string[] = []
    const clients = Array.from({ length: 4 }, async (_, client) => {
      const callerId = newAddress()
      for (let i = 0; busy; i++) {
        const callId = `call_load_${client}_${i}`
        const at = new Date(NOW.getTime() + i).toISOString()
        await chargeCall(store, { callId, callerId, at, reserved: 9_000, margin: 100, cost: 7, credit: 1_000_000_000 })
        made.push(callId)
      }
    })
    const reads: unknown[] = []
    const reader = (async () => {
      while (busy) {
        const { movements, charges, opening_usd, closing_usd } = await read(store)
        reads.push({ movements, charges, opening_usd, closing_usd })
      }
    })()
    // The archive is fast: it begins among calls and reads.
    await until(() => reads.length >= 2)
    const code = await archive(0)
    busy = false
    await Promise.all([...clients, reader])
    assert.equal(code, 0)
    assert.deepEqual(await sealedMonths(store), ALL_SEALED)
    assert.ok(made.length > 20 && reads.length > 2, `${made.length} calls and ${reads.length} reads meanwhile`)
    const { movements, charges, opening_usd, closing_usd } = before
    for (const seen of reads) assert.deepEqual(seen, { movements, charges, opening_usd, closing_usd })
    assert.equal(await receiptsIn(store), made.length)
    const ids: string[] = []
    for (let offset = 0; ; offset += 1000) {
      const { items } = await usageReport(store, { limit: 1000, offset })
      ids.push(...items.map(({ call_id }) => call_id))
      if (items.length < 1000) break
    }
    const booked = MONTHS.flatMap((month) => Array.from({ length: 600 }, (_, i) => `call_${month}_${i}`))
    assert.deepEqual(ids.sort(), [...booked, ...made].sort())
    assert.deepEqual(await faultsOf(store, archives), [])
  })
}

it('deletes nothing where the disk of the archives is full, says so, and goes on once there is room', async (t) => {
  const { store, archives } = await filled('sqlite', 'full', t)
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', archives]).status !== 0)
    return t.skip('mounting is not permitted here')
  t.after(() => execFileSync('umount', ['-l', archives]))
  const signer = await gatewaySigner(join(archives, '..'), NOW)
  const archive = () =>
    archiveMonths(store, { before: BEFORE, folder: archives, isNamed: false, signer, now: () => NOW })
  const before = await read(store)
  const ballast = join(archives, 'ballast')
  // Full before the lock; before the first file; in the middle of a later one.
  for (const [room, isNone] of [
    [0, true],
    [4, true],
    [16, false],
  ] as const) {
    rmSync(ballast, { force: true })
    spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4096'])
    truncateSync(ballast, statSync(ballast).size - room * 1024)
    await assert.rejects(archive(), {
      code: 'store_full',
      message: /archives.*: not written, the disk is full; free some space/,
    })
    const done = await sealedMonths(store)
    assert.deepEqual(done, ALL_SEALED.slice(0, done.length))
    assert.deepEqual([done.length === 0, done.length < MONTHS.length], [isNone, true])
    assert.deepEqual(partials(archives), [])
    assert.equal(existsSync(join(archives, `${MONTHS[done.length]}.jsonl.gz`)), false)
    assert.deepEqual(await read(store), before)
    assert.equal(await receiptsIn(store), (MONTHS.length - done.length) * 600)
  }
  rmSync(ballast)
  await archive()
  assert.deepEqual(await sealedMonths(store), ALL_SEALED)
  assert.deepEqual(await read(store), before)
})
