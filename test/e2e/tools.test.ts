import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import type { Tool } from '@modelcontextprotocol/sdk/types.js'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { describeTools } from '../../adapters/stdio/describe-tools.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'
import { NOTICE } from '../../src/text/untrusted-text-notice.ts'
import { connect, newPlace, run, type ToolReply, writeProject } from './server.ts'

/** As the specification lists them. */
const NAMES = [
  'gateway_llm_query',
  'gateway_get_context',
  'gateway_store_gaze_data',
  'gateway_retrieve_gaze_data',
  'gateway_analyze_gaze_pattern',
  'gateway_chat_completion',
  'gateway_upstream_api_history',
  'gateway_upstream_api_stats',
  'gateway_gateway',
  'gateway_memory_store',
  'gateway_memory_recall',
  'gateway_memory_search',
]

const gaze = (second: number) => ({
  at: new Date(Date.now() - 60_000 + second * 1000).toISOString(),
  dwell_ms: 400,
  source: 'ide',
  confidence: 0.9,
  cog: { focus: 0.8, load: 0.4 },
  emo: { valence: 0.1, arousal: 0.3 },
  env: { path: 'src/track.ts', line_start: 1, line_end: 1 },
})

/** One call of each tool, in an order in which the later ones find what the earlier ones stored. */
const CALLS: [name: string, input: Record<string, unknown>][] = [
  ['gateway_memory_store', { key: 'deploy/staging', value: 'uses the eu-west cluster', tags: ['deploy'] }],
  ['gateway_memory_store', { key: 'limits', value: { requests: 5, per: ['minute'] }, ttl_seconds: 3600 }],
  ['gateway_memory_recall', { key: 'deploy/staging' }],
  ['gateway_memory_recall', { key: 'nothing' }],
  ['gateway_memory_search', { query: 'staging clustr' }],
  ['gateway_store_gaze_data', { session_id: 'ses_1', records: [0, 1, 2, 3].map(gaze) }],
  ['gateway_retrieve_gaze_data', { session_id: 'ses_1', limit: 2 }],
  ['gateway_analyze_gaze_pattern', { session_id: 'ses_1', question: 'Was I focused?' }],
  ['gateway_analyze_gaze_pattern', { from: '2020-01-01T00:00:00Z', narrate: false }],
  ['gateway_get_context', { query: 'track', max_tokens: 2000 }],
  ['gateway_llm_query', { query: 'What does this project track?' }],
  ['gateway_llm_query', { query: 'Without context?', include_context: false, tools: ['web_search'] }],
  ['gateway_chat_completion', { messages: [{ role: 'user', content: 'Parcels are tracked. What is tracked?' }] }],
  ['gateway_gateway', { method: 'GET', path: '/models' }],
  ['gateway_upstream_api_history', { limit: 3 }],
  ['gateway_upstream_api_stats', { group_by: 'model' }],
  ['gateway_upstream_api_stats', {}],
]

/** A validator that is not the server's: JSON Schema draft 7 as clients use it, and as strict as it gets. */
function validator(schema: object) {
  const ajv = new Ajv({ strict: true, strictRequired: false, allErrors: true })
  addFormats.default(ajv)
  const validate = ajv.compile(schema)
  return (value: unknown) => assert.ok(validate(value), ajv.errorsText(validate.errors))
}

