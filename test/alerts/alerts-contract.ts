import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createAlerts } from '../../src/alerts/alerts.ts'
import { BACKOFF_MS } from '../../src/alerts/deliver-alerts.ts'
import { createGroups } from '../../src/identity/groups.ts'
import { createKeys } from '../../src/identity/keys.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { addSpending } from '../../src/wallet/budget/spending.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'
import { until } from '../doubles/until.ts'
import { startWebhook, type WebhookDouble } from '../doubles/webhook.ts'

const SENDER = bundledProgram(fileURLToPath(new URL('sender.ts', import.meta.url)))
const onError = (error: unknown) => assert.fail(String(error))

/** Alerts on every engine. `newUrl` gives the address of an empty store. */
export function alertsContract(name: string, newUrl: () => Promise<string>): void {
  describe(`alerts on ${name}`, () => {
    let webhook: WebhookDouble
    before(async () => {
      webhook = await startWebhook()
    })
    beforeEach(() => {
      webhook.received.length = 0
      webhook.answer(204)
    })
    after(() => webhook.close())

    async function start(url?: string) {
      const at = url ?? (await newUrl())
      const store = await openStore(at)
      // A receiver verifies the time of a message by its own clock.
      const clock = { ms: Date.now() }
      const now = () => new Date(clock.ms)
      const keys = createKeys({ store, now, fixedKey: null, onError })
      const groups = createGroups({ store, now })
      const givenUp: unknown[] = []
      const newAlerts = (address: { url: string; secret: string } | null = webhook) =>
        createAlerts({
          ...{ store, now, webhook: () => address, mostAbsorbed: () => 500, onForeign() {}, onLoop() {}, onError },
          onGivenUp: (message) => void givenUp.push(message),
        })
      const spend = (id: string, micros: number, groupId: string | null = null) =>
        store.write((trx) =>
          addSpending(trx, 'recorded', [{ spender: { id, groupId }, day: now().toISOString().slice(0, 10), micros }]),
        )
      return { url: at, store, clock, keys, groups, givenUp, newAlerts, spend }
    }
    async function send({ sending }: ReturnType<typeof createAlerts>): Promise<void> {
      for (const { batch } of sending) await batch(500)
    }
    const messages = (store: Store) => store.db.selectFrom('alert_messages').selectAll().orderBy('id').execute()

    it('are sent once a day for a key whose session runs in a loop, and not without a webhook', async () => {
      const { store, clock, keys, newAlerts } = await start()
      const { record } = await keys.create({ name: 'agent' })
      const loop = { callerId: record.id, sessionId: 'a', tool: 'grep', times: 5, minutes: 10 }
      newAlerts(null).onRepeated(loop)
      const { onRepeated } = newAlerts()
      for (let i = 0; i < 2; i++) onRepeated({ ...loop, times: 5 + i })
      await until(async () => (await messages(store)).length > 0)
      const [message] = await messages(store)
      assert.deepEqual(JSON.parse(message?.body ?? ''), {
        type: 'session.repeats',
        timestamp: new Date(clock.ms).toISOString(),
        data: { id: record.id, kind: 'key', name: 'agent', session_id: 'a', tool: 'grep', times: 5, minutes: 10 },
      })
      clock.ms += 86_400_000
      onRepeated(loop)
      await until(async () => (await messages(store)).length > 1)
      await keys.close()
      await store.close()
    })

    it('are sent once for a budget, its period and the part, signed', async () => {
      const { store, clock, keys, groups, newAlerts, spend } = await start()
      const { id: group } = await groups.create({
        name: 'team',
        budgets: [{ usd: 1, per: 'total' }],
        alerts: [{ at: 1 }],
      })
      const { record } = await keys.create({
        name: 'ann',
        group,
        limits: { budgets: [{ usd: 0.5, per: 'day' }] },
        alerts: [{ at: 0.8, of: 'budget' }, { at: 0.29 }],
      })
      await keys.create({ name: 'none', limits: { budgets: [{ usd: 0.5, per: 'day' }] } })
      const alerts = newAlerts()
      await spend(record.id, 144_999, group)
      await send(alerts)
      assert.equal(webhook.received.length, 0)
      await spend(record.id, 1, group)
      await send(alerts)
      await send(alerts)
      assert.equal(webhook.received.length, 1)
      const [first = assert.fail('nothing came')] = webhook.received
      const { type, data } = webhook.verified(first)
      assert.equal(type, 'budget.spent')
      const resetsAt = new Date(Date.UTC(1970, 0, 1 + Math.floor(clock.ms / 86_400_000) + 1)).toISOString()
      assert.deepEqual(data, {
        id: record.id,
        kind: 'key',
        name: 'ann',
        alert: { at: 0.29, of: 'budget' },
        budget: { per: 'day', usd: 0.5, spent_usd: 0.145, left_usd: 0.355, resets_at: resetsAt },
      })
      assert.match(String(first.headers['webhook-id']), /^alert_[0-9a-f]{32}$/)
      assert.throws(() => webhook.verified({ ...first, body: first.body.replace('ann', 'bob') }), /signature/)

      await spend(record.id, 900_000, group)
      await send(alerts)
      const [, ...next] = webhook.received
      assert.deepEqual(
        next
          .map((message) => webhook.verified(message).data)
          .map(({ kind, alert }) => [kind, alert])
          .sort(),
        [
          ['group', { at: 1, of: 'budget' }],
          ['key', { at: 0.8, of: 'budget' }],
        ],
      )
      // The next day is another period of the day's budget alone.
      clock.ms += 86_400_000
      await spend(record.id, 400_000, group)
      await send(alerts)
      assert.equal((await messages(store)).length, 5)
      // A clock that goes back, and a raised budget, send nothing again.
      clock.ms -= 86_400_000
      await keys.change(record.id, { limits: { budgets: [{ usd: 0.6, per: 'day' }] } })
      await send(alerts)
      assert.equal((await messages(store)).length, 5)
      await store.close()
    })

    it('are retried under the same id until they arrive, and given up after three days', async () => {
      const { store, clock, keys, givenUp, newAlerts, spend } = await start()
      const { record } = await keys.create({
        name: 'ann',
        limits: { budgets: [{ usd: 1, per: 'total' }] },
        alerts: [{ at: 0.5 }],
      })
      await spend(record.id, 500_000)
      // A redirect is not followed: the receiver is where the operator says.
      webhook.answer(307, { location: webhook.url })
      await send(newAlerts())
      assert.equal(webhook.received.length, 1)
      clock.ms += 14_999
      await send(newAlerts())
      assert.equal(webhook.received.length, 1)
      clock.ms += 1
      webhook.answer(200)
      await send(newAlerts())
      await send(newAlerts())
      assert.equal(webhook.received.length, 2)
      assert.equal(webhook.received[0]?.headers['webhook-id'], webhook.received[1]?.headers['webhook-id'])
      assert.equal(webhook.received[0]?.body, webhook.received[1]?.body)
      const [delivered] = await messages(store)
      assert.deepEqual([delivered?.attempts, delivered?.next_at, delivered?.error], [2, null, null])

      await keys.change(record.id, { alerts: [{ at: 0.4 }] })
      webhook.answer(500)
      for (const ms of BACKOFF_MS) {
        await send(newAlerts())
        clock.ms += ms
      }
      assert.equal(givenUp.length, 0)
      await send(newAlerts())
      clock.ms += 30 * 86_400_000
      await send(newAlerts())
      assert.equal(webhook.received.length, 2 + BACKOFF_MS.length + 1)
      assert.deepEqual(
        givenUp.map((message) => (message as { error: string }).error),
        ['The receiver answered 500.'],
      )
      await store.close()
    })

    it('are sent by one of several processes, and not at all without an address', async () => {
      const { store, keys, newAlerts, spend } = await start()
      for (let i = 0; i < 5; i++) {
        const { record } = await keys.create({
          name: 'ann',
          limits: { budgets: [{ usd: 1, per: 'month' }] },
          alerts: [{ at: 0.5 }],
        })
        await spend(record.id, 1_000_000)
      }
      await send(newAlerts(null))
      assert.deepEqual(await messages(store), [])
      await Promise.all(Array.from({ length: 4 }, () => send(newAlerts())))
      const ids = webhook.received.map(({ headers }) => headers['webhook-id'])
      assert.deepEqual([ids.length, new Set(ids).size], [5, 5])
      await store.close()
    })

    it('arrive, with their id, though the process that sends them is killed', async () => {
      const { url, store, clock, keys, newAlerts, spend } = await start()
      const { record } = await keys.create({
        name: 'ann',
        limits: { budgets: [{ usd: 1, per: 'week' }] },
        alerts: [{ at: 0.5 }],
      })
      await spend(record.id, 600_000)
      webhook.answer(null)
      const env = { ...process.env, STORE: url, WEBHOOK_URL: webhook.url, WEBHOOK_SECRET: webhook.secret }
      const sender = spawn(process.execPath, [SENDER], {
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      await webhook.got(1)
      sender.kill('SIGKILL')
      await once(sender, 'exit')
      webhook.answer(204)
      // Another process takes it over once the lease of the one that is gone has ended.
      await send(newAlerts())
      assert.equal(webhook.received.length, 1)
      clock.ms = Date.now() + 60_000
      await send(newAlerts())
      const [before, after] = webhook.received
      assert.equal(after?.headers['webhook-id'], before?.headers['webhook-id'])
      assert.equal(webhook.received.length, 2)
      await store.close()
    })

    it('are forgotten once their period is long over, and go with their group', async () => {
      const { store, clock, groups, newAlerts, spend } = await start()
      const { id } = await groups.create({
        name: 'team',
        budgets: [
          { usd: 1, per: 'day' },
          { usd: 1, per: 'total' },
        ],
        alerts: [{ at: 0.5 }],
      })
      await spend('key_a', 1_000_000, id)
      const alerts = newAlerts()
      await send(alerts)
      assert.equal((await messages(store)).length, 2)
      clock.ms += 41 * 86_400_000
      for (const { batch } of alerts.sweeps) assert.equal(await batch(10), 1)
      await send(alerts)
      assert.deepEqual(
        (await messages(store)).map(({ per }) => per),
        ['total'],
      )
      await groups.remove(id)
      assert.deepEqual(await store.db.selectFrom('alerts').selectAll().execute(), [])
      await store.close()
    })
  })
}
