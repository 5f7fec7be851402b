import assert from 'node:assert/strict'
import { it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { until } from '../doubles/until.ts'
import { startPlatform } from './platform.ts'
import { scraped } from './scrape.ts'

/** Time after which a scrape reads the store again, in milliseconds: the time limit of one, and the time that it serves. */
const READ_AGAIN_MS = 3_200

it('takes no further connection of a slow store at each scrape', async () => {
  const url = await (await sharedPostgres()).databaseWithTables()
  const running = await startPlatform('sandbox', { env: { GAZEWAY_STORE: url }, withHttp: false })
  // A transaction sees the activity of its begin.
  const [other, watch] = [new pg.Client(url), new pg.Client(url)]
  await Promise.all([other.connect(), watch.connect()])
  const waiting = async () => {
    const { rows } = await watch.query(`select count(*) as waiting from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database() and query like '%alert_messages%'`)
    return Number(rows[0].waiting)
  }
  try {
    await other.query('begin')
    await other.query('lock table alert_messages in access exclusive mode')
    const first = await scraped(running.url)
    assert.equal(first.find(({ name }) => name === 'gazeway_store_up')?.value, 0)
    const held = await waiting()
    assert.ok(held > 0)
    await delay(READ_AGAIN_MS - 2_000)
    await scraped(running.url)
    assert.equal(await waiting(), held)
    await other.query('commit')
    await until(async () => (await scraped(running.url)).find(({ name }) => name === 'gazeway_store_up')?.value === 1)
  } finally {
    await Promise.all([other.end(), watch.end()])
    await running.close()
  }
})