describe('the twelve tools over stdio', () => {
  const place = newPlace()
  let server: Awaited<ReturnType<typeof connect>>
  let tools: Tool[]
  const tool = (name: string) => tools.find((listed) => listed.name === name) as Tool

  before(async () => {
    server = await connect(place, { args: ['--upstream', 'sandbox'] })
    tools = (await server.client.listTools()).tools
  })

  it('are listed in the specification’s order under its names', () => {
    assert.deepEqual(
      tools.map(({ name }) => name),
      NAMES,
    )
  })

  it('are listed as they are, although the list was made when the command was built', () => {
    assert.deepEqual(tools, JSON.parse(JSON.stringify(describeTools())))
  })

  for (const name of NAMES)
    it(`${name} is listed with all that a client shows and checks`, () => {
      const { title, description = '', annotations, inputSchema, outputSchema } = tool(name)
      assert.ok(title && title.length < 60, 'has a short title')
      assert.ok(description.length > 100, 'written for a model that has to choose')
      assert.match(description, /Example: /)
      const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = annotations ?? {}
      for (const hint of [readOnlyHint, destructiveHint, idempotentHint, openWorldHint])
        assert.equal(typeof hint, 'boolean')
      for (const schema of [inputSchema, outputSchema]) {
        assert.equal(schema?.type, 'object')
        assertStrict(schema as object)
        validator(schema as object)
      }
    })

  it('cost a model few tokens', async () => {
    const countTokens = createTokenCounter()
    const count = (value: unknown) => countTokens(JSON.stringify(value))
    const chosenBy = await count(
      tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    )
    assert.ok(chosenBy <= 3500, `${chosenBy} tokens of names, descriptions and inputs`)
    const whole = await count({ tools })
    assert.ok(whole <= 7000, `${whole} tokens of tools/list`)
  })

  it('answer each call with structured content that fits the advertised schemas, and with text', async () => {
    for (const [name, input] of CALLS) {
      validator(tool(name).inputSchema)(input)
      const reply = await server.call(name, input)
      assert.notEqual(reply.isError, true, `${name}: ${reply.content[0]?.text}`)
      validator(tool(name).outputSchema as object)(reply.structuredContent)
      assert.equal(reply.content[0]?.type, 'text')
      assert.ok((reply.content[0]?.text.trim().length ?? 0) > 3, `${name} says something`)
    }
    assert.deepEqual([...new Set(CALLS.map(([name]) => name))].sort(), [...NAMES].sort(), 'each tool was called')
  })

  it('say of results with text of others that it is data', async () => {
    const own = new Set(['gateway_store_gaze_data', 'gateway_memory_store'])
    for (const [name, input] of CALLS.filter(([called]) => !own.has(called))) {
      const { structuredContent } = await server.call(name, input)
      assert.equal(structuredContent.notice, NOTICE, name)
      const [first] = Object.keys(structuredContent)
      if (name !== 'gateway_get_context') assert.equal(first, 'notice', name)
    }
  })

  it('keep the budget of the work context in both forms', async () => {
    const wide = newPlace()
    const files = Array.from({ length: 400 }, (_, i) => [`src/part${i % 20}/track${i}.ts`, 'export {}\n'.repeat(60)])
    writeProject(wide.project, Object.fromEntries(files))
    const { call } = await connect(wide)
    await call('gateway_memory_store', { key: 'track', value: 'tracked '.repeat(200) })
    const countTokens = createTokenCounter()
    for (const max_tokens of [200, 700, 1000, 4000, 16_000]) {
      const { structuredContent, content } = await call('gateway_get_context', { query: 'track', max_tokens })
      const tokens = await countTokens(JSON.stringify(structuredContent))
      assert.equal(structuredContent.tokens, tokens)
      assert.ok(tokens <= max_tokens && tokens > max_tokens * 0.8, `${tokens} of ${max_tokens}`)
      assert.ok((await countTokens(content[0]?.text ?? '')) <= max_tokens)
    }
  })

  it('keep each reply within 25,000 tokens, whatever is asked, and say what is cut', async () => {
    const { call } = await connect(newPlace(), { args: ['--upstream', 'sandbox'] })
    const countTokens = createTokenCounter()
    const value = 'parcels are tracked by number, '.repeat(8000)
    const stored = await call('gateway_memory_store', { key: 'long/0', value })
    for (let n = 1; n < 4; n++) await call('gateway_memory_store', { key: `long/${n}`, value })
    await call('gateway_store_gaze_data', {
      session_id: 'ses_9',
      records: Array.from({ length: 500 }, (_, n) => gaze(n / 10)),
    })
    const paged = await call('gateway_retrieve_gaze_data', { session_id: 'ses_9', limit: 1000 })
    const replies = [
      stored,
      await call('gateway_memory_recall', { key: 'long/0' }),
      await call('gateway_memory_search', { query: 'parcels', limit: 100 }),
      await call('gateway_get_context', { query: 'parcels', max_tokens: 32_000 }),
      paged,
    ]
    for (const { structuredContent, content } of replies) {
      assert.ok((await countTokens(JSON.stringify(structuredContent))) <= 25_000, 'as JSON')
      assert.ok((await countTokens(content[0]?.text ?? '')) <= 25_000, 'as text')
    }
    assert.match(replies[1]?.structuredContent.cut, /memory\.value/)
    assert.match(replies[1]?.content[0]?.text ?? '', /memory\.value/)
    const { items, total, next_cursor } = paged.structuredContent
    assert.ok(items.length < 500 && items.length > 20, `${items.length} records on a page`)
    const seen = new Set(items.map(({ id }: { id: string }) => id))
    let cursor = next_cursor
    while (cursor !== null) {
      const next = (await call('gateway_retrieve_gaze_data', { session_id: 'ses_9', limit: 1000, cursor }))
        .structuredContent
      for (const { id } of next.items) seen.add(id)
      cursor = next.next_cursor
    }
    assert.equal(seen.size, total, 'the cursor leads to all the others')
  })

  it('count gaze records as people do', async () => {
    const [one, other, third] = [gaze(10), gaze(11), gaze(12)]
    const store = async (...records: unknown[]) =>
      (await server.call('gateway_store_gaze_data', { session_id: 'ses_2', records })).content[0]?.text ?? ''
    assert.match(await store(one), /^Stored 1 record in session ses_2\. /)
    assert.match(await store(one, other, third), /^Stored 2 records in session ses_2; 1 was there already\. /)
    assert.match(await store(one, other), /^Stored 0 records in session ses_2; 2 were there already\. /)
  })

  it('promise nothing of repeated gaze data that a new session takes each time', async () => {
    const { annotations, description } = tool('gateway_store_gaze_data')
    const sessionOf = async () =>
      (await server.call('gateway_store_gaze_data', { records: [gaze(20)] })).structuredContent.session_id
    assert.notEqual(await sessionOf(), await sessionOf())
    assert.equal(annotations?.idempotentHint, false)
    assert.match(description ?? '', /sent again to its session counts once/)
  })

  it('answer with what was stored before', async () => {
    const { structuredContent: recalled } = await server.call('gateway_memory_recall', { key: 'deploy/staging' })
    assert.equal(recalled.memory.value, 'uses the eu-west cluster')
    const { structuredContent: found } = await server.call('gateway_memory_search', { query: 'clustr' })
    assert.equal(found.results[0]?.memory.key, 'deploy/staging')
    const { structuredContent: context } = await server.call('gateway_get_context')
    assert.equal(context.root, place.project)
    assert.match(JSON.stringify(context.places), /src\/track\.ts/)
    const { structuredContent: history } = await server.call('gateway_upstream_api_history')
    assert.ok(history.total >= 5, `${history.total} calls`)
    const surfaces = new Set(history.items.map((call: { surface: string }) => call.surface))
    assert.deepEqual([...surfaces], ['stdio'])
    assert.match((await server.call('gateway_llm_query', { query: 'Who?' })).content[0]?.text ?? '', /sandbox/)
  })

  const faults: [what: string, name: string, input: Record<string, unknown>, param: string][] = [
    ['a missing field', 'gateway_memory_store', { key: 'a' }, 'value'],
    ['a value of the wrong kind', 'gateway_memory_recall', { key: 5 }, 'key'],
    ['a value that is not accepted', 'gateway_llm_query', { query: 'x', tools: ['bing'] }, 'tools.0'],
    ['a number out of range', 'gateway_get_context', { max_tokens: 50_000 }, 'max_tokens'],
    ['a field that is not known', 'gateway_memory_recall', { key: 'a', nmespace: 'b' }, 'nmespace'],
    [
      'a fault deep inside',
      'gateway_store_gaze_data',
      { records: [gaze(0), { ...gaze(1), dwell_ms: -1 }] },
      'records.1.dwell_ms',
    ],
    ['a path elsewhere', 'gateway_gateway', { method: 'GET', path: '//elsewhere' }, 'path'],
    [
      'a version that is not the present one',
      'gateway_memory_store',
      { key: 'a', value: 1, if_version: 9 },
      'if_version',
    ],
  ]
  for (const [what, name, input, param] of faults)
    it(`name the field at fault: ${what}`, async () => {
      assertRefused(await server.call(name, input), param)
      assert.notEqual((await server.call('gateway_memory_recall', { key: 'a' })).isError, true, 'the server lives on')
    })

  it('refuse a tool that there is not', async () => {
    await assert.rejects(server.call('gateway_nothing'), { code: -32602, message: /There is no tool gateway_nothing/ })
  })
})

