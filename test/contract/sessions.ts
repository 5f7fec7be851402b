import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createSessions, type Exchange, NewSession, type Sessions, type Viewer } from '../../src/sessions/sessions.ts'
import type { Store } from '../../src/store/store.ts'

const ANN: Viewer = { userId: 'key_ann', all: false }
const BOB: Viewer = { userId: 'key_bob', all: false }
const ADMIN: Viewer = { userId: 'key_admin', all: true }

/** Tests of chat sessions, for every engine. `open` opens an empty store. */
export function sessionsContract(open: () => Promise<Store>): void {
  let at = Date.parse('2026-11-21T07:00:00.000Z')

  async function sessionsFor(t: TestContext): Promise<Sessions & { store: Store }> {
    const store = await open()
    t.after(() => store.close())
    // Each moment is later than the one before.
    const now = () => {
      at += 1000
      return new Date(at)
    }
    return { ...createSessions({ store, now, chatModel: () => 'chat-model' }), store }
  }
  const create = (sessions: Sessions, { userId }: Viewer, input: object = {}) =>
    sessions.create(NewSession.parse(input), { userId, source: 'platform' })

  describe('sessions', () => {
    it('are made once under an id, listed last active first, and seen by their owner and admins alone', async (t) => {
      const sessions = await sessionsFor(t)
      const first = await create(sessions, ANN, { id: 'one', title: 'First', parent_session_id: 'zero' })
      assert.deepEqual(first, {
        id: 'one',
        title: 'First',
        user_id: 'key_ann',
        source: 'platform',
        model: 'chat-model',
        started_at: first.started_at,
        last_active: first.started_at,
        ended_at: null,
        end_reason: null,
        parent_session_id: 'zero',
        message_count: 0,
        tool_call_count: 0,
        input_tokens: 0,
        output_tokens: 0,
        estimated_cost_usd: 0,
        preview: '',
      })
      assert.ok(first.started_at > 1.7e9 && first.started_at < 1e10, 'Unix seconds')
      for (const viewer of [ANN, BOB])
        await assert.rejects(create(sessions, viewer, { session_id: 'one' }), { code: 'session_exists', status: 409 })
      const second = await create(sessions, ANN, { model: 'other-model' })
      assert.match(second.id, /^ses_[0-9a-f]{32}$/)
      assert.equal(second.model, 'other-model')
      await create(sessions, BOB, { id: 'bobs' })
      await sessions.addExchange(exchange('one', ANN))

      const mine = await sessions.list({ limit: 10 }, ANN)
      assert.deepEqual([mine.items.map((item) => item.id), mine.total], [['one', second.id], 2])
      const all = await sessions.list({ limit: 2 }, ADMIN)
      assert.deepEqual([all.items.map((item) => item.id), all.total], [['one', 'bobs'], 3])
      const rest = await sessions.list({ limit: 2, cursor: all.next_cursor ?? '' }, ADMIN)
      assert.deepEqual([rest.items.map((item) => item.id), rest.next_cursor], [[second.id], null])
      assert.equal((await sessions.list({ limit: 10, offset: 2 }, ADMIN)).items[0]?.id, second.id)
      assert.equal((await sessions.list({ limit: 10, source: 'socket' }, ADMIN)).total, 0)
      assert.equal((await sessions.list({ limit: 10, source: 'platform' }, BOB)).items[0]?.id, 'bobs')
      await assert.rejects(sessions.list({ limit: 1, cursor: 'x' }, ANN), { code: 'invalid_cursor' })

      assert.equal((await sessions.get('one', ADMIN)).id, 'one')
      const unknown = { code: 'not_found', status: 404 }
      await assert.rejects(sessions.get('one', BOB), unknown)
      await assert.rejects(sessions.messages('one', { limit: 1 }, BOB), unknown)
      await assert.rejects(sessions.update('one', { title: 'mine now' }, BOB), unknown)
      await assert.rejects(sessions.remove('one', BOB), unknown)
      assert.equal((await sessions.get('one', ANN)).title, 'First')
    })

    it('keep exchanges in order, with their figures', async (t) => {
      const sessions = await sessionsFor(t)
      await create(sessions, ANN, { id: 's' })
      await sessions.update('s', { end_reason: 'done' }, ANN)
      assert.ok((await sessions.get('s', ANN)).ended_at, 'ended')
      for (let i = 1; i <= 5; i++)
        await sessions.addExchange(exchange('s', ANN, `question ${i}\nmore 😀`, `answer ${i}`))
      const session = await sessions.get('s', ANN)
      assert.deepEqual(
        [session.message_count, session.input_tokens, session.output_tokens, session.estimated_cost_usd],
        [10, 50, 25, 0.000075],
      )
      assert.deepEqual([session.preview, session.ended_at, session.end_reason], ['question 1 more 😀', null, null])

      const page = await sessions.messages('s', { limit: 4 }, ANN)
      assert.deepEqual(
        page.items.map((message) => message.content),
        ['question 4\nmore 😀', 'answer 4', 'question 5\nmore 😀', 'answer 5'],
      )
      assert.equal(page.total, 10)
      const [question, answer] = page.items
      assert.equal(question?.timestamp, Date.parse('2026-11-21T06:59:59.000Z') / 1000)
      assert.deepEqual(
        { ...answer, id: '', timestamp: 0 },
        {
          id: '',
          session_id: 's',
          role: 'assistant',
          content: 'answer 4',
          timestamp: 0,
          token_count: 2,
          call_id: 'call_1',
          tensor: 'COG:1.00/EMO:0.00/ENV:0.00',
          poa_score: 0.5,
        },
      )
      const before = await sessions.messages('s', { limit: 100, cursor: page.next_cursor ?? '' }, ANN)
      assert.deepEqual(
        [before.items.length, before.items[0]?.content, before.next_cursor],
        [6, 'question 1\nmore 😀', null],
      )
      await assert.rejects(sessions.messages('s', { limit: 1, cursor: 'eA' }, ANN), { code: 'invalid_cursor' })
      const skipped = async (query: { limit: number; offset: number; cursor?: string }) => {
        const { items, next_cursor } = await sessions.messages('s', query, ANN)
        return [items.map(({ content }) => content), next_cursor !== null]
      }
      assert.deepEqual(await skipped({ limit: 2, offset: 3 }), [['answer 3', 'question 4\nmore 😀'], true])
      assert.deepEqual(await skipped({ limit: 5, offset: 9 }), [['question 1\nmore 😀'], false])
      assert.deepEqual(await skipped({ limit: 5, offset: 10 }), [[], false])
      const cursor = page.next_cursor ?? ''
      assert.deepEqual(await skipped({ limit: 1, offset: 1, cursor }), [['question 3\nmore 😀'], true])
      const newest = []
      for await (const row of sessions.newest('s')) newest.push(row.position)
      assert.deepEqual(newest, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
    })

    it('end a page of long messages early, and go on by its cursor', async (t) => {
      const sessions = await sessionsFor(t)
      await create(sessions, ANN, { id: 's' })
      const long = 'é'.repeat(128 * 1024)
      for (let i = 0; i < 20; i++) await sessions.addExchange(exchange('s', ANN, long, `a${i}`))
      let seen = 0
      let cursor: string | null = ''
      while (cursor !== null) {
        const page = await sessions.messages('s', { limit: 1000, ...(cursor && { cursor }) }, ANN)
        assert.ok(page.items.reduce((sum, item) => sum + (item.content?.length ?? 0), 0) <= 4 * 1024 * 1024, 'bounded')
        seen += page.items.length
        cursor = page.next_cursor
      }
      assert.equal(seen, 40)
    })

    it('take exchanges that arrive at once, each whole', async (t) => {
      const sessions = await sessionsFor(t)
      await create(sessions, ANN, { id: 's' })
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => sessions.addExchange(exchange('s', ANN, `q${i}`, `a${i}`))),
      )
      const { items } = await sessions.messages('s', { limit: 1000 }, ANN)
      assert.equal(items.length, 40)
      for (let i = 0; i < 40; i += 2)
        assert.equal(items[i + 1]?.content, items[i]?.content?.replace('q', 'a'), 'an answer follows its question')
      assert.equal((await sessions.get('s', ANN)).message_count, 40)
    })

    it('are made with their first exchange where that is asked for, and never for somebody else', async (t) => {
      const sessions = await sessionsFor(t)
      const create = { source: 'socket', model: null }
      await Promise.all([1, 2].map(() => sessions.addExchange({ ...exchange('new', ANN), create })))
      assert.deepEqual(await sessions.find('new'), { id: 'new', user_id: 'key_ann', model: null })
      assert.equal((await sessions.list({ limit: 5, source: 'socket' }, ANN)).total, 1)
      assert.equal((await sessions.get('new', ANN)).message_count, 4)
      await assert.rejects(sessions.addExchange({ ...exchange('new', BOB), create }), { code: 'not_found' })
      await assert.rejects(sessions.addExchange(exchange('gone', ANN)), { code: 'not_found' })
      assert.equal(await sessions.find('gone'), null)
      assert.equal((await sessions.get('new', ADMIN)).message_count, 4)
    })

    it('are deleted with all that belongs to them', async (t) => {
      const sessions = await sessionsFor(t)
      for (const id of ['kept', 'gone']) {
        await create(sessions, ANN, { id, title: 'pelican' })
        await sessions.addExchange(exchange(id, ANN, 'about pelicans'))
      }
      await sessions.remove('gone', ANN)
      await assert.rejects(sessions.remove('gone', ANN), { code: 'not_found' })
      await assert.rejects(sessions.messages('gone', { limit: 5 }, ADMIN), { code: 'not_found' })
      assert.deepEqual((await sessions.list({ limit: 5 }, ANN)).total, 1)
      const found = await sessions.search({ q: 'pelican', limit: 5 }, ADMIN)
      assert.deepEqual(
        found.results.map(({ session }) => session.id),
        ['kept'],
      )
      for (const table of ['session_messages', 'session_texts'] as const) {
        const rows = await sessions.store.db.selectFrom(table).select('session_id').execute()
        assert.deepEqual([...new Set(rows.map((row) => row.session_id))], ['kept'], table)
      }
    })

    it('are found by words of their titles and messages, by those who see them', async (t) => {
      const sessions = await sessionsFor(t)
      await create(sessions, ANN, { id: 'a', title: 'Résumé of the Quarter' })
      await create(sessions, BOB, { id: 'b' })
      await create(sessions, ANN, { id: 'c' })
      await sessions.addExchange(exchange('a', ANN, 'Where is the deployment log?', 'In 数据库 one, "quoted" OR not.'))
      await sessions.addExchange(exchange('b', BOB, 'Deploy it', 'Done'))
      await sessions.addExchange(exchange('c', ANN, 'Deployments again', `${'x'.repeat(5000)} 'end`))
      const find = async (q: string, viewer: Viewer) =>
        (await sessions.search({ q, limit: 10 }, viewer)).results.map(({ session }) => session.id)
      assert.deepEqual(await find('deploy', ANN), ['c', 'a'])
      assert.deepEqual(await find('deploy', ADMIN), ['c', 'b', 'a'])
      assert.deepEqual(await find('deploy LOG', ANN), ['a'])
      assert.deepEqual(await find('resume', ANN), ['a'])
      assert.deepEqual(await find('数据', ANN), ['a'])
      assert.deepEqual(await find('quarter', BOB), [])
      assert.deepEqual(await find('xxxxxxxx', ANN), ['c'])
      for (const nothing of ['', '   ', '"', "'", '* OR NOT', 'unheard', '\\', ':*', 'user_id : key'])
        assert.deepEqual(await find(nothing, BOB), [], nothing)
      const { results } = await sessions.search({ q: 'quot', limit: 1 }, ANN)
      assert.deepEqual(
        [results[0]?.message?.role, results[0]?.snippet],
        ['assistant', 'In 数据库 one, "quoted" OR not.'],
      )
      await sessions.update('a', { title: 'Other' }, ANN)
      assert.deepEqual(await find('quarter', ANN), [])
      const [titled] = (await sessions.search({ q: 'other', limit: 1 }, ANN)).results
      assert.deepEqual([titled?.message, titled?.snippet, titled?.session.title], [null, 'Other', 'Other'])
      await sessions.update('a', { title: null }, ANN)
      assert.deepEqual(await find('other', ANN), [])
    })

    it('are found by words with marks', async (t) => {
      const sessions = await sessionsFor(t)
      await create(sessions, ANN, { id: 'a', title: 'मेरी किताब' })
      await create(sessions, ANN, { id: 'b' })
      for (const [asked, answered] of [
        ['कुत्ता', 'مُحَمَّد'],
        ['plain', 'ข้อความ'],
      ])
        await sessions.addExchange(exchange('b', ANN, asked, answered))
      const find = async (q: string) =>
        (await sessions.search({ q, limit: 10 }, ANN)).results.map(({ session }) => session.id)
      for (const query of ['किताब', 'मेरी']) assert.deepEqual(await find(query), ['a'], query)
      for (const query of ['कुत्ता', 'محمد', 'plain', 'ความ']) assert.deepEqual(await find(query), ['b'], query)
      assert.deepEqual(await find('तब'), [])
    })
  })
}

let messages = 0

function exchange(id: string, { userId }: Viewer, asked = 'Hello?', answered = 'Hello.'): Exchange {
  return {
    session: { id, user_id: userId },
    create: null,
    user: { id: `msg_${messages++}`, content: asked, name: null, tokens: 2, at: '2026-11-21T06:59:59.000Z' },
    assistant: {
      id: `msg_${messages++}`,
      content: answered,
      tokens: 2,
      tensor: 'COG:1.00/EMO:0.00/ENV:0.00',
      poaScore: 0.5,
      callId: 'call_1',
    },
    usage: { input: 10, output: 5 },
    costMicros: 15,
  }
}
