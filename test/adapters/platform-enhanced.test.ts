import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { AGENT_KEY, type AgentGatewayDouble, startAgentGateway } from '../doubles/agent-gateway.ts'
import { until } from '../doubles/until.ts'
import { fixationsOf, pageOf, readingOf } from '../gaze/reader.ts'
import { ask, errorOf, type RunningPlatform, startPlatform } from './platform.ts'
import { connectWithKey } from './socket-client.ts'

// biome-ignore lint/suspicious/noExplicitAny: a reply is looked into field by field.
type Json = Record<string, any>

const NOW = 1_790_000_000

/** A platform on an agent gateway with two sessions and two skills, once the platform knows it. */
async function startBoth(version: '0.11' | '0.12' | '0.17', key = AGENT_KEY) {
  const agent = await startAgentGateway(version)
  agent.sessions.set('20261121_081500_ab12', {
    id: '20261121_081500_ab12',
    title: 'Deploy the parser',
    source: 'telegram',
    last_active: NOW,
    preview: 'Please deploy the parser to staging',
  })
  agent.sessions.set('agent:main/odd id', {
    id: 'agent:main/odd id',
    title: null,
    source: 'cli',
    last_active: NOW - 100,
    preview: 'Hello',
  })
  agent.messages.set('20261121_081500_ab12', [
    { role: 'user', content: 'Please deploy the parser', timestamp: NOW - 2 },
    { role: 'assistant', content: null, timestamp: NOW - 1 },
    { role: 'assistant', content: [{ type: 'text', text: 'Done.' }], timestamp: NOW },
  ])
  agent.skills.push(
    { name: 'deploy', description: 'Deploys things.', category: 'ops' },
    { name: 'pdf', description: 'Reads PDFs.', category: null },
  )
  const platform = await startPlatform('sandbox', {
    env: { GAZEWAY_AGENT_GATEWAY_URL: `${agent.url}/v1`, GAZEWAY_AGENT_GATEWAY_KEY: key },
  })
  const health = async () => (await (await ask(platform, 'GET', '/health', { key: null })).json()) as Json
  await until(async () => (await health()).upstream.checked_at !== null)
  return {
    agent,
    platform,
    health,
    async close() {
      await platform.close()
      await agent.close()
    },
  }
}

describe('a platform on an agent gateway', () => {
  for (const [version, mode, told] of [
    ['0.17', 'enhanced', '0.17.0'],
    ['0.12', 'enhanced', '>=0.12 <0.17'],
    ['0.11', 'portable', '<0.12'],
  ] as const)
    it(`of ${version} is in the mode ${mode}`, async () => {
      const both = await startBoth(version)
      const health = await both.health()
      assert.deepEqual([health.mode, health.upstream.version, health.status], [mode, told, 'ok'])
      const { mode: same, upstream } = (await (await ask(both.platform, 'GET', '/api/gateway-status')).json()) as Json
      assert.deepEqual([same, upstream.supported], [mode, mode === 'enhanced'])
      const { items, warnings = [] } = (await (
        await ask(both.platform, 'GET', '/api/sessions', { key: both.platform.admin })
      ).json()) as Json
      const { upstream_error } = (await (await ask(both.platform, 'GET', '/api/skills')).json()) as Json
      if (mode === 'enhanced') assert.deepEqual([items.length, warnings, upstream_error], [2, [], null])
      else {
        assert.deepEqual([items, warnings.length], [[], 1])
        assert.match(warnings[0], /has version <0\.12/)
        assert.equal(upstream_error, warnings[0])
      }
      await both.close()
    })
})