describe('a choice of tools', () => {
  const list = async (...args: string[]) => {
    const server = await connect(newPlace(), { args: ['--upstream', 'sandbox', ...args] })
    return { ...server, names: (await server.client.listTools()).tools.map(({ name }) => name) }
  }

  it('is all that is listed and can be called', async () => {
    const { names, call, client } = await list(
      '--tools',
      'memory,gateway_get_context',
      '--exclude-tools',
      'gateway_memory_recall',
    )
    assert.deepEqual(names, ['gateway_get_context', 'gateway_memory_store', 'gateway_memory_search'])
    assert.notEqual((await call('gateway_memory_store', { key: 'a', value: 1 })).isError, true)
    for (const name of ['gateway_memory_recall', 'gateway_llm_query'])
      await assert.rejects(call(name, { key: 'a', query: 'a' }), { code: -32602, data: { code: 'unknown_tool' } })
    assert.doesNotMatch(client.getInstructions() ?? '', /gateway_llm_query/)
    assert.equal((await client.listResources()).resources.length, 1, 'memories follow their group')
    assert.equal((await client.listPrompts()).prompts.length, 1, 'so does the prompt')
  })

  it('leaves resources and prompts out with their groups', async () => {
    const { names, client } = await list('--tools', 'audit')
    assert.deepEqual(names, ['gateway_upstream_api_history', 'gateway_upstream_api_stats'])
    assert.deepEqual(Object.keys(client.getServerCapabilities() ?? {}), ['tools'])
  })

  it('may be limited to those that neither write nor spend, or by config.json', async () => {
    const { names } = await list('--read-only')
    assert.deepEqual(
      names,
      NAMES.filter((name) => /get_context|retrieve|history|stats|recall|search/.test(name)),
    )
    const place = newPlace()
    mkdirSync(place.data, { recursive: true, mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ mcp: { tools: ['upstream'] } }), { mode: 0o600 })
    const { client } = await connect(place)
    assert.deepEqual(
      (await client.listTools()).tools.map(({ name }) => name),
      ['gateway_gateway'],
    )
  })

  it('is refused for an unknown name, listing the known ones, and for an empty choice', async () => {
    const unknown = await run(newPlace(), ['--tools', 'gaz'])
    assert.equal(unknown.code, 2)
    for (const name of [...NAMES, 'model', 'context', 'gaze', 'memory', 'audit', 'upstream'])
      assert.match(unknown.stderr, new RegExp(`\\b${name}\\b`))
    const nothing = await run(newPlace(), ['--tools', 'upstream', '--read-only'])
    assert.equal(nothing.code, 2)
    assert.match(nothing.stderr, /exclude every tool/)
  })
})

