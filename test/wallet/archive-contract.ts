import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { createGroups } from '../../src/identity/groups.ts'
import { gatewayKeys, gatewaySigner } from '../../src/signing/gateway-keys.ts'
import type { Store } from '../../src/store/store.ts'
import type { ArchiveRow } from '../../src/store/tables/wallet-tables.ts'
import { archiveMonths } from '../../src/wallet/archive/archive-months.ts'
import { listArchives } from '../../src/wallet/archive/archives.ts'
import { openArchive } from '../../src/wallet/archive/read-archive.ts'
import { unsettledIn } from '../../src/wallet/archive/unsettled-months.ts'
import { closePeriod } from '../../src/wallet/ledger/closed-periods.ts'
import { makeDeposit } from '../../src/wallet/ledger/deposits.ts'
import { boundsOf } from '../../src/wallet/ledger/statement-period.ts'
import { readStatement } from '../../src/wallet/ledger/transfer-list.ts'
import { moneyOfCalls } from '../../src/wallet/receipts/call-receipts.ts'
import { usageCsv } from '../../src/wallet/receipts/usage-csv.ts'
import { usageReceipts, usageReport } from '../../src/wallet/receipts/usage-report.ts'
import { buildStatement } from '../../src/wallet/statements/build-statement.ts'
import { subjectOf } from '../../src/wallet/statements/statement-subject.ts'
import { verifyWallet } from '../../src/wallet/wallet.ts'
import { CALL } from './call-record.ts'
import { OPEN_THINGS } from './open-things.ts'
import { chargeCall, newAddress, newKey, type OpenStore } from './setup.ts'

const NOW = new Date('2025-06-15T00:00:00.000Z')
const MONTHS = ['2025-01', '2025-02', '2025-03', '2025-04']
/** Call that each test looks for by its id, in the first month. */
const FIRST = 'call_2025-01_0'

/** A store with charged calls of two wallets in four months, all closed. */
async function filled(open: OpenStore, t: TestContext) {
  const store = await open(t)
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-archives-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const [mine, other] = [newAddress(), newAddress()]
  const calls = createCalls({ store, onError: (error) => assert.fail(String(error)) })
  calls.record({
    ...CALL,
    ...NO_SESSION,
    session_id: 's1',
    call_id: 'call_up',
    at: '2025-01-02T00:00:00.000Z',
    tags: ['a', 'b'],
  })
  await calls.flush()
  for (const [m, month] of MONTHS.entries()) {
    const deposit = (caller_id: string, day: string) =>
      makeDeposit(
        store,
        { caller_id, amount_usd: 1, reference: `${caller_id}${month}${day}` },
        new Date(`${month}-${day}`),
      )
    await deposit(mine, '01')
    await deposit(other, '03')
    for (let i = 0; i < 3; i++)
      for (const [callerId, id] of [
        [mine, `call_${month}_${i}`],
        [other, `call_${month}_${i}_other`],
      ] as const)
        await chargeCall(store, {
          ...{ callId: id, callerId, model: `m${i % 2}`, reserved: 9_000 },
          ...{ at: `${month}-0${4 + i}T1${i}:30:00.000Z`, margin: 100 + m, cost: 7 * (i + 1) },
        })
  }
  for (const period of MONTHS) await closePeriod(store, { period, by: 'ann', now: NOW })
  const keys = () => gatewayKeys(folder, NOW)
  const archive = async (before: string, to?: string) =>
    archiveMonths(store, {
      ...{ before, folder: to ?? join(folder, 'archives'), isNamed: to !== undefined },
      ...{ signer: await gatewaySigner(folder, NOW), now: () => NOW },
    })
  const file = (month: string) => join(folder, 'archives', `${month}.jsonl.gz`)
  return { store, folder, mine, other, archive, file, verify: () => verifyWallet(store, keys) }
}

