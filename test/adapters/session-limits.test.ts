import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type * as z from 'zod'
import { NO_SESSION } from '../../src/calls/call-session.ts'
import type { GazewayError } from '../../src/errors.ts'
import type { NewKey } from '../../src/identity/keys.ts'
import { until } from '../doubles/until.ts'
import {
  chunks,
  completion,
  fails,
  json,
  response,
  responseEvents,
  sse,
  startUpstream,
  type UpstreamDouble,
} from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'

const MESSAGES = [{ role: 'user', content: 'Hello' }]
const CHAT = { model: 'gpt-test', messages: MESSAGES, max_tokens: 100 }

let upstream: UpstreamDouble
let running: RunningPlatform
before(async () => {
  upstream = await startUpstream()
  upstream.on('/chat/completions', json(200, completion('Hello back')))
  upstream.on('/responses', json(200, response('Hello back')))
  running = await startPlatform(upstream.url, {
    document: { wallet: { wait_ms: 0 }, pricing: { models: { 'gpt-test': { input: 1, output: 5 } } } },
  })
})
after(async () => {
  await running.close()
  await upstream.close()
})

type Limits = NonNullable<z.input<typeof NewKey>['limits']>

async function newKey(limits: Limits, group: string | null = null) {
  const made = await running.gateway.keys.create({ name: 'agent', scopes: ['inference'], limits, group })
  return { key: made.key, id: made.record.id }
}
const ask = (key: string, session: string | null, path = '/v1/chat/completions', body: object = CHAT) =>
  fetch(`${running.gatewayUrl}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${key}`,
      ...(session !== null && { 'x-gazeway-session': session }),
    },
    body: JSON.stringify(body),
  })
const statusOf = async (asked: Promise<Response>): Promise<number> => {
  const reply = await asked
  await reply.arrayBuffer()
  return reply.status
}
const messageOf = async (asked: Promise<Response>) =>
  ((await (await asked).json()) as { error: { message: string } }).error.message

