import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSharedFacts, forgetFacts, listFacts } from '../../src/inference/dialect/shared-facts.ts'
import type { Store } from '../../src/store/store.ts'
import { until } from '../doubles/until.ts'

const SECONDS = 1000
const [UPSTREAM, MODEL] = ['a', 'thinker']

/** Facts of what models refuse, on every engine. `open` opens an empty store. */
export function factsContract(open: () => Promise<Store>): void {
  describe('facts of what models refuse', () => {
    it('are shared by the processes of a store, until they are forgotten or an hour old', async () => {
      const store = await open()
      let at = Date.parse('2026-11-27T04:20:00.000Z')
      const now = () => new Date(at)
      const process = () => createSharedFacts({ store, now, onError: (fault) => assert.fail(String(fault)) })
      const [one, other] = [process(), process()]
      /** Waits until another process says the same, which reads every ten seconds. */
      const says = (keyId: string, names: string[]) =>
        until(() => {
          at += 11 * SECONDS
          return String(other.of(UPSTREAM, MODEL, keyId)) === String(names)
        })

      one.learn(UPSTREAM, MODEL, 'key_1', ['no_effort'])
      one.learn(UPSTREAM, MODEL, 'key_1', ['no_effort'])
      assert.deepEqual(one.of(UPSTREAM, MODEL, 'key_1'), ['no_effort'])
      await says('key_1', ['no_effort'])
      assert.deepEqual(other.of(UPSTREAM, MODEL, 'key_3'), [])
      other.learn(UPSTREAM, MODEL, 'key_2', ['no_effort'])
      await says('key_3', ['no_effort'])
      await until(async () => {
        const listed = await listFacts(store, now())
        return String(listed.map(({ keyId, name }) => `${keyId} ${name}`)) === 'key_1 no_effort,key_2 no_effort'
      })

      assert.equal(await forgetFacts(store), 2)
      await says('key_1', [])
      one.learn('b', MODEL, null, ['no_effort'])
      await until(async () => (await listFacts(store, now())).length === 1)
      at += 3601 * SECONDS
      assert.deepEqual(await listFacts(store, now()), [])
      assert.equal(await one.sweep.batch(100), 1)
      await store.close()
    })
  })
}
