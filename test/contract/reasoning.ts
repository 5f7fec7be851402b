import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createReasoning } from '../../src/inference/reasoning/reasoning.ts'
import type { Store } from '../../src/store/store.ts'
import { until } from '../doubles/until.ts'

const DAY_MS = 24 * 3_600_000
const BOND = { callerId: 'key_1', upstream: 'https://a.example/v1', model: 'thinker' }
const STATE = { message: { reasoning_content: 'Hm.' }, calls: {} }
const CALLING = {
  role: 'assistant',
  tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{"at": 1}' } }],
}

/** Reasoning that is carried to clients and back, on every engine. `open` opens an empty store. */
export function reasoningContract(open: () => Promise<Store>): void {
  describe('reasoning of providers', () => {
    async function start() {
      const store = await open()
      let at = Date.parse('2026-11-21T07:17:52.000Z')
      const faults: unknown[] = []
      const deps = {
        store,
        now: () => new Date(at),
        keepDays: () => 7,
        onError: (fault: unknown) => void faults.push(fault),
      }
      return {
        store,
        faults,
        /** A process that has just started. */
        process: () => createReasoning(deps),
        pass: (days: number) => {
          at += days * DAY_MS
        },
      }
    }

    const seal = async (reasoning: ReturnType<typeof createReasoning>) => {
      const call = reasoning.of(BOND)
      await call.load({ text: '{}', messages: null }, true)
      return call.seal(STATE)
    }
    const opened = async (reasoning: ReturnType<typeof createReasoning>, sealed: string, bond = BOND) => {
      const call = reasoning.of(bond)
      await call.load({ text: JSON.stringify({ sealed }), messages: null }, true)
      return call.open(sealed)
    }
    const kept = async (reasoning: ReturnType<typeof createReasoning>, bond = BOND, message: object = CALLING) => {
      const call = reasoning.of(bond)
      await call.load({ text: '{}', messages: [message] }, false)
      return call.kept(message as Record<string, unknown>, null)
    }

    it('opens in every process for the caller, the upstream and the model that it was sealed for', async () => {
      const { store, faults, process } = await start()
      const sealed = await seal(process())
      assert.deepEqual(await opened(process(), sealed), STATE)
      for (const other of [
        { callerId: 'key_2' },
        { callerId: null },
        { upstream: 'https://b.example' },
        { model: 'x' },
      ])
        assert.equal(await opened(process(), sealed, { ...BOND, ...other } as typeof BOND), null)
      const forged = sealed.slice(0, -3) + (sealed.endsWith('AAA') ? 'BBB' : 'AAA')
      for (const wrong of [forged, sealed.slice(0, -9), sealed.slice(0, 25), 'gws1.', 'gws1.unknown.AAAA'])
        assert.equal(await opened(process(), wrong), null)
      assert.deepEqual(faults, [])
      await store.close()
    })

    it('is sealed with a new key after 30 days, and opens for 90 days more', async () => {
      const { store, process, pass } = await start()
      const running = process()
      const old = await seal(running)
      pass(31)
      const newer = await seal(running)
      assert.notEqual(newer.split('.')[1], old.split('.')[1])
      assert.equal((await seal(process())).split('.')[1], newer.split('.')[1])
      for (const sealed of [old, newer]) assert.deepEqual(await opened(process(), sealed), STATE)
      pass(90)
      for (const { batch } of running.sweeps) await batch(100)
      assert.equal(await opened(process(), old), null)
      assert.deepEqual(await opened(process(), newer), STATE)
      await store.close()
    })

    it('is kept for the calls of a key, at once and in every process, until its days are over', async () => {
      const { store, process, pass } = await start()
      const running = process()
      const earlier = process()
      assert.equal(await kept(earlier), null)
      running.of(BOND).keep(CALLING, STATE)
      assert.deepEqual(await kept(running), STATE)
      assert.deepEqual(await kept(earlier), STATE)
      assert.deepEqual(await kept(process()), STATE)
      const rewritten = {
        ...CALLING,
        tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{"at":1}' } }],
      }
      assert.deepEqual(await kept(process(), BOND, rewritten), STATE)
      assert.equal(await kept(process(), { ...BOND, callerId: 'key_2' }), null)
      const other = { ...CALLING, tool_calls: [{ id: 'call_1', function: { name: 'look', arguments: '{"at":2}' } }] }
      assert.equal(await kept(process(), BOND, other), null)
      pass(8)
      assert.equal(await kept(process()), null)
      for (const { batch } of running.sweeps) await batch(100)
      assert.deepEqual(await store.db.selectFrom('reasoning_states').select('reference').execute(), [])
      await store.close()
    })

    it('is kept for a text after the same message, where tools are offered', async () => {
      const { store, process } = await start()
      const [asks, said] = [
        { role: 'user', content: 'Where?' },
        { role: 'assistant', content: 'There.' },
      ]
      const found = async (messages: object[], tools: object[]) => {
        const call = process().of(BOND)
        await call.load({ text: '{}', messages, tools }, false)
        return call.kept(messages.at(-1) as Record<string, unknown>, messages.at(-2) as Record<string, unknown>)
      }
      const call = process().of(BOND)
      await call.load({ text: '{}', messages: [asks], tools: [{}] }, false)
      call.keep(said, STATE)
      await until(async () => (await found([asks, said], [{}])) !== null)
      const parts = { ...said, content: [{ type: 'text', text: 'There.' }] }
      assert.deepEqual(await found([{ role: 'user', content: 'Before.' }, asks, parts], [{}]), STATE)
      assert.equal(await found([asks, said], []), null)
      assert.equal(await found([{ ...asks, content: 'Why?' }, said], [{}]), null)
      await store.close()
    })

    it('is shown and not carried while the store fails, and the call goes on', async () => {
      const { store, faults, process } = await start()
      for (const table of ['seal_keys', 'reasoning_states']) await store.db.schema.dropTable(table).execute()
      assert.equal(await seal(process()), '')
      assert.equal(await kept(process()), null)
      assert.ok(faults.length >= 2)
      await store.close()
    })
  })
}