describe('a session with a limit', () => {
  it('is refused beyond its budget, in the words of each client, while others and calls without one go on', async () => {
    const { key } = await newKey({ session_usd: 0.000_01 })
    const gemini = {
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      generationConfig: { maxOutputTokens: 100 },
    }
    const asked = [
      ['/v1/chat/completions', CHAT, ['error', 'code'], 'session_budget_reached'],
      ['/v1/messages', CHAT, ['error', 'type'], 'billing_error'],
      [
        '/v1/responses',
        { model: 'gpt-test', input: 'Hello', max_output_tokens: 100 },
        ['error', 'code'],
        'session_budget_reached',
      ],
      ['/v1beta/models/gpt-test:generateContent', gemini, ['error', 'status'], 'FAILED_PRECONDITION'],
    ] as const
    for (const [path, body, [outer, inner], code] of asked) {
      const reply = await ask(key, 'agent-1', path, body)
      const text = await reply.text()
      assert.equal(reply.status, 402, `${path} ${text}`)
      assert.equal(JSON.parse(text)[outer][inner], code, `${path} ${text}`)
      assert.match(text, /Start a new session, or ask an admin to raise it: gazeway session resume agent-1 --raise/)
    }
    assert.equal(await statusOf(ask(key, null)), 200, 'a call without a session is held to the other limits alone')
  })

  it('spends the budget of its key, whatever new sessions a thief names', async () => {
    const { key, id } = await newKey({ session_usd: 1, budgets: [{ usd: 0.001, per: 'day' }] })
    const codes: string[] = []
    // What a call did not use is free a moment later, so that a refusal may come before the last answer.
    for (let i = 0; i < 300 && codes.slice(-20).filter((code) => code !== 'ok').length < 20; i++) {
      const reply = await ask(key, `new-${i}`)
      const { error } = (await reply.json()) as { error?: { code: string } }
      codes.push(error?.code ?? 'ok')
    }
    assert.deepEqual(codes.slice(-20), Array(20).fill('budget_reached'), codes.join(' '))
    const { items } = await running.gateway.keys.list({ limit: 100 })
    const spent = items.find((one) => one.id === id)?.spend.day_usd ?? 0
    assert.ok(spent > 0 && spent <= 0.001, `${spent} of ${codes.length} calls`)
  })

  it('counts its calls and minutes over all processes, and not what is refused for another reason', async () => {
    const { key, id } = await newKey({ session_calls: 2, session_minutes: 5 })
    await running.gateway.keys.change(id, { models: ['other'] })
    assert.equal(await statusOf(ask(key, 'a')), 403)
    await running.gateway.keys.change(id, { models: null })
    assert.deepEqual([await statusOf(ask(key, 'a')), await statusOf(ask(key, 'a'))], [200, 200])
    assert.match(await messageOf(ask(key, 'a')), /^This session has used its 2 calls\./)
    assert.deepEqual([await statusOf(ask(key, 'b')), await statusOf(ask(key, null))], [200, 200])
    const states = running.gateway.store.db.updateTable('session_states').where('caller_id', '=', id)
    await states.set({ started_at: new Date(Date.now() - 300_000).toISOString() }).execute()
    assert.match(await messageOf(ask(key, 'b')), /^This session has used its 5 minutes, since /)
    assert.equal(await statusOf(ask(key, 'c')), 200)
  })

  it('counts a batch as a call, and begins none beyond its calls', async () => {
    upstream.on('/files', json(200, { id: 'file_1', object: 'file' }))
    upstream.on('/batches', json(200, { id: 'batch_1', object: 'batch' }))
    const { key } = await newKey({ session_calls: 1 })
    const body = new FormData()
    body.set('purpose', 'batch')
    body.set('file', new Blob(['{}']), 'asked.jsonl')
    const headers = { authorization: `Bearer ${key}`, 'x-gazeway-session': 'batches' }
    assert.equal(await statusOf(fetch(`${running.gatewayUrl}/v1/files`, { method: 'POST', headers, body })), 200)
    const batch = () => statusOf(ask(key, 'batches', '/v1/batches', { input_file_id: 'file_1' }))
    assert.deepEqual([await batch(), await batch()], [200, 402])
  })

  it('lets each of its agents get the same result, and none of them ask again and again', async () => {
    const { key } = await newKey({ repeats: { times: 2, minutes: 10 } })
    const asAgent = (agent: string) =>
      statusOf(
        fetch(`${running.gatewayUrl}/v1/chat/completions`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${key}`,
            'x-claude-code-session-id': 'team',
            'x-claude-code-agent-id': agent,
          },
          body: JSON.stringify(CHAT),
        }),
      )
    for (const agent of ['one', 'two', 'three']) assert.equal(await asAgent(agent), 200, agent)
    assert.deepEqual([await asAgent('one'), await asAgent('one')], [200, 402])
  })

  it('is refused what it asks again and again, and not what it retries', async () => {
    const { key, id } = await newKey({ repeats: { times: 2, minutes: 10 } })
    const codes = async (session: string, body: object, times = 3) => {
      const seen: (number | string)[] = []
      for (let i = 0; i < times; i++) {
        const reply = await ask(key, session, '/v1/chat/completions', { ...CHAT, ...body })
        if (reply.status === 402) seen.push((await errorIn(reply)).code)
        else seen.push(await statusOf(Promise.resolve(reply)))
      }
      return seen
    }
    upstream.on('/chat/completions', fails(500), fails(500), json(200, completion('Hello back')))
    assert.deepEqual(await codes('retries', {}, 5), [500, 500, 200, 200, 'session_repeats'])
    assert.deepEqual(await codes('others', { messages: [{ role: 'user', content: 'Hi' }] }, 2), [200, 200])
    const turn = (i: number) => [
      { role: 'assistant', content: null, tool_calls: [call(`call_${i}`)] },
      { role: 'tool', tool_call_id: `call_${i}`, content: 'not found' },
    ]
    const call = (id: string) => ({ id, type: 'function', function: { name: 'grep', arguments: '{"for":"x"}' } })
    const messages: unknown[] = [...MESSAGES]
    const seen: unknown[] = []
    for (const i of [1, 2, 3]) {
      messages.push(...turn(i))
      seen.push(...(await codes('tools', { messages }, 1)))
    }
    assert.deepEqual(seen, [200, 200, 'session_repeats'])
    assert.match(
      await messageOf(ask(key, 'tools', undefined, { ...CHAT, messages })),
      /the same call of grep 2 times within 10/,
    )
    await running.gateway.keys.change(id, { limits: { repeats: null } })
    assert.deepEqual(await codes('retries', {}, 1), [200])
  })

  it('holds metered calls to its budget, and to its stop', async () => {
    const limits = { session_usd: 0.2, credit_limit_usd: 10 }
    const { key, record } = await running.gateway.keys.create({ name: 'paying', scopes: ['platform'], limits })
    const call = { caller_id: key, model: 'llm-4-1-fast-reasoning', prompt: 'Hello', max_tokens: 10 }
    const metered = (session: string) =>
      fetch(`${running.url}/api/wallet/metered/call`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-gazeway-session': session },
        body: JSON.stringify(call),
      })
    const codes: string[] = []
    for (const _ of [1, 2, 3]) {
      const reply = await metered('paying')
      codes.push(reply.ok ? '' : (await errorIn(reply)).code)
      if (reply.ok) await reply.arrayBuffer()
    }
    assert.deepEqual(codes, ['', '', 'session_budget_reached'])
    assert.equal(await statusOf(metered('another')), 200)
    await running.gateway.codingSessions.stop({ sessionId: 'another', callerId: record.id }, 'key_admin')
    assert.equal((await errorIn(await metered('another'))).code, 'session_stopped')
  })

  it('ends its stream with an error where the answer outgrows what is left', async () => {
    const long = sse(chunks(Array.from({ length: 400 }, () => 'a few words more '.repeat(20))))
    upstream.on('/chat/completions', long)
    const { id: group } = await running.gateway.groups.create({ name: 'streams', limits: { session_usd: 0.05 } })
    const { key } = await newKey({}, group)
    const { max_tokens: _, ...open } = CHAT
    const text = await (await ask(key, 'streaming', '/v1/chat/completions', { ...open, stream: true })).text()
    assert.match(text, /The answer was cut off\. This may cost .* is left of the budget of this session, 0\.05 USD/)
    assert.equal(await statusOf(ask(key, 'streaming', '/v1/chat/completions', open)), 402)
    upstream.on('/chat/completions', json(200, completion('Hello back')))
    assert.equal(await statusOf(ask(key, 'the next')), 200)
  })
})

describe('an admin', () => {
  const post = (path: string, key: string, body: object = {}, headers: Record<string, string> = {}) =>
    fetch(`${running.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
      body: JSON.stringify(body),
    })
  const STREAM = { ...CHAT, stream: true }

  for (const [held, limits] of [
    ['not held to a budget', {}],
    ['held to one', { session_usd: 5 }],
  ] as const)
    it(`stops a session of a key ${held} at once, its streams and whole answers too, and lets it go on`, async () => {
      const { key, id } = await newKey(limits)
      const { key: other } = await newKey({})
      upstream.on('/chat/completions', sse(chunks(['Hello', ' back']), 'hang'))
      const paths = [
        ['/v1/chat/completions', STREAM],
        ['/v1/messages', STREAM],
        ['/v1/responses', { model: 'gpt-test', input: 'Hello', stream: true }],
      ] as const
      upstream.on('/responses', sse(responseEvents(['Hello', ' back']).slice(0, 3), 'hang'))
      const streams = await Promise.all(paths.map(([path, body]) => ask(key, 'agent', path, body)))
      const others = await ask(other, 'agent', '/v1/chat/completions', STREAM)
      upstream.on('/chat/completions', () => {})
      const arrived = upstream.received.length
      const whole = ask(key, 'agent')
      await until(() => upstream.received.length > arrived)

      const stopped = await post(`/api/coding-sessions/agent/stop?key=${id}`, running.admin)
      const { stopped_at: _, stopped_by, ...state } = (await stopped.json()) as Record<string, unknown>
      const raised = { usd: 0, calls: 0, minutes: 0 }
      assert.deepEqual([stopped.status, state], [200, { id: 'agent', key: id, state: 'stopped', raised }])
      assert.match(String(stopped_by), /^key_/)
      for (const [i, stream] of streams.entries())
        assert.match(
          await stream.text(),
          /An admin has stopped this session\..*gazeway session resume agent/,
          paths[i]?.[0],
        )
      const refused = await whole
      assert.deepEqual([refused.status, (await errorIn(refused)).code], [402, 'session_stopped'])
      upstream.on('/chat/completions', json(200, completion('Hello back')))
      assert.equal((await errorIn(await ask(key, 'agent'))).code, 'session_stopped')
      assert.deepEqual([await statusOf(ask(key, 'next')), await statusOf(ask(other, 'agent'))], [200, 200])
      await others.body?.cancel()

      assert.equal((await post('/api/coding-sessions/agent/resume', key)).status, 403, 'an agent resumes nothing')
      const resumed = await post(`/api/coding-sessions/agent/resume?key=${id}`, running.admin)
      assert.equal(((await resumed.json()) as { state: string }).state, 'active')
      assert.equal(await statusOf(ask(key, 'agent')), 200)
    })

  it('stops a session of a wallet without a key, and lets it go on', async () => {
    const wallet = `0x${'5e'.repeat(20)}`
    const session = { ...NO_SESSION, session_id: 'of a wallet' }
    const asked = () =>
      running.gateway.upstream
        .chat(
          { ...CHAT, messages: [{ role: 'user', content: 'Hello' }] },
          {
            surface: 'platform',
            callerId: wallet,
            session,
            isPaid: true,
          },
        )
        .then(
          () => null,
          (error: GazewayError) => error.code,
        )
    assert.equal(await asked(), null)
    const change = (what: string) => post(`/api/coding-sessions/of%20a%20wallet/${what}`, running.admin)
    assert.equal(((await (await change('stop')).json()) as { key: string }).key, wallet)
    assert.equal(await asked(), 'session_stopped')
    await (await change('resume')).text()
    assert.equal(await asked(), null)
  })

  it('raises the limits of one session, named by its id alone where no other key has it', async () => {
    const { key, id } = await newKey({ session_usd: 0.000_01, session_calls: 1 })
    const { key: other } = await newKey({ session_calls: 1 })
    const raise = (session: string, body: object, by = running.admin) =>
      post(`/api/coding-sessions/${session}/resume`, by, body)
    assert.equal(await statusOf(ask(key, 'poor')), 402)
    assert.equal((await raise('poor', { raise_usd: 1 }, key)).status, 403, 'a key raises nothing, its own neither')
    assert.equal((await raise('poor', { raise_usd: 0 })).status, 422)
    const raised = (await (await raise('poor', { raise_usd: 1, raise_calls: 2 })).json()) as Record<string, unknown>
    assert.deepEqual([raised.key, raised.raised], [id, { usd: 1, calls: 2, minutes: 0 }])
    const asked = await Promise.all([1, 2, 3, 4, 5].map(() => statusOf(ask(key, 'poor'))))
    assert.deepEqual(asked.toSorted(), [200, 200, 200, 402, 402])
    assert.equal(await statusOf(ask(key, 'rich')), 402)
    assert.equal(await statusOf(ask(other, 'poor')), 200)
    const once = { 'idempotency-key': 'raise once' }
    const path = `/api/coding-sessions/rich/resume?key=${id}`
    for (const times of ['first', 'again']) {
      const reply = await post(path, running.admin, { raise_usd: 1 }, once)
      assert.equal(((await reply.json()) as { raised: { usd: number } }).raised.usd, 1, times)
    }
    const others = await post('/api/coding-sessions/rich/resume?key=other', running.admin, { raise_usd: 1 }, once)
    assert.deepEqual([others.status, (await errorIn(others)).code], [422, 'idempotency_key_reused'])
    const [missing, ambiguous] = [await raise('nobody', {}), await raise('poor', {})]
    assert.deepEqual([missing.status, ambiguous.status], [404, 409])
  })
})

const errorIn = async (reply: Response) => ((await reply.json()) as { error: { code: string } }).error
