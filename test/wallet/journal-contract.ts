import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import type { CallRecord } from '../../src/calls/call-record.ts'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import { createCalls } from '../../src/calls/calls.ts'
import { GazewayError } from '../../src/errors.ts'
import type { Store } from '../../src/store/store.ts'
import { newId } from '../../src/text/ids.ts'
import type { Micros } from '../../src/text/money.ts'
import { LEASE_MS } from '../../src/wallet/budget/allowances.ts'
import { readPresumed, releasePresumed, sweepAllowances } from '../../src/wallet/budget/presumed-spending.ts'
import type { Payer } from '../../src/wallet/budget/reservation.ts'
import { createReservations } from '../../src/wallet/budget/reservations.ts'
import { spendOf } from '../../src/wallet/budget/spending.ts'
import { createJournal } from '../../src/wallet/journal/journal.ts'
import { recoverJournals } from '../../src/wallet/journal/recover.ts'
import { verifyLedger } from '../../src/wallet/ledger/verify-ledger.ts'
import { createCharges } from '../../src/wallet/receipts/charges.ts'
import { missingRecords } from '../../src/wallet/receipts/missing-records.ts'
import { writeRecorded } from '../../src/wallet/receipts/store-receipts.ts'
import { callFaults } from '../../src/wallet/receipts/verify-calls.ts'
import { until } from '../doubles/until.ts'
import { type OpenStore, receiptOf } from './setup.ts'

const KEY = 'key_0199f4c2c5b27a3e8f0d4a6b9c1e2d3f'
const NOW = new Date('2026-11-21T12:00:00.000Z')
const DAY = '2026-11-21'
const BUDGET = 100_000

const callRecord = (of: Partial<CallRecord>): CallRecord => ({
  ...{ call_id: newId('call'), at: NOW.toISOString(), surface: 'http', caller_id: KEY, address: null },
  ...{ path: '/v1/chat/completions', requested_model: 'm', model: 'm', upstream: 'double', stream: false },
  ...{ status: 'ok', http_status: 200, fallback_from: null, skipped: [], latency_ms: 1, first_token_ms: null },
  ...{ usage: null, upstream_cost_usd: 0, price_from: null, provider_key: null, ...NO_SESSION, error: null },
  ...of,
})

/** The first journal in a folder. */
function journalIn(folder: string): { path: string; text: string } {
  const path = join(folder, readdirSync(folder).find((name) => name.endsWith('.journal')) as string)
  return { path, text: readFileSync(path, 'utf8') }
}

