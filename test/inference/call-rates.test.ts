import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { GazewayError } from '../../src/errors.ts'
import { createCallRates, UNCOUNTED_CALL } from '../../src/inference/rates/call-rates.ts'
import type { Store } from '../../src/store/store.ts'
import { until } from '../doubles/until.ts'
import { openEmptyStore } from '../store/empty-store.ts'

const folder = mkdtempSync(join(tmpdir(), 'gazeway-rates-'))
let store: Store
/** Transactions so far, and what is wrong with the store. */
const writes = { count: 0, fault: null as GazewayError | null }
const errors: unknown[] = []
let rates: ReturnType<typeof createCallRates>
before(async () => {
  store = await openEmptyStore(join(folder, 'store.db'))
  const counted: Store = {
    ...store,
    async write(work) {
      writes.count += 1
      if (writes.fault !== null) throw writes.fault
      return store.write(work)
    },
  }
  rates = createCallRates({ store: counted, onError: (error) => void errors.push(error) })
})
after(async () => {
  await rates.close()
  await store.close()
  rmSync(folder, { recursive: true })
})

const limits = (id: string, requestsPerMinute: number | null, more: object = {}) => ({
  id,
  requestsPerMinute,
  tokensPerMinute: null,
  concurrent: null,
  ...more,
})
const begin = (of: ReturnType<typeof limits>, answer = 0) => rates.begin(of, () => ({ prompt: 0, answer }))

/** Makes calls, one after the other. @returns the transactions that they took */
async function writesOf(of: ReturnType<typeof limits>, calls: number): Promise<number> {
  const before = writes.count
  for (let i = 0; i < calls; i++) {
    const call = await begin(of)
    await nextTurn()
    call.end(0)
  }
  return writes.count - before
}

it('asks the store nothing for a key without limits, and at most once a call for one with small ones', async () => {
  assert.equal(begin(limits('free', null)), UNCOUNTED_CALL)
  assert.equal(writes.count, 0)
  assert.ok((await writesOf(limits('small', 60, { concurrent: 4 }), 50)) <= 51)
  assert.ok((await writesOf(limits('alone', null, { concurrent: 4 }), 50)) <= 10)
  const large = await writesOf(limits('large', 1_000_000, { tokensPerMinute: 1e9, concurrent: 1000 }), 5000)
  assert.ok(large < 250, `${large} transactions`)
})

it('asks the store rarely for calls at once, though their number changes all the time', async () => {
  const key = limits('busy', 1_000_000, { tokensPerMinute: 1e9, concurrent: 1000 })
  const before = writes.count
  const client = async (turns: number): Promise<void> => {
    for (let i = 0; i < 30; i++) {
      const call = await begin(key, 8192)
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      call.end(40)
      for (let turn = 0; turn < (i * turns) % 10; turn++) await nextTurn()
    }
  }
  await Promise.all(Array.from({ length: 64 }, (_, i) => client(i)))
  const transactions = writes.count - before
  assert.ok(transactions < 30, `${transactions} transactions for 1,920 calls`)
})

it('refuses what it does not hold while the store is away, and loses nothing that calls gave back', async () => {
  const key = limits('away', 1000, { tokensPerMinute: 1000 })
  const first = await begin(key, 800)
  writes.fault = new GazewayError('store_unavailable', 'The store is away.')
  await assert.rejects(async () => begin(key, 100), { code: 'store_unavailable' })
  first.end(100)
  await until(() => errors.length > 0)
  writes.fault = null
  const next = await begin(key, 900)
  assert.equal(next.headers['x-ratelimit-remaining-tokens'], '0')
  next.end(0)
})
