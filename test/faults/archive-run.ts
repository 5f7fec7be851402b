import { gatewaySigner } from '../../src/signing/gateway-keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { archiveMonths } from '../../src/wallet/archive/archive-months.ts'

/** Archives a store, and is killed at a step: `archive-run URL FOLDER BEFORE STEP`. */
const [, , url = '', folder = '', before = '', step = ''] = process.argv

const now = () => new Date('2026-11-27T00:00:00.000Z')
const store = await openStore(url)
let steps = 0

/** Counts a step, and dies at the one that is asked for. */
function at(): void {
  steps += 1
  if (steps === Number(step)) process.kill(process.pid, 'SIGKILL')
}

/** Steps are before and after each transaction and each look at the store, and in the middle of the reading of a month. */
const counted: Store = {
  ...store,
  async write(work) {
    at()
    const done = await store.write(work)
    at()
    return done
  },
  async snapshot(work) {
    at()
    const done = await store.snapshot(async (trx) => {
      at()
      const result = await work(trx)
      at()
      return result
    })
    at()
    return done
  },
}
await archiveMonths(counted, {
  before,
  folder,
  isNamed: false,
  signer: await gatewaySigner(folder, now()),
  now,
  onMonth: at,
})
await store.close()
process.stdout.write(`${steps}\n`)