describe('the tools without an upstream key', () => {
  const place = newPlace()
  const asks = CALLS.filter(([name]) => /llm_query|chat_completion|gateway_gateway/.test(name))
  let server: Awaited<ReturnType<typeof connect>>
  before(async () => {
    server = await connect(place)
  })

  for (const [name, input] of asks)
    it(`${name} names both ways out: ${JSON.stringify(input).slice(0, 40)}`, async () => {
      const reply = await server.call(name, input)
      assert.equal(reply.isError, true)
      assert.equal(reply._meta?.error.code, 'upstream_not_configured')
      assert.match(reply.content[0]?.text ?? '', /^upstream_not_configured: .*XAI_API_KEY.*--upstream sandbox/)
    })

  it('all others work', async () => {
    for (const [name, input] of CALLS.filter((call) => !asks.includes(call)))
      assert.notEqual((await server.call(name, input)).isError, true, name)
  })

  it('an analysis says why it has no narrative', async () => {
    const { structuredContent } = await server.call('gateway_analyze_gaze_pattern', { session_id: 'ses_1' })
    assert.equal(structuredContent.narrative, null)
    assert.match(structuredContent.narrative_error, /XAI_API_KEY/)
  })
})

/** Fails for a subschema that is empty or has a list of types: strict clients refuse the tool, or all of them. */
function assertStrict(schema: unknown): void {
  if (Array.isArray(schema)) for (const one of schema) assertStrict(one)
  if (typeof schema !== 'object' || schema === null) return
  const { type, properties, items } = schema as Record<string, unknown>
  assert.ok(!Array.isArray(type), `a list of types: ${JSON.stringify(schema)}`)
  // As the Inspector's checker of schemas holds it.
  const constrains = (name: string) => !['title', 'description', 'default'].includes(name)
  for (const inner of [items ?? true, ...Object.values(properties ?? {})])
    assert.ok(inner === true || Object.keys(inner).some(constrains), `accepts anything: ${JSON.stringify(schema)}`)
  for (const inner of Object.values(schema)) assertStrict(inner)
}

function assertRefused(reply: ToolReply, param: string): void {
  assert.equal(reply.isError, true)
  const error = reply._meta?.error
  assert.equal(error?.param, param)
  assert.equal(reply.content[0]?.text, `${error?.code}: ${error?.message}`)
  assert.equal(reply.structuredContent, undefined)
}
