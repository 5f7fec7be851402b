import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import { sql } from 'kysely'
import { startPostgres } from '../contract/postgres-server.ts'
import { until } from '../doubles/until.ts'
import { worksOn } from './setup.ts'
import { worksContract } from './works-contract.ts'

const server = await startPostgres()
after(() => server.remove())

worksContract('postgres', () => server.emptyStore())

it('a heartbeat without its token keeps no other claim alive that was made meanwhile, under the same name', async (t) => {
  const store = await server.emptyStore()
  t.after(() => store.close())
  const works = worksOn(store)
  const [agent, other] = [await works.agent(), await works.agent()]
  const task = await works.create(await works.payer())
  await works.claim(task, agent, { lease_seconds: 1 })
  const lease = '2026-11-21T09:00:00.000Z'

  const beat = await store.write(async (trx) => {
    await trx
      .updateTable('tasks')
      .set({ claimed_by: other.id, claim_hash: 'another', lease_seconds: 3600, lease_expires_at: lease })
      .where('id', '=', task.id)
      .execute()
    const sent = works.tasks.heartbeat(task.id, { agent: 'ada' }, agent).catch(({ code }) => code)
    const waiting = sql`select 1 from pg_locks where not granted`
    await until(async () => (await waiting.execute(trx)).rows.length > 0)
    return { sent }
  })

  assert.equal(await beat.sent, 'forbidden')
  assert.equal((await works.tasks.get(task.id, null)).lease_expires_at, lease)
})