describe('in the enhanced mode', () => {
  let both: Awaited<ReturnType<typeof startBoth>>
  let agent: AgentGatewayDouble
  let platform: RunningPlatform
  let own: string

  before(async () => {
    both = await startBoth('0.17')
    ;({ agent, platform } = both)
    const made = await ask(platform, 'POST', '/api/sessions', { key: platform.admin, body: { title: 'My own' } })
    own = ((await made.json()) as Json).id
  })
  after(() => both.close())

  const as = (method: string, path: string, options: { key?: string; body?: unknown } = {}) =>
    ask(platform, method, path, { key: platform.admin, ...options })
  const json = async (reply: Promise<Response>) => (await (await reply).json()) as Json
  const titles = (list: Json) => list.items.map(({ title, source }: Json) => [title, source])
  const THEIRS = 'upstream:20261121_081500_ab12'

  it('its sessions are listed beside our own, each with its source', async () => {
    const all = await json(as('GET', '/api/sessions'))
    assert.deepEqual(titles(all), [
      ['My own', 'platform'],
      ['Deploy the parser', 'upstream'],
      [null, 'upstream'],
    ])
    assert.deepEqual([all.total, all.has_more, all.warnings], [3, false, undefined])
    assert.equal(all.items[1].id, THEIRS)
    assert.equal(all.items[1].upstream_source, 'telegram')
    const first = await json(as('GET', '/api/sessions?limit=2'))
    assert.deepEqual([first.items.length, first.has_more, first.total], [2, true, 3])
    const rest = await json(as('GET', `/api/sessions?limit=2&cursor=${first.next_cursor}`))
    assert.deepEqual(titles(rest), [[null, 'upstream']])
    assert.deepEqual(titles(await json(as('GET', '/api/sessions?limit=1&offset=1'))), [
      ['Deploy the parser', 'upstream'],
    ])
    for (const [source, count] of [
      ['upstream', 2],
      ['telegram', 1],
      ['platform', 1],
      ['unknown', 0],
    ])
      assert.equal((await json(as('GET', `/api/sessions?source=${source}`))).total, count, `${source}`)
  })

  it('shows its sessions only to keys that see all sessions', async () => {
    const { key } = platform
    const mine = await json(as('GET', '/api/sessions', { key }))
    assert.deepEqual([mine.total, mine.warnings], [0, undefined])
    const before = agent.received.length
    for (const [method, path, body] of [
      ['GET', `/api/sessions/${THEIRS}`],
      ['GET', `/api/sessions/${THEIRS}/messages`],
      ['DELETE', `/api/sessions/${THEIRS}`],
      ['PATCH', `/api/sessions/${THEIRS}`, { title: 'Mine' }],
      ['POST', `/api/sessions/${THEIRS}/chat`, { message: 'Hello' }],
    ] as const)
      assert.equal((await as(method, path, { key, body })).status, 404, path)
    assert.deepEqual(agent.received.slice(before), [], 'the agent gateway was not asked')
  })

  it('accepts gaze for its sessions only from keys that see all sessions', async () => {
    const body = { session_id: THEIRS, records: fixationsOf(readingOf(pageOf(1), 1)).slice(0, 1) }
    assert.equal((await as('POST', '/api/gaze/store', { key: platform.key, body })).status, 409)
    assert.equal((await as('POST', '/api/gaze/store', { body })).status, 201)
  })

  it('tells of one of its sessions, and what was said there', async () => {
    const one = await json(as('GET', `/api/sessions/${THEIRS}`))
    assert.deepEqual([one.session.title, one.message_count, one.started_at], ['Deploy the parser', 2, NOW - 60])
    const said = await json(as('GET', `/api/sessions/${THEIRS}/messages`))
    assert.deepEqual(
      said.messages.map(({ role, content }: Json) => [role, content]),
      [
        ['user', 'Please deploy the parser'],
        ['assistant', null],
        ['assistant', 'Done.'],
      ],
    )
    assert.equal(said.session_id, THEIRS)
    const last = await json(as('GET', `/api/sessions/${THEIRS}/messages?limit=2`))
    assert.deepEqual([last.items.length, last.total, last.items[1].content], [2, 3, 'Done.'])
    const first = await json(as('GET', `/api/sessions/${THEIRS}/messages?limit=2&cursor=${last.next_cursor}`))
    assert.deepEqual([first.items[0].content, first.next_cursor], ['Please deploy the parser', null])
    const middle = await json(as('GET', `/api/sessions/${THEIRS}/messages?limit=1&offset=1`))
    assert.deepEqual([middle.items[0].role, middle.items[0].content], ['assistant', null])
    assert.deepEqual((await json(as('GET', `/api/sessions/${THEIRS}/messages?offset=3`))).items, [])
    assert.equal((await as('GET', '/api/sessions/upstream:unknown')).status, 404)
    assert.equal((await as('GET', '/api/sessions/upstream:unknown/messages')).status, 404)
  })

  it('finds them by their titles and beginnings', async () => {
    const found = await json(as('GET', '/api/sessions/search?q=pars+stag'))
    assert.deepEqual(titles(found), [['Deploy the parser', 'upstream']])
    assert.equal((await json(as('GET', '/api/sessions/search?q=own'))).items[0].source, 'platform')
  })

  it('finds them among our own, of which the latest mention comes first', async () => {
    const make = async () => (await json(as('POST', '/api/sessions', { body: {} }))).id as string
    const say = async (id: string, message: string) =>
      assert.equal((await as('POST', `/api/sessions/${id}/chat`, { body: { message } })).status, 200)
    const [early, late] = [await make(), await make()]
    await say(early, 'A parser')
    await say(late, 'Another parser')
    await say(early, 'Something else')
    const found = async () =>
      (await json(as('GET', '/api/sessions/search?q=parser'))).results.map(({ session_id }: Json) => session_id)
    assert.deepEqual(await found(), [late, early, THEIRS])
    await platform.gateway.store.db
      .updateTable('sessions')
      .set({ last_active_at: new Date((NOW - 1) * 1000).toISOString() })
      .where('id', '=', early)
      .execute()
    assert.deepEqual(await found(), [late, THEIRS, early])
    for (const id of [early, late]) await as('DELETE', `/api/sessions/${id}`)
  })

  it('passes on what is said in its sessions, streaming and not', async () => {
    const whole = await json(as('POST', `/api/sessions/${THEIRS}/chat`, { body: { message: 'And now?' } }))
    assert.deepEqual(
      [whole.session_id, whole.message.content, whole.usage.total_tokens],
      [THEIRS, 'You said: And now?', 7],
    )
    assert.match(whole.tensor, /^COG:\d\.\d\d\/EMO:\d\.\d\d\/ENV:\d\.\d\d$/)
    const reply = await as('POST', `/api/sessions/${THEIRS}/chat/stream`, { body: { input: 'Again' } })
    assert.match(reply.headers.get('content-type') ?? '', /text\/event-stream/)
    const events = eventsOf(await reply.text())
    assert.deepEqual(
      events.map(({ name }) => name),
      [
        'run.started',
        'message.started',
        'assistant.delta',
        'assistant.delta',
        'assistant.completed',
        'run.completed',
        'done',
      ],
    )
    assert.ok(
      events.every(({ data }) => data.session_id === THEIRS),
      'each event tells the session by the id that it has here',
    )
    assert.equal(events[4]?.data.content, 'You said: Again')
    const said = await json(as('GET', `/api/sessions/${THEIRS}/messages`))
    assert.equal(said.messages.at(-1).content, 'You said: Again')
    assert.equal((await as('POST', `/api/sessions/${THEIRS}/chat`, { body: {} })).status, 400)
  })

  it('ends a stream that the agent gateway breaks off with an error', async () => {
    agent.behave('breaks off')
    const reply = await as('POST', `/api/sessions/${THEIRS}/chat/stream`, { body: { message: 'Break' } })
    agent.behave('well')
    const events = eventsOf(await reply.text())
    assert.deepEqual(
      events.slice(-3).map(({ name }) => name),
      ['assistant.delta', 'error', 'done'],
    )
    assert.match(events.at(-2)?.data.message ?? '', /disconnected before the end|reached/)
  })

  for (const how of ['stays open', 'says no more'] as const)
    it(`passes on an answer that is complete, although the agent gateway ${how}`, async () => {
      agent.behave(how)
      const reply = await as('POST', `/api/sessions/${THEIRS}/chat/stream`, { body: { message: 'Are you there?' } })
      agent.behave('well')
      const events = eventsOf(await reply.text())
      assert.deepEqual(
        events.slice(-3).map(({ name }) => name),
        ['assistant.completed', 'run.completed', 'done'],
      )
      assert.equal(events.at(-2)?.data.usage.total_tokens, 7)
    })

  it('passes on what is said in a session in turn, while no more than twenty wait', async () => {
    agent.received.length = 0
    const chats = () => agent.received.filter((line) => line.endsWith('/chat')).length
    agent.behave('holds')
    const client = await connectWithKey(platform, platform.admin, `/agent?session_id=${encodeURIComponent(THEIRS)}`)
    const ids = Array.from({ length: 20 }, (_, i) => i)
    for (const id of ids) client.send({ type: 'chat', content: `Number ${id}`, id })
    client.send({ type: 'chat', content: 'One too many' })
    assert.equal((await client.next()).code, 'too_many_requests', 'all that came before wait')
    const more = [0, 1].map(() => as('POST', `/api/sessions/${THEIRS}/chat`, { body: { message: 'One more' } }))
    await Promise.race([...more, until(async () => chats() > 1)])
    assert.equal(chats(), 1)
    const refused = await Promise.race(more)
    assert.deepEqual([refused.status, (await errorOf(refused)).code], [429, 'rate_limited'])
    agent.behave('well')
    for (const id of ids) {
      const { type, id: answered, content } = await client.next()
      assert.deepEqual([type, answered, content], ['reply', id, `You said: Number ${id}`])
    }
    client.ws.close()
    assert.deepEqual((await Promise.all(more)).map(({ status }) => status).sort(), [200, 429])
  })

  it('names and deletes sessions where they are', async () => {
    const odd = (await json(as('GET', '/api/sessions?source=cli'))).items[0].id
    assert.match(odd, /^upstream:[\w.:-]+$/)
    const renamed = await json(as('PATCH', `/api/sessions/${odd}`, { body: { title: 'Named' } }))
    assert.equal(renamed.session.title, 'Named')
    assert.equal(agent.sessions.get('agent:main/odd id')?.title, 'Named')
    assert.deepEqual((await json(as('DELETE', `/api/sessions/${odd}`))).deleted, true)
    assert.ok(!agent.sessions.has('agent:main/odd id'), 'its owner deleted it')
    assert.equal((await as('DELETE', `/api/sessions/${odd}`)).status, 404)
    assert.equal((await json(as('GET', '/api/sessions'))).total, 2, 'the list knows at once')
    await as('POST', '/api/sessions', { body: { id: 'mine-alone' } })
    assert.equal((await as('DELETE', '/api/sessions/mine-alone')).status, 200)
    assert.equal(agent.sessions.size, 1, 'a session of our own is deleted here alone')
  })

  it('refuses to make a session under an id that could be one of the agent gateway', async () => {
    for (const field of ['id', 'session_id']) {
      const reply = await as('POST', '/api/sessions', { body: { [field]: THEIRS } })
      assert.deepEqual([reply.status, (await errorOf(reply)).param], [422, field])
    }
    assert.equal((await as('GET', `/api/sessions/${own}`)).status, 200)
  })

  it('asks for nothing but sessions, whatever an id looks like', async () => {
    agent.received.length = 0
    for (const id of [
      'upstream:..',
      'upstream:.',
      'upstream:',
      `upstream:b64:${btoa('..')}`,
      `upstream:b64:${btoa('../x')}`,
    ])
      for (const [method, rest, body] of [
        ['GET', '', undefined],
        ['DELETE', '', undefined],
        ['GET', '/messages', undefined],
        ['POST', '/chat', { message: 'x' }],
      ] as const)
        assert.equal((await as(method, `/api/sessions/${encodeURIComponent(id)}${rest}`, { body })).status, 404, id)
    const elsewhere = agent.received.filter((line) => !/ \/(api\/sessions\/\.\.%2Fx(\/|$)|health|v1\/)/.test(line))
    assert.deepEqual(elsewhere, [])
  })

  it('creates no session under such an id from the socket, and hides it from other keys', async () => {
    for (const id of [THEIRS, 'upstream:made-up']) {
      const client = await connectWithKey(platform, platform.key, `/agent?session_id=${encodeURIComponent(id)}`)
      client.send({ type: 'chat', content: 'What was said here?' })
      const { type, code } = await client.next()
      assert.deepEqual([type, code], ['error', 'not_found'])
      client.ws.close()
    }
    assert.equal((await json(as('GET', '/api/sessions', { key: platform.key }))).total, 0)
  })

  it('lists its skills after our own, by ids that tell them apart', async () => {
    const { items, total, upstream_error } = await json(as('GET', '/api/skills', { key: platform.key }))
    const theirs = items.filter(({ source }: Json) => source === 'upstream')
    assert.deepEqual(
      theirs.map(({ id, name, category }: Json) => [id, name, category]),
      [
        ['upstream:deploy', 'deploy', 'ops'],
        ['upstream:pdf', 'pdf', null],
      ],
    )
    assert.deepEqual([total, upstream_error], [items.length, null])
    const ops = await json(as('GET', '/api/skills?category=ops'))
    assert.equal(ops.items.at(-1).id, 'upstream:deploy')
    const { categories } = await json(as('GET', '/api/skills/categories'))
    assert.ok(
      categories.some(({ name }: Json) => name === 'ops'),
      'its categories count',
    )
    const one = await json(as('GET', '/api/skills/upstream:pdf'))
    assert.deepEqual([one.description, one.content, one.source], ['Reads PDFs.', null, 'upstream'])
    assert.equal((await as('GET', '/api/skills/upstream:none')).status, 404)
  })
})