/** All that people read of archived months. */
async function figures(store: Store, callers: readonly string[]) {
  const [mine] = callers
  const statements = []
  for (const of of [{}, { caller_id: mine }])
    for (const period of ['2025-01', '2025-03', '2025-04', '2025-01-05'])
      for (const by of [undefined, 'session', 'tag'] as const)
        statements.push(await buildStatement(store, period, await subjectOf(store, of), by))
  const usage = []
  const ranges = [
    {},
    { from: '2025-01-04T10:30:00.000Z' },
    { to: '2025-02-05T11:30:00.001Z' },
    { from: '2025-02-05T12:00:00.000Z', to: '2025-04-05T11:30:00.001Z' },
    { model: 'none' },
    { from: '2025-02-05T02:00:00.000Z', to: '2025-02-05T23:00:00.000Z' },
  ]
  for (const range of ranges)
    for (const caller_id of [undefined, mine, 'nobody'])
      for (const group_by of ['day', 'session', 'tag'] as const)
        usage.push(await usageReport(store, { limit: 100, ...range, caller_id, group_by }))
  const csv: string[] = []
  for await (const line of usageCsv((query) => usageReceipts(store, { ...query, limit: 5 }), {})) csv.push(line)
  const skipped = []
  for (const offset of [1, 5, 6, 7, 13, 24, 30]) skipped.push(await usageReceipts(store, { limit: 3, offset }))
  return { statements, usage, csv, skipped, transfers: await transfersOf(store, callers) }
}

async function transfersOf(store: Store, callers: readonly string[]) {
  const lists = []
  for (const caller of callers)
    for (const range of [{}, { from: '2025-01-05T00:00:00Z', to: '2025-03-05T00:00:00Z' }]) {
      let cursor: string | null = null
      do {
        const page = await readStatement(store, caller, { limit: 4, ...range, ...(cursor && { cursor }) })
        lists.push(page)
        cursor = page.next_cursor
      } while (cursor)
      for (const offset of [3, 11]) lists.push(await readStatement(store, caller, { limit: 2, offset, ...range }))
    }
  return lists
}

const rowsIn = async (store: Store, table: 'metered_calls' | 'ledger_transfers') =>
  (await store.db.selectFrom(table).select('at').execute()).map(({ at }) => at.slice(0, 7))

