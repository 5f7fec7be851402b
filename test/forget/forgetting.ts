import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { forgetSweep } from '../../src/forget/forget.ts'
import { MemoryInput } from '../../src/memory/memory.ts'
import { Claim, Completion, NewTask } from '../../src/tasks/tasks.ts'
import { ask, type RunningPlatform, startPlatform } from '../adapters/platform.ts'
import { completion, json, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { holdersOf } from './holders-of.ts'

/** A word of the person that stands in everything it writes. */
const MARK = 'zanzibar'
/** Same, of somebody else. */
const OTHER = 'lofoten'

/** Tests of forgetting, for every engine. */
export function forgetting(engine: string, open: () => Promise<string | null>): void {
  describe(`forgetting a person on ${engine}`, () => {
    let upstream: UpstreamDouble
    let platform: RunningPlatform

    before(async () => {
      upstream = await startUpstream()
      upstream.on('/chat/completions', json(200, completion(`An answer about ${MARK} and ${OTHER}.`)))
      const store = await open()
      const prices = { 'chat-model': { input: 1, output: 2 } }
      platform = await startPlatform(upstream.url, {
        document: { audit: { store_content: true }, pricing: { models: prices } },
        env: store === null ? {} : { GAZEWAY_STORE: store },
      })
    })
    after(async () => {
      await platform.close()
      await upstream.close()
    })

    async function newPerson(mark: string) {
      const scopes: ('inference' | 'platform')[] = ['inference', 'platform']
      const { key, record } = await platform.gateway.keys.create({ name: `${mark} person`, scopes, billing: 'cost' })
      await platform.gateway.wallet.deposit({ caller_id: record.id, amount_usd: 5, reference: record.id })
      return { key, id: record.id, mark }
    }
    type Person = Awaited<ReturnType<typeof newPerson>>

    const chat = ({ key, mark }: Person, path: string, content: string, more: object = {}) =>
      fetch(platform.gatewayUrl + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          ...('stream' in more ? {} : { 'idempotency-key': `${mark}-once` }),
          'x-gazeway-tags': `${mark}-tag`,
          'x-claude-code-session-id': `${mark}-session`,
        },
        body: JSON.stringify({ model: 'chat-model', max_tokens: 50, messages: [{ role: 'user', content }], ...more }),
      })

    /** Writes something of a person everywhere. */
    async function live(person: Person, worker: Person): Promise<void> {
      const { id, mark } = person
      const { gateway } = platform
      assert.equal((await chat(person, '/v1/chat/completions', `Where is ${mark}?`)).status, 200)
      const value = `The harbour of ${mark}.`
      for (const version of [1, 2])
        await gateway.memory.of(id).store(MemoryInput.parse({ key: mark, value: `${value} ${version}` }))
      await gateway.memory.of(null, id).store(MemoryInput.parse({ key: `shared/${mark}`, value, tags: [mark] }))
      const at = new Date().toISOString()
      const said = { content: value, tokens: 3 }
      await gateway.sessions.addExchange({
        session: { id: `ses_${mark}`, user_id: id },
        create: { source: 'test', model: null },
        user: { id: `msg_1_${mark}`, name: null, at, ...said },
        assistant: { id: `msg_2_${mark}`, tensor: '{}', poaScore: 0, callId: 'call_1', ...said },
        usage: { input: 3, output: 3 },
        costMicros: 1,
      })
      await (await gateway.conversations.open(undefined, id)).keep([{ role: 'user', content: value }])
      const gaze = humanStream(mark.length, { records: 60, paths: [`/home/${mark}/a.ts`], start: at })
      await gateway.gaze.store({ records: gaze, session_id: `gaze_${id}` }, id)
      const task = NewTask.parse({ title: `Go to ${mark}`, description: value, reward_usd: 0 })
      await gateway.tasks.create(task, id)
      const done = await gateway.tasks.create(
        NewTask.parse({ title: 'Neutral', reward_usd: 0, capabilities: ['go'] }),
        worker.id,
      )
      const claimer = await gateway.keys.find(id)
      assert.ok(claimer)
      await gateway.tasks.claim(done.id, Claim.parse({ agent: `${mark}-agent` }), claimer)
      await gateway.tasks.complete(
        done.id,
        Completion.parse({ agent: `${mark}-agent`, result: { text: value } }),
        claimer,
      )
      const row = { id: `rev_${mark}`, caller_id: id, session_id: 's', created_at: at, change: `{"line":"${value}"}` }
      const none = { repository: null, policy: null, decided_at: null, receipt: null, task_id: null }
      await gateway.store.db
        .insertInto('reviews')
        .values({ ...row, ...none })
        .execute()
      const commit = { caller_id: id, session_id: `${mark}-session`, sha: 'abc', at, subject: value }
      await gateway.store.db
        .insertInto('session_commits')
        .values({ ...commit, repository: mark, branch: mark })
        .execute()
      const amounts = { charged_micros: 0, recorded_micros: 1, beyond_micros: 0, forgiven_micros: 0 }
      await gateway.store.db
        .insertInto('spending')
        .values({ owner: `session:${id}:${mark}-session`, day: 'total', ...amounts })
        .execute()
      const file = { id: `file-${id}`, caller_id: id, upstream: 'default', at }
      await gateway.store.db.insertInto('upstream_objects').values(file).execute()
      await gateway.calls.flush()
    }

    const holders = (word: string) => holdersOf(platform.gateway.store.db, word)

    const month = () => new Date().toISOString().slice(0, 7)
    const money = async (caller_id?: string) => {
      const { gateway } = platform
      const statement = await gateway.wallet.periodStatement(month(), { caller_id })
      return JSON.stringify(statement, (key, value) =>
        /^(envelope|issued_at|at|signature)$/.test(key) ? undefined : value,
      )
    }

    it('erases its words everywhere, also those of a call under way, and keeps what proves money', async () => {
      const { gateway } = platform
      const [person, other] = [await newPerson(MARK), await newPerson(OTHER)]
      upstream.on('/chat/completions', json(200, completion(`An answer about ${MARK}.`)))
      await live(person, other)
      upstream.on('/chat/completions', json(200, completion(`An answer about ${OTHER}.`)))
      await live(other, other)
      const held = await holders(MARK)
      for (const table of [
        'calls',
        'call_tags',
        'memories',
        'memory_versions',
        'memory_words',
        'sessions',
        'session_messages',
        'conversation_turns',
        'idempotency_keys',
        'tasks',
        'task_capabilities',
        'spending',
        'reviews',
        'coding_sessions',
        'gaze_dwell',
        'keys',
      ])
        assert.ok(table in held, `${table} holds it before`)
      const others = await holders(OTHER)

      // A stream whose first half has arrived, and whose second half comes once the person is forgotten.
      let go = () => {}
      const gone = new Promise<void>((resolve) => {
        go = resolve
      })
      upstream.on('/chat/completions', async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        const part = (delta: object, more: object = {}) =>
          response.write(
            `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'chat-model', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`,
          )
        part({ role: 'assistant', content: `On ${MARK} ` })
        await gone
        part({ content: 'the end.' })
        part({}, { finish_reason: 'stop' })
        response.write(
          `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'chat-model', choices: [], usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 } })}\n\n`,
        )
        response.end('data: [DONE]\n\n')
      })
      const stream = await chat(person, '/v1/chat/completions', `Tell me more about ${MARK}, slowly.`, { stream: true })
      assert.equal(stream.status, 200, await (stream.status === 200 ? '' : stream.text()))
      const reader = stream.body?.getReader()
      assert.match(new TextDecoder().decode((await reader?.read())?.value), new RegExp(MARK))

      const reply = await ask(platform, 'POST', `/api/callers/${person.id}/forget`, { key: platform.admin })
      const { erased } = (await reply.json()) as { erased: Record<string, number> }
      assert.equal(reply.status, 200)
      assert.ok((erased.session_messages ?? 0) >= 2 && (erased.gaze_packs ?? 0) >= 60, JSON.stringify(erased))
      go()
      let rest = ''
      for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
        rest += new TextDecoder().decode(read.value)
      assert.match(rest, /\[DONE\]/, 'the stream went on to its end')
      await gateway.calls.flush()
      assert.equal((await ask(platform, 'GET', '/api/wallet', { key: person.key })).status, 401)

      assert.deepEqual(await holders(MARK), {}, 'nothing of it is left, and nothing was written afterwards')
      assert.deepEqual(await holders(OTHER), others, 'others keep all of theirs')
      const calls = await gateway.calls.history({ caller_id: person.id, limit: 10 })
      assert.equal(calls.total, 2)
      const receipts = await gateway.wallet.receipts({ caller_id: person.id, limit: 10 })
      assert.equal(receipts.items.length, 2, 'the stream was paid, too')
      assert.deepEqual((await gateway.wallet.verify()).faults, [])
      assert.deepEqual(await gateway.escrows.verify(), [])
      const { results } = await gateway.sessions.search({ q: MARK, limit: 5 }, { all: true, userId: '' })
      assert.deepEqual(results, [])
      const file = `file-${person.id}`
      const owner = (await gateway.calls.ownersOf([file], other.id)).get(file)
      assert.equal(owner?.isOwn, false, 'its files at the provider are nobody else’s')
    })

    it('erases what requests under way have stored afterwards, and a killed process had left', async () => {
      const person = await newPerson('jakarta')
      await platform.gateway.forget(person.id)
      upstream.on('/chat/completions', json(200, completion('An answer about jakarta.')))
      const value = 'The harbour of jakarta.'
      await platform.gateway.memory.of(null, person.id).store(MemoryInput.parse({ key: 'jakarta', value }))
      await platform.gateway.memory.of(person.id).store(MemoryInput.parse({ key: 'jakarta', value }))
      const task = NewTask.parse({ title: 'Go to jakarta', reward_usd: 0 })
      await platform.gateway.tasks.create(task, person.id)
      assert.ok('memories' in (await holders('jakarta')))
      await forgetSweep(platform.gateway.store, () => new Date()).batch(500)
      assert.deepEqual(await holders('jakarta'), {})
    })

    it('keeps a result that a locked reward waits for, until it is paid or over', async () => {
      const { gateway } = platform
      const [payer, worker] = [await newPerson('narvik'), await newPerson('tromso')]
      const { id } = await gateway.tasks.create(NewTask.parse({ title: 'Narvik', reward_usd: 1 }), payer.id)
      const claimer = await gateway.keys.find(worker.id)
      assert.ok(claimer)
      await gateway.tasks.claim(id, Claim.parse({ agent: 'tromso' }), claimer)
      await gateway.tasks.complete(id, Completion.parse({ agent: 'tromso', result: { change: 'tromso' } }), claimer)
      await gateway.forget(worker.id)
      assert.deepEqual(Object.keys(await holders('tromso')), ['tasks'])
      assert.deepEqual((await gateway.tasks.get(id, null)).result, { change: 'tromso' })
      const after = new Date(Date.now() + 2 * 86_400_000)
      await forgetSweep(gateway.store, () => after).batch(500)
      assert.deepEqual(await holders('tromso'), {})
    })

    it('changes no statement, and may be repeated', async () => {
      const person = await newPerson('svalbard')
      upstream.on('/chat/completions', json(200, completion('An answer about svalbard.')))
      await live(person, person)
      const before = [await money(), await money(person.id)]
      const forget = () => platform.gateway.forget(person.id)
      assert.ok('memories' in (await forget()))
      assert.deepEqual([await money(), await money(person.id)], before)
      assert.deepEqual(await forget(), {}, 'nothing is left')
      assert.deepEqual(await holders('svalbard'), {})
      await assert.rejects(platform.gateway.forget('key_nobody'), { code: 'not_found' })
      await assert.rejects(platform.gateway.forget(''), { code: 'not_found' })
      await assert.rejects(platform.gateway.forget('key_environment'), { code: 'conflict' })
      const wallet = '0xABCDEF0000000000000000000000000000000001'
      await assert.rejects(platform.gateway.forget(wallet), { code: 'not_found' })
      await platform.gateway.wallet.deposit({ caller_id: wallet, amount_usd: 1, reference: wallet })
      assert.deepEqual(await platform.gateway.forget(wallet), {}, 'a wallet in any case')
    })
  })
}