describe('an agent gateway that', () => {
  for (const [how, told] of [
    ['hangs', /did not answer in time/],
    ['dies', /cannot be reached/],
    ['fails', /answered 500/],
  ] as const)
    it(`${how} after it was found is waited for once, and reported`, async () => {
      const both = await startBoth('0.17')
      const { platform, agent } = both
      await ask(platform, 'POST', '/api/sessions', { key: platform.admin, body: { title: 'My own' } })
      agent.behave(how)
      const began = performance.now()
      const lists = await Promise.all(
        Array.from(
          { length: 5 },
          async () => (await (await ask(platform, 'GET', '/api/sessions', { key: platform.admin })).json()) as Json,
        ),
      )
      const again = (await (await ask(platform, 'GET', '/api/sessions', { key: platform.admin })).json()) as Json
      // Its timeout is 3 s: asked six times over, it would cost 18.
      assert.ok(performance.now() - began < 12_000, 'it costs its timeout, once')
      for (const { items, warnings } of [...lists, again]) {
        assert.deepEqual([items.length, warnings.length], [1, 1])
        assert.match(warnings[0], told)
      }
      assert.equal(agent.received.filter((line) => line.startsWith('GET /api/sessions?')).length, 1)
      const { upstream_error } = (await (await ask(platform, 'GET', '/api/skills')).json()) as Json
      assert.match(upstream_error, told)
      const one = await ask(platform, 'GET', '/api/sessions/upstream:20261121_081500_ab12', { key: platform.admin })
      assert.ok([502, 504].includes(one.status), `${one.status}`)
      assert.equal((await errorOf(one)).type, 'upstream_error')
      await both.close()
    })

  it('refuses its key says what to do', async () => {
    const both = await startBoth('0.17', 'a-wrong-key-for-the-agent-gateway')
    const { warnings } = (await (
      await ask(both.platform, 'GET', '/api/sessions', { key: both.platform.admin })
    ).json()) as Json
    assert.match(warnings[0], /refuses its key.*GAZEWAY_AGENT_GATEWAY_KEY/)
    const { status, mode, upstream } = await both.health()
    assert.deepEqual([status, mode, upstream.reachable], ['degraded', 'enhanced', true])
    assert.match(upstream.error, /check GAZEWAY_AGENT_GATEWAY_KEY/)
    const asked = await ask(both.platform, 'GET', '/v1/models')
    assert.deepEqual([asked.status, asked.headers.get('www-authenticate')], [502, null])
    const { code, type, message } = await errorOf(asked)
    assert.deepEqual([code, type], ['upstream_error', 'upstream_error'])
    assert.match(message, /answered 401: Invalid API key\. .*not yours: check GAZEWAY_AGENT_GATEWAY_KEY/)
    await both.close()
  })

  it('is not there leaves the platform disconnected, and everything of its own works', async () => {
    const gone = await startAgentGateway('0.17')
    await gone.close()
    const platform = await startPlatform('sandbox', {
      env: { GAZEWAY_AGENT_GATEWAY_URL: gone.url, GAZEWAY_AGENT_GATEWAY_KEY: AGENT_KEY },
    })
    const get = async (path: string) =>
      (await (await ask(platform, 'GET', path, { key: platform.admin })).json()) as Json
    await until(async () => (await get('/health')).upstream.checked_at !== null)
    const { mode, status } = await get('/health')
    assert.deepEqual([mode, status], ['disconnected', 'degraded'])
    assert.equal((await get('/api/gateway-status')).mode, 'disconnected')
    const body = { message: 'Hello there.' }
    const made = (await (
      await ask(platform, 'POST', '/api/sessions', { key: platform.admin, body: {} })
    ).json()) as Json
    const said = await ask(platform, 'POST', `/api/sessions/${made.id}/chat`, { key: platform.admin, body })
    assert.equal(said.status, 200)
    const { items, warnings } = await get('/api/sessions')
    assert.equal(items.length, 1)
    assert.match(warnings[0], /cannot be reached/)
    await platform.close()
  })
})

function eventsOf(text: string): { name: string; data: Json }[] {
  return text
    .split('\n\n')
    .filter((event) => event.startsWith('event:'))
    .map((event) => {
      const [, name = '', data = ''] = /^event: (\S+)\ndata: (.*)$/s.exec(event) ?? []
      return { name, data: JSON.parse(data) }
    })
}
