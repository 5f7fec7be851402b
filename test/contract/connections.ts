import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  type Connections,
  connectionSweeps,
  createConnections,
  type LiveConnection,
} from '../../src/connections/connections.ts'
import { ENVIRONMENT_IDENTITY, type Identity } from '../../src/identity/identity.ts'
import { createKeys } from '../../src/identity/keys.ts'
import { createTickets } from '../../src/identity/tickets.ts'
import type { Store } from '../../src/store/store.ts'
import { newId } from '../../src/text/ids.ts'

const START = Date.parse('2026-11-21T07:17:52.000Z')
const onError = (error: unknown) => assert.fail(String(error))

/** Tests of socket tickets and connections, for every engine. `open` opens an empty store. */
export function connectionsContract(open: () => Promise<Store>): void {
  async function setUp() {
    const store = await open()
    let at = START
    const now = () => new Date(at)
    const keys = createKeys({ store, now, fixedKey: null, onError })
    const identity = async (scope: 'platform' | 'admin'): Promise<Identity> =>
      keys.authenticate((await keys.create({ name: scope, scopes: [scope] })).key)
    const instance = (fixedKey: string | null = null) => {
      const tickets = createTickets({ store, now, fixedKey: () => fixedKey })
      return { tickets, connections: createConnections({ store, tickets, now, onError }) }
    }
    return {
      store,
      now,
      keys,
      identity,
      instance,
      pass: (ms: number) => {
        at += ms
      },
      async close() {
        await keys.close()
        await store.close()
      },
    }
  }

  describe('a ticket', () => {
    it('made by one instance is used at another, by one of many at once', async () => {
      const { instance, identity, close } = await setUp()
      const [here, there] = [instance(), instance()]
      const maker = await identity('platform')
      const { id, ticket, expiresAt } = await here.tickets.issue({ user: 'ada', role: 'user' }, maker)
      assert.equal(Date.parse(expiresAt), START + 60_000)
      const uses = await Promise.allSettled(
        Array.from({ length: 12 }, (_, i) => (i % 2 ? here : there).tickets.redeem(ticket)),
      )
      const admitted = uses.flatMap((use) => (use.status === 'fulfilled' ? [use.value] : []))
      assert.deepEqual(admitted, [{ id, user: 'ada', role: 'user', identity: maker }])
      for (const use of uses) if (use.status === 'rejected') assert.equal(use.reason.code, 'invalid_ticket')
      await close()
    })

    it('expires after 60 s, and is then swept', async () => {
      const { store, now, instance, identity, pass, close } = await setUp()
      const { tickets } = instance()
      const maker = await identity('platform')
      const issue = () => tickets.issue({ user: 'ada', role: 'user' }, maker)
      const [late, good] = [await issue(), await issue()]
      pass(59_999)
      await tickets.redeem(good.ticket)
      pass(1)
      await assert.rejects(tickets.redeem(late.ticket), { code: 'invalid_ticket' })
      const [sweep] = connectionSweeps(store, now)
      assert.equal(await sweep?.batch(10), 1)
      assert.equal(await sweep?.batch(10), 0)
      await close()
    })

    it('of a user does not act as the admin who made it, and one of a revoked key does nothing', async () => {
      const { keys, instance, identity, close } = await setUp()
      const { tickets } = instance()
      const [admin, other] = [await identity('admin'), await identity('platform')]
      await assert.rejects(tickets.issue({ user: 'eve', role: 'admin' }, other), { code: 'insufficient_scope' })
      const user = await tickets.redeem((await tickets.issue({ user: 'ada', role: 'user' }, admin)).ticket)
      assert.deepEqual([user.identity.id, user.identity.scopes.has('admin')], [admin.id, false])
      const full = await tickets.redeem((await tickets.issue({ user: 'ada', role: 'admin' }, admin)).ticket)
      assert.ok(full.identity.scopes.has('admin'), 'an admin’s ticket lost the scope')
      const { ticket } = await tickets.issue({ user: 'ada', role: 'user' }, other)
      await keys.revoke(other.id)
      await assert.rejects(tickets.redeem(ticket), { code: 'invalid_ticket' })
      await close()
    })

    it('of the fixed key is good where that is in force, and nowhere else', async () => {
      const { instance, close } = await setUp()
      const old = instance('the-fixed-key-before').tickets
      const issue = () => old.issue({ user: 'ada', role: 'admin' }, ENVIRONMENT_IDENTITY)
      const { ticket } = await issue()
      for (const changed of ['the-fixed-key-after', null])
        await assert.rejects(instance(changed).tickets.redeem(ticket), { code: 'invalid_ticket' })
      const same = instance('the-fixed-key-before').tickets
      assert.equal((await same.redeem(ticket)).identity, ENVIRONMENT_IDENTITY)
      assert.equal((await old.redeem((await issue()).ticket)).identity, ENVIRONMENT_IDENTITY)
      await close()
    })
  })

  describe('connections', () => {
    function served(keyId: string, by: Connections): LiveConnection & { ended: Promise<string> } {
      let end: (reason: string) => void = () => {}
      const ended = new Promise<string>((resolve) => {
        end = resolve
      })
      const live = {
        id: newId('conn'),
        keyId,
        user: 'ada',
        role: 'user' as const,
        sessionId: 'ses_1',
        remote: '127.0.0.1',
        connectedAt: START,
        lastActiveAt: START,
        messages: 0,
        ended,
        close(reason: string) {
          by.gone(live.id)
          end(reason)
        },
      }
      by.opened(live)
      return live
    }

    it('of all instances are listed, newest first, to their own key and to admins', async () => {
      const { instance, close } = await setUp()
      const [here, there] = [instance().connections, instance().connections]
      const first = served('key_a', here)
      const second = served('key_b', there)
      const third = served('key_a', there)
      third.messages = 3
      third.lastActiveAt = START + 1500
      there.active(third)
      await there.list({ limit: 1 }, null)
      const page = await here.list({ limit: 2 }, null)
      assert.deepEqual([page.total, page.items.map(({ id }) => id)], [3, [third.id, second.id]])
      assert.deepEqual([page.items[0]?.messages, page.items[0]?.last_active_at], [3, '2026-11-21T07:17:53.500Z'])
      const rest = await here.list({ limit: 2, cursor: page.next_cursor ?? '' }, null)
      assert.deepEqual([rest.items.map(({ id }) => id), rest.next_cursor], [[first.id], null])
      const own = await here.list({ limit: 50 }, 'key_b')
      assert.deepEqual([own.total, own.items[0]?.id], [1, second.id])
      await here.close()
      assert.equal((await there.list({ limit: 50 }, null)).total, 2)
      await there.close()
      await close()
    })

    it('are closed on whichever instance serves them, within 5 s', async () => {
      const { instance, close } = await setUp()
      const [here, there] = [instance().connections, instance().connections]
      const far = served('key_a', there)
      const near = served('key_a', here)
      await there.list({ limit: 1 }, null)
      await assert.rejects(here.end(far.id, 'key_b'), { code: 'not_found' })
      const asked = performance.now()
      assert.equal(await here.end(far.id, 'key_a'), 'closing')
      assert.equal(await here.end(near.id, null), 'closed')
      // The other instance looks by a timer that keeps no process alive.
      const late = setTimeout(() => {}, 5000)
      assert.equal(await far.ended, 'asked')
      clearTimeout(late)
      assert.ok(performance.now() - asked < 5000, 'it took longer')
      assert.equal((await there.list({ limit: 1 }, null)).total, 0)
      await here.close()
      await there.close()
      await close()
    })

    it('of an instance that died are not shown, and swept with it', async () => {
      const { store, now, instance, pass, close } = await setUp()
      const [alive, dead] = [instance().connections, instance().connections]
      const lost = served('key_a', dead)
      await dead.list({ limit: 1 }, null)
      pass(30_001)
      assert.equal((await alive.list({ limit: 50 }, null)).total, 0)
      await assert.rejects(alive.end(lost.id, null), { code: 'not_found' })
      const sweep = connectionSweeps(store, now)[1]
      // It may be asleep, and is to close what it was asked to.
      pass(600_000)
      assert.equal(await sweep?.batch(10), 0)
      pass(86_400_000)
      assert.equal(await sweep?.batch(10), 1)
      // It was not dead, it slept: what it serves is shown again.
      dead.active(lost)
      assert.equal((await dead.list({ limit: 50 }, null)).total, 1)
      await dead.close()
      await alive.close()
      await close()
    })
  })
}
