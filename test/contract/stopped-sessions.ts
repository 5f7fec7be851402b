import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { resumeSession, stopSession } from '../../src/coding-sessions/session-states.ts'
import { createStoppedSessions } from '../../src/coding-sessions/stopped-sessions.ts'
import { createKeys } from '../../src/identity/keys.ts'
import type { Store } from '../../src/store/store.ts'

const now = () => new Date('2026-11-21T07:05:00Z')
const onError = (error: unknown) => assert.fail(String(error))

/** Stops of sessions by admins, on every engine. `open` opens an empty store. */
export function stoppedSessionsContract(open: () => Promise<Store>): void {
  describe('stopped sessions', () => {
    it('are known to every process, tell running calls once, and survive a restart', async () => {
      const store = await open()
      const keys = createKeys({ store, now, fixedKey: null, onError })
      const { record } = await keys.create({ name: 'agent' })
      const session = { callerId: record.id, sessionId: 'a' }
      const [here, there] = [createStoppedSessions(store, now, onError), createStoppedSessions(store, now, onError)]
      const told: string[] = []
      there.listen(({ sessionId }) => told.push(sessionId))
      assert.deepEqual([await here.has(session), await there.has(session)], [false, false])
      await assert.rejects(stopSession(store, { sessionId: 'a', callerId: undefined }, { by: null, at: now() }), {
        code: 'not_found',
      })
      for (const by of ['key_first', 'key_second'])
        assert.equal((await stopSession(store, session, { by, at: now() })).stopped_by, 'key_first')
      await Promise.all([here.refresh(), there.refresh()])
      await there.refresh()
      assert.deepEqual([here.has(session), there.has(session), told], [true, true, ['a']])
      assert.equal(here.has({ ...session, callerId: 'key_other' }), false)

      const restarted = createStoppedSessions(store, now, onError)
      assert.equal(await restarted.has(session), true)
      const raise = { raise_usd: 2, raise_minutes: 5 }
      await resumeSession(store, { sessionId: 'a', callerId: undefined }, { raise, at: now() })
      const state = await resumeSession(store, session, { raise, at: now() })
      assert.deepEqual([state.state, state.raised], ['active', { usd: 4, calls: 0, minutes: 10 }])
      for (const process of [here, there, restarted]) {
        await process.refresh()
        assert.equal(process.has(session), false)
        await process.close()
      }
      await keys.close()
      await store.close()
    })
  })
}
