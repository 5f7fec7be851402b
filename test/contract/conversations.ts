import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'kysely'
import { createConversations } from '../../src/conversations/conversations.ts'
import type { Store } from '../../src/store/store.ts'

const START = Date.parse('2026-11-21T07:17:52.000Z')
const HOUR_MS = 3_600_000
const turn = (question: string, answer = 'Yes.') => [
  { role: 'user', content: question },
  { role: 'assistant', content: answer },
]

/** Tests of conversations, for every engine. `open` opens an empty store. */
export function conversationsContract(open: () => Promise<Store>): void {
  async function setUp() {
    const store = await open()
    let at = START
    const faults: unknown[] = []
    const deps = { store, now: () => new Date(at), onError: (error: unknown) => void faults.push(error) }
    const conversations = createConversations(deps)
    return {
      store,
      conversations,
      faults,
      /** Another assistant's process on the same store. */
      other: createConversations(deps),
      begin: async (owner: string | null = null) =>
        (await (await conversations.open(undefined, owner)).keep(turn('First?'))) ?? assert.fail('not kept'),
      pass: (ms: number) => {
        at += ms
      },
    }
  }

  describe('a conversation', () => {
    it('goes on where it was left, in another process too', async () => {
      const { store, other, begin, conversations } = await setUp()
      const id = await begin()
      assert.match(id, /^conv_/)
      const there = await other.open(id, null)
      assert.deepEqual(there.messages, turn('First?'))
      assert.equal(await there.keep(turn('Second?')), id)
      assert.deepEqual((await conversations.open(id, null)).messages, [...turn('First?'), ...turn('Second?')])
      await store.close()
    })

    it('belongs to its owner alone, and is not found under an unknown id', async () => {
      const { store, begin, conversations } = await setUp()
      const [mine, theirs] = [await begin(), await begin('key_1')]
      for (const [id, owner] of [
        [mine, 'key_1'],
        [theirs, null],
        [theirs, 'key_2'],
        ['conv_none', null],
      ] as const)
        await assert.rejects(conversations.open(id, owner), { code: 'not_found', param: 'conversation_id' })
      assert.equal((await conversations.open(theirs, 'key_1')).messages.length, 2)
      await store.close()
    })

    it('ends 24 hours after its last turn, and is cleared away then', async () => {
      const { store, begin, conversations, pass } = await setUp()
      const [id, left] = [await begin(), await begin()]
      pass(23 * HOUR_MS)
      await (await conversations.open(id, null)).keep(turn('Second?'))
      pass(23 * HOUR_MS)
      assert.equal((await conversations.open(id, null)).messages.length, 4)
      await assert.rejects(conversations.open(left, null), { code: 'not_found' })
      const [sweep] = conversations.sweeps
      assert.equal(await sweep?.batch(100), 1)
      pass(HOUR_MS)
      assert.equal(await sweep?.batch(100), 1)
      assert.equal(await sweep?.batch(100), 0)
      assert.deepEqual(await store.db.selectFrom('conversation_turns').selectAll().execute(), [])
      await store.close()
    })

    it('has 50 turns, also where several are kept at once', async () => {
      const { store, begin, conversations, other } = await setUp()
      const id = await begin()
      const at = await Promise.all(Array.from({ length: 60 }, (_, n) => (n % 2 ? conversations : other).open(id, null)))
      const kept = await Promise.all(at.map(({ keep }, n) => keep(turn(`${n}?`))))
      assert.equal(kept.filter((one) => one === id).length, 49)
      assert.equal(kept.filter((one) => one === null).length, 11)
      await assert.rejects(conversations.open(id, null), { code: 'conflict', message: /50 turns.*start a new one/ })
      await store.close()
    })

    it('is not kept where it is too long, and goes on without', async () => {
      const { store, begin, conversations } = await setUp()
      const id = await begin()
      assert.equal(await (await conversations.open(id, null)).keep(turn('x'.repeat(1024 * 1024))), null)
      assert.equal((await conversations.open(id, null)).messages.length, 2)
      assert.equal(await (await conversations.open(id, null)).keep(turn('x'.repeat(900_000))), id)
      assert.equal(await (await conversations.open(id, null)).keep(turn('x'.repeat(900_000))), null)
      await store.close()
    })

    it('costs no answer where it cannot be stored', async () => {
      const { store, conversations, faults } = await setUp()
      const conversation = await conversations.open(undefined, null)
      await sql`drop table conversation_turns`.execute(store.db)
      assert.equal(await conversation.keep(turn('First?')), null)
      assert.equal(faults.length, 1)
      await store.close()
    })
  })
}