/** Tests of the calls of a process that dies, on every engine. `open` opens an empty store. */
export function journalContract(open: OpenStore): void {
  const recorded: Payer = { spender: { id: KEY, groupId: null }, creditMicros: null, budgets: 'some' }
  const charged: Payer = { ...recorded, creditMicros: BUDGET }

  /** A store with a key and its budget, and a folder for journals. */
  async function prepare(t: TestContext) {
    const store = await open(t)
    const folder = mkdtempSync(join(tmpdir(), 'gazeway-journal-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    await store.db.insertInto('budgets').values({ owner: KEY, per: 'total', micros: BUDGET }).execute()
    return { store, folder }
  }

  /** The calls of a process. It dies when its journal is closed while it holds something. */
  async function startProcess(store: Store, folder: string) {
    const errors: unknown[] = []
    const journal = createJournal((error) => errors.push(error))
    await journal.open(folder)
    let isAway = false
    const write: Store['write'] = (work) =>
      isAway ? Promise.reject(new GazewayError('store_unavailable', 'The store is away.')) : store.write(work)
    const own = { ...store, write }
    const reservations = createReservations({
      ...{ store: own, journal, now: () => NOW, elapsedMs: () => 0 },
      onError: (error) => errors.push(error),
    })
    const calls = createCalls({
      ...{ store: own, writeSpending: writeRecorded, note: journal.noteCall },
      onError: (error) => errors.push(error),
    })
    const charge = createCharges(own, { note: journal.noteCharge })
    return {
      ...{ journal, reservations, calls, charge, errors },
      goAway() {
        isAway = true
      },
    }
  }

  const recover = (store: Store, folder: string, keptSince: string | null = null) =>
    recoverJournals({
      ...{ store, folder, own: null, now: () => NOW, keptSince },
      onError: (error) => assert.fail(`${error}`),
    })
  const spent = async (store: Store): Promise<Micros> => (await spendOf(store.db, [KEY], NOW)).get(KEY)?.total ?? 0
  const presumed = async (store: Store): Promise<Micros> => (await readPresumed(store.db, [KEY])).get(KEY) ?? 0

  /** A process that dies with a call that has ended and is not written, and one that runs. */
  async function die(store: Store, folder: string): Promise<void> {
    const { reservations, calls, journal, goAway } = await startProcess(store, folder)
    const [ended, running] = [await reservations.reserve(recorded, 700), await reservations.reserve(recorded, 500)]
    assert.equal(running.left(), 500)
    goAway()
    const spend = ended.take(300)
    calls.record(callRecord({}), undefined, spend)
    ended.end()
    await until(() => journalIn(folder).text.includes(',500]'), { what: 'the journal to say that 500 are out' })
    await assert.rejects(calls.flush())
    journal.close()
  }

  it('counts once what a dead process had not written, and presumes only what its running calls reserved', async (t) => {
    const { store, folder } = await prepare(t)
    await die(store, folder)
    assert.equal(await spent(store), 0)
    const { processes, calls, releasedMicros } = await recover(store, folder)
    assert.deepEqual([processes, calls], [1, 1])
    assert.ok(releasedMicros > 0)
    assert.deepEqual([await spent(store), await presumed(store)], [300, 500])
    assert.deepEqual(readdirSync(folder), [])
    assert.equal((await recover(store, folder)).processes, 0)
    assert.equal(await releasePresumed(store, KEY), 500)
    assert.equal(await presumed(store), 0)
  })

  it('writes the same record after a kill as without one', async (t) => {
    const { store, folder } = await prepare(t)
    const full = {
      ...{
        usage: { prompt_tokens: 7, completion_tokens: 5, total_tokens: 12, cached_tokens: 3 },
        tags: ['night', 'ci'],
      },
      ...{ session_id: 'one', thread_id: 'two', turn_id: 'three', kind: 'subagent', client: 'codex' },
      ...{ error: 'what the upstream said', changed: ['top_k=dropped'], skipped: [] },
      ...{ cache: { saved_usd: 0.001, missed_tokens: 4, missed_usd: 0.002, changed: 'tools' } },
    } satisfies Partial<CallRecord>
    const columns = async (id: string) => {
      const { call_id, session, error, ...row } = await store.db
        .selectFrom('calls')
        .selectAll()
        .where('call_id', '=', id)
        .executeTakeFirstOrThrow()
      const tags = await store.db
        .selectFrom('call_tags')
        .select('tag')
        .where('call_id', '=', id)
        .orderBy('tag')
        .execute()
      return { ...row, hasError: error !== null, tags }
    }
    for (const of of [full, {}]) {
      const [killed, written] = [callRecord(of), callRecord(of)]
      const { reservations, calls, journal, goAway } = await startProcess(store, folder)
      const reservation = await reservations.reserve(recorded, 700)
      calls.record(written, undefined, reservation.take(1))
      await calls.flush()
      goAway()
      calls.record(killed, undefined, reservation.take(1))
      await assert.rejects(calls.flush())
      journal.close()
      await recover(store, folder)
      assert.deepEqual(await columns(killed.call_id), await columns(written.call_id))
    }
  })

  it('counts what a process of the version before had not written', async (t) => {
    const { store, folder } = await prepare(t)
    await die(store, folder)
    const { path, text } = journalIn(folder)
    const [{ fields, ...header }, ...lines] = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const objects = lines.map(({ call, ...line }) => {
      if (call === undefined) return line
      const { values, ...rest } = call
      return {
        call: { record: Object.fromEntries(values.map((value: unknown, i: number) => [fields[i], value])), ...rest },
      }
    })
    for (const { call } of objects) for (const name of ['cache', 'tags', 'changed']) delete call?.record[name]
    rmSync(path)
    for (const line of [{ ...header, version: 1 }, ...objects]) appendFileSync(path, `${JSON.stringify(line)}\n`)
    assert.equal((await recover(store, folder)).calls, 1)
    assert.deepEqual([await spent(store), await presumed(store)], [300, 500])
  })

  it('leaves the journal of a later version alone', async (t) => {
    const { store, folder } = await prepare(t)
    await die(store, folder)
    const { path, text } = journalIn(folder)
    rmSync(path)
    appendFileSync(path, text.replace('"version":2', '"version":3'))
    assert.equal((await recover(store, folder)).processes, 0)
    assert.equal(journalIn(folder).path, path)
  })

  it('counts once, whichever of its writes a recovery dies at', async (t) => {
    const { store, folder } = await prepare(t)
    await die(store, folder)
    for (let allowed = 0, isDone = false; !isDone; allowed++) {
      let left = allowed
      for (const when of ['before', 'after']) {
        const write: Store['write'] = async (work) => {
          left -= 1
          if (left < 0 && when === 'before') throw new Error('killed')
          const result = await store.write(work)
          if (left < 0) throw new Error('killed')
          return result
        }
        left = allowed
        isDone = await recover({ ...store, write }, folder).then(
          () => true,
          () => false,
        )
      }
      assert.ok(allowed < 10)
    }
    assert.deepEqual([await spent(store), await presumed(store)], [300, 500])
  })

  it('leaves out a line that was cut off, and calls that may have been written and deleted since', async (t) => {
    const { store, folder } = await prepare(t)
    await die(store, folder)
    const { path } = journalIn(folder)
    if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o077, 0)
    appendFileSync(path, '{"call":{"record":{"call_id":"ca')
    await recover(store, folder, '2026-11-22T00:00:00.000Z')
    assert.equal(await spent(store), 0)
    assert.equal(await presumed(store), 500)
  })

  it('releases nothing by a journal of before the machine was started again', async (t) => {
    const { store, folder } = await prepare(t)
    await die(store, folder)
    const { path, text } = journalIn(folder)
    rmSync(path)
    appendFileSync(path, text.replace(/"boot":"[^"]*"/, '"boot":"another"'))
    const { releasedMicros } = await recover(store, folder)
    assert.equal(releasedMicros, 0)
    assert.equal(await spent(store), 300)
    assert.ok((await presumed(store)) > 500)
  })

  it('leaves the journal of a process alone that lives, even when it is suspended', async (t) => {
    const { store, folder } = await prepare(t)
    const source = `
      import { createJournal } from ${JSON.stringify(new URL('../../src/wallet/journal/journal.ts', import.meta.url).href)}
      const journal = createJournal(console.error)
      await journal.open(${JSON.stringify(folder)})
      process.stdout.write('open')
      setInterval(() => journal, 1000)`
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', source], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    child.kill('SIGSTOP')
    assert.equal((await recover(store, folder)).processes, 0)
    child.kill('SIGKILL')
    await once(child, 'close')
    assert.equal((await recover(store, folder)).processes, 1)
    assert.deepEqual(readdirSync(folder), [])
  })

  it('charges nobody for an answer whose charge a kill prevented, and counts its cost', async (t) => {
    const { store, folder } = await prepare(t)
    const { reservations, charge, journal, goAway } = await startProcess(store, folder)
    const call = await reservations.reserve(charged, 1_000)
    goAway()
    const { allowanceId } = call.take(401)
    const receipt = {
      ...receiptOf({ call_id: newId('call'), caller_id: KEY, at: NOW.toISOString(), counted_on: DAY }),
      upstream_cost_micros: 400,
    }
    await assert.rejects(charge({ allowanceId: allowanceId as string, receipt }))
    journal.close()
    assert.equal((await recover(store, folder)).charges, 1)
    assert.equal(await spent(store), 400)
    const accounts = await store.db.selectFrom('ledger_accounts').select(['kind', 'balance_micros']).execute()
    assert.ok(
      accounts.every(({ balance_micros }) => Number(balance_micros) === 0),
      'its money is back',
    )
    const receipts = await store.db.selectFrom('metered_calls').select(['charged', 'margin_micros']).execute()
    assert.deepEqual(
      receipts.map(({ charged, margin_micros }) => [charged, margin_micros]),
      [[0, 0]],
    )
    await releasePresumed(store, KEY)
    assert.deepEqual((await verifyLedger(store)).faults, [])
    assert.deepEqual(await callFaults(store), [])
  })

  it('deletes its journal when all is written, and begins another part before one grows long', async (t) => {
    const { store, folder } = await prepare(t)
    const { reservations, calls, journal } = await startProcess(store, folder)
    const reservation = await reservations.reserve(recorded, 10)
    const parts = () => readdirSync(folder).filter((name) => name.endsWith('.journal'))
    for (let i = 0; i < 6_000; i++) calls.record(callRecord({}), undefined, reservation.take(0))
    assert.equal(parts().length, 2)
    await calls.flush()
    calls.record(callRecord({}), undefined, reservation.take(0))
    await calls.flush()
    reservation.end()
    await reservations.close()
    journal.close()
    assert.deepEqual(readdirSync(folder), [])
  })

  it('shows neither texts nor errors of upstreams in its journal', async (t) => {
    const { store, folder } = await prepare(t)
    const { reservations, calls, journal } = await startProcess(store, folder)
    const reservation = await reservations.reserve(recorded, 10)
    const told = { error: 'the secret of the error', content: { request: 'the secret of the request' } }
    calls.record(callRecord(told), undefined, reservation.take(1))
    const { text } = journalIn(folder)
    assert.ok(text.includes('"call"'))
    assert.ok(!text.includes('secret'))
    await calls.flush()
    reservation.end()
    await reservations.close()
    journal.close()
  })

  it('holds no more than a hundredth of a budget beside what calls need, and presumes no more of an idle one', async (t) => {
    const { store, folder } = await prepare(t)
    const { reservations, journal } = await startProcess(store, folder)
    const call = await reservations.reserve(recorded, 10)
    await sweepAllowances(store, new Date(NOW.getTime() + LEASE_MS), 10)
    assert.ok((await presumed(store)) <= BUDGET / 100)
    call.end()
    await reservations.close()
    journal.close()
    assert.equal(await presumed(store), 0, 'a process that wakes up gives it back')
  })

  it('writes the record of a receipt that has none', async (t) => {
    const { store } = await prepare(t)
    const at = new Date(NOW.getTime() - 3_600_000).toISOString()
    const receipt = receiptOf({ call_id: newId('call'), caller_id: KEY, at, counted_on: DAY })
    await store.db
      .insertInto('metered_calls')
      .values({ ...receipt, transfer: null })
      .execute()
    const sweep = missingRecords(
      store,
      () => NOW,
      () => null,
    )
    assert.equal(await sweep.batch(10), 1)
    assert.equal(await sweep.batch(10), 0)
    const records = await store.db.selectFrom('calls').select(['call_id', 'status', 'total_tokens']).execute()
    assert.deepEqual(
      records.map(({ call_id, status, total_tokens }) => [call_id, status, Number(total_tokens)]),
      [[receipt.call_id, 'ok', receipt.total_tokens]],
    )
  })
}
