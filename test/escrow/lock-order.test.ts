import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { sql } from 'kysely'
import { newId } from '../../src/ids.ts'
import { openStore } from '../../src/store/open.ts'
import { createHolds } from '../../src/wallet/holds.ts'
import { createLimits } from '../../src/wallet/limits.ts'
import { startPostgres } from '../contract/postgres-server.ts'
import { worksOn } from '../tasks/setup.ts'

const WRITERS = 8
const EACH = 10

const server = await startPostgres()
after(() => server.remove())

it('a payer with a daily limit makes tasks and paid calls at once, and none waits crosswise for another', async (t) => {
  const store = await openStore(await server.database())
  t.after(() => store.close())
  const works = worksOn(store)
  const payer = await works.payer(100, { daily_limit_usd: 100 })
  const holds = createHolds({ store, now: works.clock.now, limitsOf: createLimits(store, 0) })
  const at = works.clock.now().toISOString()
  const newHold = () => ({
    callId: newId('call'),
    callerId: payer.id,
    model: 'm',
    at,
    deadline: at,
    micros: 1000,
    marginMicros: 10,
    token: 'pathUSD',
    idempotencyKey: null,
    fingerprint: null,
  })

  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      for (let i = 0; i < EACH; i++) {
        if (writer % 2 === 0) await works.create(payer, { reward_usd: 0.01 })
        else {
          const hold = newHold()
          assert.equal(await holds.reserve(hold), null)
          assert.equal(await holds.release(hold.callId), true)
        }
      }
    }),
  )

  const { rows } = await sql<{ deadlocks: number }>`select deadlocks::int from pg_stat_database
    where datname = current_database()`.execute(store.db)
  assert.deepEqual(rows, [{ deadlocks: 0 }])
  assert.equal(await works.left(payer), 100 - (WRITERS / 2) * EACH * 0.01)
  await works.audit()
})
