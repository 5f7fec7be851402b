import assert from 'node:assert/strict'
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { bookMonth, monthsFrom } from '../wallet/past-months.ts'
import { newAddress } from '../wallet/setup.ts'
import { runHere } from './in-process.ts'
import { newPlace, type Place, putStore } from './server.ts'

const YEARS = 10
/** All months are closed for long. */
const MONTHS = monthsFrom(2014, 12 * YEARS)
/** So many that the store has more than the free pages that it keeps for the next writes. */
const CALLS = 120
const CHARGES = 3

async function inStore<T>({ data }: Place, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(`sqlite:${join(data, 'gazeway.db')}`)
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

/** Runs a command that ends well. @returns what it printed */
async function run(place: Place, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await runHere(place, [...args])
  assert.equal(code, 0, stderr + stdout)
  return stdout
}

describe('ten years of receipts', () => {
  const place = newPlace()
  after(() => rmSync(place.data, { recursive: true, force: true }))

  it('are sealed, proved and read by statements to the micro-dollar', { timeout: 300_000 }, async () => {
    putStore(place)
    const caller = newAddress()
    await inStore(place, async (store) => {
      for (const month of MONTHS) await bookMonth(store, month, { caller, calls: CALLS })
    })
    const statement = async (month: string, more: string[] = []) =>
      run(place, ['statement', '--month', month, '--key', caller, '--close', '--format', 'csv', ...more])
    // The last one is closed first, so that all of them have one head of the ledger before and after.
    const asked = ['2023-12', '2014-01', '2019-06']
    const read = async () => {
      const found = []
      for (const month of asked) found.push(await statement(month), await statement(month, ['--by', 'session']))
      return found
    }
    const before = await read()
    const doctor = async () => (await runHere(place, ['doctor', '--upstream', 'sandbox'])).stdout
    const [, ledger] = /ledger +(\d+ transfers, in order; head [0-9a-f]{16})/.exec(await doctor()) ?? []
    assert.ok(ledger)

    const file = join(place.data, 'gazeway.db')
    const size = statSync(file).size
    const { sealed, deleted_rows, stays } = JSON.parse(
      await run(place, ['store', 'archive', '--before', '2024-01', '--json']),
    )
    assert.deepEqual(
      sealed.map(({ month }: { month: string }) => month),
      MONTHS,
    )
    // Receipts, and reservations and charges; the deposit of the month stays.
    assert.equal(deleted_rows, MONTHS.length * (CALLS + 2 * CHARGES))
    assert.equal(stays, null)
    assert.ok(statSync(file).size < size, `${statSync(file).size} of ${size} bytes`)

    assert.deepEqual(await read(), before)
    assert.match(await doctor(), new RegExp(`ledger +${ledger}; archived months: ${MONTHS.length}\n`))
    assert.match(await run(place, ['store', 'archive', '--before', '2024-01']), /^No month was sealed\./)

    await run(place, ['store', 'backup', '--to', join(place.data, 'backups')])
    rmSync(join(place.data, 'archives', '2019-06.jsonl.gz'))
    const { code, stdout } = await runHere(place, ['doctor', '--upstream', 'sandbox'])
    assert.equal(code, 1)
    assert.match(stdout, /FAIL {2}ledger +The archive \S+2019-06\.jsonl\.gz is missing\. Put the file back from a copy/)
    // The figures of days are in the store; what the sessions worked on is in the file.
    assert.equal(await statement('2019-06'), before[4])
    const refused = await runHere(place, ['statement', '--month', '2019-06', '--by', 'session'])
    assert.match(refused.stderr, /2019-06\.jsonl\.gz is missing/)
    const late = await runHere(place, ['store', 'archive', '--before', '2999-01'])
    assert.match(late.stderr, /--before: a month stays in the store until 31 days after its end/)
  })
})
