import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setInterval } from 'node:timers/promises'
import { createKeys } from '../../src/identity/keys.ts'
import { startPeer } from './process.ts'
import { newFolder, storeIn } from './store.ts'

const WITHIN_MS = 5_000
const ASKED_EVERY_MS = 20

describe('a key that is revoked in one process', () => {
  it('is refused in another one, which uses it all the time, and reaches the listeners there, within 5 s', async () => {
    const folder = newFolder()
    const store = await storeIn(folder)
    const keys = createKeys({ store, now: () => new Date(), fixedKey: null, onError: (error) => assert.ifError(error) })
    const { key, record } = await keys.create({ name: 'a' })
    const [guard, watcher] = [
      startPeer('guard.ts', import.meta.url, [folder]),
      startPeer('guard.ts', import.meta.url, [folder]),
    ]
    assert.equal(await watcher.ask(key), record.id)
    const announced = watcher.ask('watch')
    for (let i = 0; i < 100; i++) assert.equal(await guard.ask(key), record.id)

    await keys.revoke(record.id)
    const revokedAt = performance.now()
    const sinceThen = () => performance.now() - revokedAt
    for await (const _ of setInterval(ASKED_EVERY_MS)) {
      if ((await guard.ask(key)) === 'invalid_api_key') break
      assert.ok(sinceThen() < WITHIN_MS, 'the key is still good')
    }
    assert.equal(await announced, record.id)
    assert.ok(sinceThen() < WITHIN_MS, 'the listener was told late')
    assert.equal(await watcher.ask(key), 'invalid_api_key')
    await Promise.all([guard, watcher].map((peer) => peer.end()))
    await keys.close()
  })

  it('reaches a process that could not ask for a long time, or whose clock was set back', async () => {
    const store = await storeIn(newFolder())
    let clock = new Date('2026-11-21T07:05:00.000Z')
    const process = () =>
      createKeys({ store, now: () => clock, fixedKey: null, onError: (error) => assert.ifError(error) })
    const [here, there] = [process(), process()]
    const ended = new Set<string>()
    here.onEnded((id) => ended.add(id))
    const revoke = async () => {
      const { record } = await there.create({ name: 'a' })
      await there.revoke(record.id)
      return record.id
    }
    for (const later of ['2026-11-21T19:05:00.000Z', '2026-11-21T10:05:00.000Z']) {
      const before = await revoke()
      clock = new Date(later)
      const after = await revoke()
      for await (const _ of setInterval(ASKED_EVERY_MS)) if (ended.has(after)) break
      assert.ok(ended.has(before), 'it was not told of')
    }
    await Promise.all([here.close(), there.close()])
  })
})
