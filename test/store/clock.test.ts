import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { openStoreClock, storeClockAhead } from '../../src/store/clock.ts'
import { openStore } from '../../src/store/open-store.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'

const MINUTES_MS = 20 * 60_000
/** Tolerance for the reply time on a busy machine, in milliseconds. */
const NEAR_MS = 2_000

describe("the store's clock", () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-clock-'))
  after(() => rmSync(folder, { recursive: true }))

  it('sets those of machines that differ by 20 minutes', async (t) => {
    const server = await sharedPostgres()
    const store = await openStore(await server.databaseWithTables())
    t.after(async () => {
      await store.close()
    })
    for (const off of [-MINUTES_MS, MINUTES_MS]) {
      const local = () => Date.now() + off
      assert.ok(Math.abs((await storeClockAhead(store, local)) + off) < NEAR_MS, 'as doctor tells')
      const clock = await openStoreClock(store, { onError: assert.ifError, local })
      assert.ok(Math.abs(clock.now().getTime() - Date.now()) < NEAR_MS)
      clock.stop()
    }
  })

  it("is this machine's own for a file", async (t) => {
    const store = await openStore(`sqlite:${join(folder, 'store.db')}`)
    t.after(() => store.close())
    assert.ok(Math.abs(await storeClockAhead(store)) < NEAR_MS)
    const clock = await openStoreClock(store, { onError: assert.ifError })
    assert.ok(Math.abs(clock.now().getTime() - Date.now()) < NEAR_MS)
    clock.stop()
  })
})
