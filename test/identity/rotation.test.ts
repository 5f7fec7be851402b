import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { setInterval } from 'node:timers/promises'
import { createKeys } from '../../src/identity/keys.ts'
import { startPeer } from './process.ts'
import { newFolder, storeIn } from './store.ts'

const WITHIN_MS = 5_000
const ASKED_EVERY_MS = 20
const KILLS = 6

const keysIn = async (folder: string) => {
  const store = await storeIn(folder)
  return createKeys({ store, now: () => new Date(), fixedKey: null, onError: (error) => assert.ifError(error) })
}

describe('a key that is rotated in one process', () => {
  it('is opened in another one by the new secret at once, and by an ended one for at most 5 s', async () => {
    const folder = newFolder()
    const keys = await keysIn(folder)
    const { key: first, record } = await keys.create({ name: 'a' })
    const guard = startPeer('guard.ts', import.meta.url, [folder])
    assert.equal(await guard.ask(first), record.id)

    const { key: second } = await keys.rotate(record.id, {})
    for (const token of [second, first]) assert.equal(await guard.ask(token), record.id)
    const { key: third } = await keys.rotate(record.id, {})
    const rotatedAt = performance.now()
    for (const token of [third, second]) assert.equal(await guard.ask(token), record.id)
    for await (const _ of setInterval(ASKED_EVERY_MS)) {
      if ((await guard.ask(first)) === 'invalid_api_key') break
      assert.ok(performance.now() - rotatedAt < WITHIN_MS, 'the first secret is still good')
    }
    for (const token of [third, second]) assert.equal(await guard.ask(token), record.id)
    await guard.end()
    await keys.close()
  })

  it('is opened by the last secret that was printed, wherever that process was killed', async () => {
    const folder = newFolder()
    const keys = await keysIn(folder)
    const { record } = await keys.create({ name: 'a' })
    for (let i = 0; i < KILLS; i++) {
      const rotator = startPeer('rotator.ts', import.meta.url, [folder, record.id])
      const exited = once(rotator.child, 'exit')
      let last = await rotator.line()
      for (let line = 0; line < i * 3; line++) last = await rotator.line()
      rotator.child.kill('SIGKILL')
      await exited
      // Of what it wrote before its end, the last line counts.
      for (;;) {
        const more = await rotator.line().catch(() => null)
        if (more === null) break
        last = more
      }
      assert.equal((await keys.authenticate(last)).id, record.id)
    }
    await keys.close()
  })
})

describe('a key that expires', () => {
  it('reaches listeners within 5 s of its expiry, and not before', async () => {
    const keys = await keysIn(newFolder())
    const { record } = await keys.create({ name: 'a', expires_at: new Date(Date.now() + 500).toISOString() })
    const end = Date.parse(record.expires_at ?? '')
    const ended: [id: string, ending: string, at: number][] = []
    keys.onEnded((id, ending) => ended.push([id, ending, Date.now()]))
    for await (const _ of setInterval(ASKED_EVERY_MS)) {
      if (ended.length > 0) break
      assert.ok(Date.now() < end + WITHIN_MS, 'the listener was told late')
    }
    const [[id, ending, at] = []] = ended
    assert.deepEqual([id, ending], [record.id, 'expired'])
    assert.ok((at ?? 0) >= end, 'the listener was told early')
    await keys.close()
  })
})