/** Tests of sealed archives, for every engine. `open` opens an empty store. */
export function archiveContract(open: OpenStore): void {
  it('reads the same statements, usage, CSV and transfers once months are archived, and proves them', async (t) => {
    const { store, mine, other, archive, file, verify } = await filled(open, t)
    const callers = [mine, other]
    const before = await figures(store, callers)
    const { transfers, head } = await verify()
    const money = await moneyOfCalls(store, [FIRST])
    const { sealed, deleted, stays } = await archive('2025-04')
    assert.deepEqual(
      sealed.map(({ month, receipts }) => [month, receipts]),
      MONTHS.slice(0, 3).map((month) => [month, 6]),
    )
    assert.equal(stays, null)
    assert.equal(deleted, 3 * (6 + (sealed[0]?.transfers ?? 0) - 2))
    assert.deepEqual([...new Set(await rowsIn(store, 'metered_calls'))], ['2025-04'])
    const { rows } = await store.db
      .selectFrom('ledger_transfers')
      .select('kind')
      .where('at', '<', '2025-04-01T00:00:00.000Z')
      .execute()
      .then((found) => ({ rows: found.map(({ kind }) => kind) }))
    assert.deepEqual([...new Set(rows)], ['deposit'])

    assert.deepEqual(await figures(store, callers), before)
    assert.deepEqual(await moneyOfCalls(store, [FIRST]), money)
    const after = await verify()
    assert.deepEqual(after.faults, [])
    assert.deepEqual([after.transfers, after.head, after.archives], [transfers, head, 3])
    assert.deepEqual(await archive('2025-04').then(({ sealed, deleted }) => [sealed, deleted]), [[], 0])

    // Whoever has the file alone reads it with gunzip, and finds the chain in it.
    const lines = gunzipSync(readFileSync(file('2025-02')))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(lines[0], { gazeway_archive: 1, month: '2025-02' })
    const { predicate } = JSON.parse(Buffer.from(lines.at(-1).seal.payload, 'base64').toString())
    assert.equal(predicate.previous.sha256, (await listArchives(store.db))[0]?.sha256)
    assert.equal(
      predicate.accounts.reduce((sum: number, { micros }: { micros: number }) => sum + micros, 0),
      0,
    )
  })

  it('reads the archived receipts of a group from the days on which its keys have some', async (t) => {
    const { store, mine, archive, file } = await filled(open, t)
    const groups = createGroups({ store, now: () => NOW })
    const [{ id: group }, { id: bare }] = [await groups.create({ name: 'mine' }), await groups.create({ name: 'bare' })]
    const key = await newKey(store)
    await store.db.updateTable('keys').set({ id: mine, group_id: group }).where('id', '=', key).execute()
    const receipts = async (of: { group?: string; caller_id?: string }) =>
      (await usageReceipts(store, { limit: 100, ...of })).items.map(({ call_id }) => call_id)
    const all = await receipts({ group })
    assert.equal(all.length, 12)
    await archive('2025-04')
    assert.deepEqual(await receipts({ group }), all)
    assert.deepEqual(await receipts({ group, caller_id: mine }), all)
    assert.deepEqual([await receipts({ group: bare }), await receipts({ group, caller_id: 'nobody' })], [[], []])

    // Archives that cannot have any are not opened.
    rmSync(file('2025-01'))
    await assert.rejects(receipts({ group }), { code: 'store_corrupt' })
    assert.deepEqual(await receipts({ group: bare }), [])
    await store.db.deleteFrom('metered_usage').where('caller_id', '=', mine).where('day', '<', '2025-02').execute()
    assert.deepEqual(await receipts({ group }), all.slice(0, 9))
  })

  it('credits a deposit of an archived month no second time', async (t) => {
    const { store, mine, archive } = await filled(open, t)
    await archive('2025-03')
    const again = (amount_usd: number) =>
      makeDeposit(store, { caller_id: mine, amount_usd, reference: `${mine}2025-0101` }, NOW)
    assert.equal((await again(1)).at, '2025-01-01T00:00:00.000Z')
    await assert.rejects(again(2), { code: 'conflict' })
  })

  it('counts a row once that is in the store and in an archive, whatever was deleted by then', async (t) => {
    const { store, mine, archive, verify } = await filled(open, t)
    const callers = [mine]
    const kept = await store.db.selectFrom('metered_calls').selectAll().execute()
    const ledger = await store.db.selectFrom('ledger_transfers').selectAll().execute()
    const before = await figures(store, callers)
    await archive('2025-04')
    for (const [i, row] of kept.entries())
      if (i % 3 > 0)
        await store.db
          .insertInto('metered_calls')
          .values(row)
          .onConflict((on) => on.doNothing())
          .execute()
    for (const [i, row] of ledger.entries())
      if (i % 4 > 0)
        await store.db
          .insertInto('ledger_transfers')
          .values(row)
          .onConflict((on) => on.doNothing())
          .execute()
    await store.db.updateTable('archives').set({ pruned_at: null }).execute()
    assert.deepEqual(await figures(store, callers), before)
    assert.deepEqual((await verify()).faults, [])
    await archive('2025-04')
    assert.deepEqual([...new Set(await rowsIn(store, 'metered_calls'))], ['2025-04'])
    assert.deepEqual((await verify()).faults, [])
  })

  it('takes the files of a store that was restored from a backup of before, and refuses those of another', async (t) => {
    const { store, archive, file, verify } = await filled(open, t)
    const kept = await store.db.selectFrom('metered_calls').selectAll().execute()
    const ledger = await store.db.selectFrom('ledger_transfers').selectAll().execute()
    await archive('2025-03')
    const bytes = readFileSync(file('2025-02'))
    await store.db.deleteFrom('archives').execute()
    for (const row of kept)
      await store.db
        .insertInto('metered_calls')
        .values(row)
        .onConflict((on) => on.doNothing())
        .execute()
    for (const row of ledger)
      await store.db
        .insertInto('ledger_transfers')
        .values(row)
        .onConflict((on) => on.doNothing())
        .execute()
    assert.deepEqual((await verify()).faults, [])
    await archive('2025-03')
    assert.deepEqual(readFileSync(file('2025-02')), bytes)
    assert.deepEqual((await verify()).faults, [])

    copyFileSync(file('2025-02'), file('2025-03'))
    const refused = archive('2025-04')
    await assert.rejects(refused, {
      code: 'conflict',
      message: /2025-03\.jsonl\.gz is there already and holds another/,
    })
    assert.equal((await rowsIn(store, 'metered_calls')).filter((month) => month === '2025-03').length, 6)
  })

  it('leaves receipts and transfers in the store that earlier versions booked in different months', async (t) => {
    const { store, mine, other, archive, verify } = await filled(open, t)
    await store.db
      .updateTable('metered_calls')
      .set({ at: '2025-02-01T00:00:00.500Z' })
      .where('call_id', '=', 'call_2025-01_2')
      .execute()
    await store.db
      .updateTable('metered_usage')
      .set({ day: '2025-02-01' })
      .where('caller_id', '=', mine)
      .where('day', '=', '2025-01-06')
      .execute()
    assert.deepEqual((await verify()).faults, [])
    const before = await figures(store, [mine, other])
    for (const bound of ['2025-02', '2025-03', '2025-04']) {
      await archive(bound)
      assert.deepEqual(await figures(store, [mine, other]), before)
      assert.deepEqual((await verify()).faults, [])
    }
    const apart = store.db.selectFrom('metered_calls').select('transfer').where('call_id', '=', 'call_2025-01_2')
    const { transfer } = await apart.executeTakeFirstOrThrow()
    const kept = store.db
      .selectFrom('ledger_transfers')
      .select('at')
      .where('key', '=', transfer ?? '')
    assert.match((await kept.executeTakeFirstOrThrow()).at, /^2025-01/)
    assert.deepEqual(
      (await rowsIn(store, 'metered_calls')).filter((month) => month < '2025-04'),
      ['2025-02'],
    )
  })

  it('names a file that was changed, cut, swapped or is missing, believes nothing of it, and says what to do', async (t) => {
    const { store, folder, archive, file, verify } = await filled(open, t)
    await archive('2025-04')
    const path = file('2025-02')
    const bytes = readFileSync(path)
    const [row] = (await listArchives(store.db)).slice(1)
    const { facts } = await openArchive(row as ArchiveRow)
    const inReceipts = (facts.blocks.find(({ of }) => of === 'receipts')?.at ?? 0) + 20
    const spoil: Array<[RegExp, () => void]> = [
      [
        /2025-02\.jsonl\.gz was changed/,
        () => writeFileSync(path, bytes.with(inReceipts, (bytes[inReceipts] ?? 0) ^ 1)),
      ],
      [/2025-02\.jsonl\.gz was changed/, () => truncateSync(path, bytes.length - 9)],
      [/2025-02\.jsonl\.gz was changed/, () => truncateSync(path, 0)],
      [/2025-02\.jsonl\.gz was changed/, () => writeFileSync(path, readFileSync(file('2025-01')))],
      [/2025-02\.jsonl\.gz was changed/, () => writeFileSync(path, Buffer.concat([bytes, bytes]))],
      [/2025-02\.jsonl\.gz is missing/, () => rmSync(path)],
    ]
    for (const [fault, change] of spoil) {
      change()
      const { faults } = await verify()
      assert.match(faults.join(), fault)
      assert.match(faults.join(), /Put the file back from a copy/)
      const page = usageReceipts(store, { limit: 100, from: '2025-02-01T00:00:00Z', to: '2025-03-01T00:00:00Z' })
      await assert.rejects(page, { code: 'store_corrupt', message: fault })
      writeFileSync(path, bytes)
    }
    assert.deepEqual((await verify()).faults, [])

    const elsewhere = join(folder, 'elsewhere')
    await assert.rejects(archive('2025-04', elsewhere), { code: 'conflict', message: /move all files there first/ })
    renameSync(join(folder, 'archives'), elsewhere)
    await archive('2025-04', elsewhere)
    assert.deepEqual((await verify()).faults, [])
    rmSync(join(folder, 'signing-key.json'))
    assert.match((await verify()).faults.join(), /2025-01\.jsonl\.gz is signed by SHA256:\S+, which is no key/)
  })

  it('finds what was changed in the store about archived months', async (t) => {
    const { store, mine, archive, verify } = await filled(open, t)
    await archive('2025-04')
    const faults = async () => (await verify()).faults.join('\n')
    const where = { caller: `${mine}`, day: '2025-02-05' }
    const add = (micros: number) =>
      store.db
        .updateTable('spending')
        .set((eb) => ({ charged_micros: eb('charged_micros', '+', micros) }))
        .where('owner', '=', where.caller)
        .where('day', 'in', [where.day, 'total'])
        .execute()
    await add(5)
    assert.match(await faults(), new RegExp(`Spending of ${mine} on ${where.day}: it is 120`))
    await add(-5)
    const usage = (calls: number) =>
      store.db
        .updateTable('metered_usage')
        .set({ calls })
        .where('caller_id', '=', mine)
        .where('day', '=', where.day)
        .execute()
    await usage(2)
    assert.match(await faults(), new RegExp(`Usage of ${mine} on ${where.day} with m1: the stored sums are not those`))
    await usage(1)
    await store.db
      .updateTable('ledger_accounts')
      .set({ head: '0'.repeat(64) })
      .where('id', '=', `held:${mine}`)
      .execute()
    assert.match(await faults(), /its chain ends at|held:/)
  })

  it('lets months stay that have something open, and those that are not old enough', async (t) => {
    const { store, mine, archive, folder } = await filled(open, t)
    await assert.rejects(archive('2025-06'), { code: 'validation_failed', message: /2025-05 is the latest bound/ })
    await store.db
      .insertInto('withdrawals')
      .values({
        ...{ id: 'wd_1', caller_id: mine, recipient: mine, amount_micros: 1, token: 't' },
        ...{ created_at: '2025-02-03T00:00:00.000Z', settled_at: null },
      })
      .execute()
    const { sealed, stays } = await archive('2025-04')
    assert.deepEqual(
      sealed.map(({ month }) => month),
      ['2025-01'],
    )
    assert.deepEqual([stays?.month, stays?.reason.includes('withdrawals that are not paid: 1')], ['2025-02', true])
    assert.deepEqual(readdirSync(join(folder, 'archives')).sort(), ['2025-01.jsonl.gz', 'archive.lock'])
  })

  it('keeps a month for what was open before its end, and none for the first moment of the next', async (t) => {
    const { store, mine } = await filled(open, t)
    const first = '2025-03-01T00:00:00.000Z'
    for (const [what, reason, opened] of OPEN_THINGS) {
      const settle = await opened(store, mine, first)
      assert.equal(await unsettledIn(store, boundsOf('2025-02')), null, what)
      assert.match((await unsettledIn(store, boundsOf('2025-03'))) ?? '', new RegExp(`^${reason}`), what)
      await settle()
      assert.equal(await unsettledIn(store, boundsOf('2025-03')), null, what)
    }
  })

  it('archives once when two do so at the same time', async (t) => {
    const { store, archive, verify, folder } = await filled(open, t)
    const [one, two] = await Promise.allSettled([archive('2025-04'), archive('2025-04')])
    assert.deepEqual([one.status, two.status].sort(), ['fulfilled', 'rejected'])
    const refused = [one, two].find(({ status }) => status === 'rejected') as PromiseRejectedResult
    assert.match(refused.reason.message, /Another process archives into/)
    assert.deepEqual((await verify()).faults, [])
    assert.equal((await listArchives(store.db)).length, 3)
    assert.equal(existsSync(join(folder, 'archives', '2025-01.jsonl.gz.partial')), false)
  })
}
