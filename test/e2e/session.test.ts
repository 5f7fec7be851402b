import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import * as double from '../doubles/upstream.ts'
import { connect, newPlace, type Place, spawnServer, type ToolReply, writeProject } from './server.ts'

type Server = Awaited<ReturnType<typeof connect>>

describe('a session', () => {
  it('begins with instructions, the name and what the server can do', async () => {
    const { client } = await connect(newPlace())
    assert.match(client.getInstructions() ?? '', /gateway_get_context/)
    assert.equal(client.getServerVersion()?.name, 'gazeway')
    assert.match(client.getServerVersion()?.version ?? '', /^\d+\.\d+\.\d+/)
    const capabilities = Object.keys(client.getServerCapabilities() ?? {}).sort()
    assert.deepEqual(capabilities, ['completions', 'logging', 'prompts', 'resources', 'tools'])
    assert.equal(client.getServerCapabilities()?.resources?.listChanged, false, 'it tells of no change')
  })

  it('ends when its client closes, in silence', async () => {
    const server = await connect(newPlace(), { args: ['--upstream', 'sandbox'] })
    await server.call('gateway_memory_recall', { key: 'a' })
    await server.client.close()
    assert.equal(server.stderr(), '')
  })
})

describe('memories as resources', () => {
  const keys = [
    'plain',
    'deploy/staging',
    'a b',
    '100%',
    'naïve/日本',
    'a?b#c',
    'x,y{z}',
    'a/../b',
    '..',
    'line\nbreak',
  ]
  let server: Server
  const addressOf = (key: string) => `memory://team%20one/${encodeURIComponent(key)}`
  const read = async (uri: string) => (await server.client.readResource({ uri })).contents[0]

  before(async () => {
    server = await connect(newPlace())
    for (const key of keys)
      await server.call('gateway_memory_store', { key, value: `about ${key}`, namespace: 'team one', tags: ['odd'] })
    await server.call('gateway_memory_store', { key: 'limits', value: { requests: 5 } })
  })

  it('are listed, the last stored first, with what a client shows', async () => {
    const { resources } = await server.client.listResources()
    assert.equal(resources.length, keys.length + 1)
    assert.match(resources[0]?.uri ?? '', /^memory:\/\/default\/limits\?project=%2F/)
    assert.equal(resources[0]?.mimeType, 'application/json')
    const odd = resources.find(({ name }) => name === '100%')
    assert.deepEqual([odd?.title, odd?.mimeType], ['100%', 'text/plain'])
    assert.match(odd?.description ?? '', /team one.*odd/)
    assert.match(String(odd?.annotations?.lastModified), /^\d{4}-.*Z$/)
  })

  it('are read under the address that they are listed with', async () => {
    for (const { uri, name } of (await server.client.listResources()).resources) {
      const content = await read(uri)
      assert.equal(content?.uri, uri)
      if (name !== 'limits') assert.equal(content && 'text' in content && content.text, `about ${name}`)
    }
  })

  for (const key of keys)
    it(`are read by an address that was put together by hand: ${JSON.stringify(key)}`, async () => {
      const expected = { uri: addressOf(key), mimeType: 'text/plain', text: `about ${key}` }
      assert.deepEqual(await read(addressOf(key)), expected)
      const content = await read(`memory://team one/${key}`)
      assert.equal(content && 'text' in content && content.text, `about ${key}`)
    })

  it('come as JSON where they are no text', async () => {
    const content = await read('memory://default/limits')
    assert.equal(content?.mimeType, 'application/json')
    assert.deepEqual(JSON.parse(content && 'text' in content ? content.text : ''), { requests: 5 })
  })

  for (const uri of ['memory://default/nothing', 'memory://default/', 'memory:///x', 'file:///etc/passwd', 'nonsense'])
    it(`are not found under ${uri}`, () =>
      assert.rejects(read(uri), { code: -32602, message: /^MCP error -32602: (There is no memory|Only memory:)/ }))

  it('are offered as a template that completes namespaces and keys', async () => {
    const { resourceTemplates } = await server.client.listResourceTemplates()
    const uri = resourceTemplates[0]?.uriTemplate ?? ''
    assert.equal(uri, 'memory://{namespace}/{+key}')
    const complete = async (name: string, value: string, namespace?: string) => {
      const context = namespace === undefined ? {} : { context: { arguments: { namespace } } }
      const ref = { type: 'ref/resource' as const, uri }
      return (await server.client.complete({ ref, argument: { name, value }, ...context })).completion.values
    }
    assert.deepEqual((await complete('namespace', '')).sort(), ['default', 'team one'])
    assert.deepEqual(await complete('namespace', 'te'), ['team one'])
    assert.deepEqual(await complete('key', 'dep'), ['deploy/staging'])
    assert.deepEqual(await complete('key', '', 'default'), ['limits'])
    assert.deepEqual(await complete('key', 'zzz'), [])
  })

  it('have an address each where a project and no project share a key', async () => {
    for (const project of [null, '/shop'])
      await server.call('gateway_memory_store', { key: 'twice', value: `of ${project}`, project })
    const texts = await Promise.all(
      (await server.client.listResources()).resources
        .filter(({ name }) => name === 'twice')
        .map(async ({ uri }) => [uri, (await server.client.readResource({ uri })).contents[0]]),
    )
    assert.deepEqual(
      texts.map(([uri, content]) => [uri, content && typeof content === 'object' && 'text' in content && content.text]),
      [
        ['memory://default/twice?project=%2Fshop', 'of /shop'],
        ['memory://default/twice', 'of null'],
      ],
    )
  })
})

describe('more memories than are shown at once', () => {
  let server: Server
  const old = Array.from({ length: 11 }, (_, n) => `old/${String(n).padStart(2, '0')}`)
  const later = Array.from({ length: 120 }, (_, n) => `new/${n}`)
  const keys = [...old, ...later]

  before(async () => {
    server = await connect(newPlace())
    for (const key of keys) await server.call('gateway_memory_store', { key, value: 1 })
    for (const key of old.slice(0, 2)) await server.call('gateway_memory_store', { key, value: 2, namespace: 'other' })
  })

  it('are listed page by page, each of them once', async () => {
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const { resources, nextCursor } = await server.client.listResources(cursor === undefined ? {} : { cursor })
      listed.push(...resources.map(({ uri }) => uri))
      cursor = nextCursor
    } while (cursor !== undefined)
    assert.deepEqual([listed.length, new Set(listed).size], [keys.length + 2, keys.length + 2])
  })

  it('are not listed from a cursor that was never given', async () => {
    for (const cursor of ['garbage', ''])
      await assert.rejects(server.client.listResources({ cursor }), { code: -32602, message: /cursor/ })
  })

  it('are completed by how their keys begin, however old they are, each key once', async () => {
    const complete = async (value: string, context: object = {}) => {
      const ref = { type: 'ref/resource' as const, uri: 'memory://{namespace}/{+key}' }
      return (await server.client.complete({ ref, argument: { name: 'key', value }, ...context })).completion
    }
    assert.deepEqual(await complete('old/'), { values: old, total: 11, hasMore: false })
    const other = { context: { arguments: { namespace: 'other' } } }
    assert.deepEqual(await complete('old/', other), { values: old.slice(0, 2), total: 2, hasMore: false })
    const { values, ...counted } = await complete('')
    assert.deepEqual([values.length, counted], [100, { total: keys.length, hasMore: true }])
    assert.deepEqual((await complete('%')).values, [])
  })
})

describe('the prompt that starts a session', () => {
  let server: Server
  const place = newPlace()
  before(async () => {
    server = await connect(place)
    await server.call('gateway_memory_store', { key: 'retries', value: 'retry three times, never more' })
  })
  const open = async (args: Record<string, string>) => {
    const { messages } = await server.client.getPrompt({ name: 'start_session', arguments: args })
    const content = messages[0]?.content
    return content?.type === 'text' ? content.text : ''
  }

  it('is listed with its argument', async () => {
    const { prompts } = await server.client.listPrompts()
    assert.deepEqual(
      prompts.map(({ name, arguments: args }) => [name, args?.map((argument) => [argument.name, argument.required])]),
      [['start_session', [['task', false]]]],
    )
  })

  it('brings the project and the memories that fit the task', async () => {
    const text = await open({ task: 'Change how retries work' })
    for (const expected of [/Change how retries work/, /retry\.ts/, /retry three times, never more/])
      assert.match(text, expected)
    // A long path is cut at its beginning.
    assert.ok(text.includes(place.project.split('/').slice(-2).join('/')), 'names the project')
  })

  it('asks where one left off when it is given no task', async () => {
    assert.match(await open({}), /where I left off/)
  })

  it('says that there is no other prompt', () =>
    assert.rejects(server.client.getPrompt({ name: 'stop_session' }), {
      code: -32602,
      message: 'MCP error -32602: Prompt stop_session not found',
    }))

  it('names the argument that is of the wrong kind', async () => {
    await assert.rejects(server.client.getPrompt({ name: 'start_session', arguments: { task: 5 } as never }), {
      code: -32602,
      message: /params\.arguments\.task/,
    })
  })
})

describe('the project', () => {
  const rootOf = async (server: Server) => (await server.call('gateway_get_context')).structuredContent.root

  function offers(roots: { uri: string }[]) {
    const prepare = (client: Client) => client.setRequestHandler(ListRootsRequestSchema, () => ({ roots }))
    return { capabilities: { roots: { listChanged: true } }, prepare }
  }

  it('is the working directory for a client without roots', async () => {
    const place = newPlace()
    assert.equal(await rootOf(await connect(place)), place.project)
  })

  it('is the first root of a client that has some, and follows when they change', async () => {
    const place = newPlace()
    const [first, second] = [join(place.home, 'a b'), join(place.home, 'zweites')]
    for (const folder of [first, second]) {
      mkdirSync(folder)
      writeProject(folder, { 'index.ts': 'export {}\n' })
    }
    const roots = [{ uri: pathToFileURL(first).href }, { uri: pathToFileURL(place.project).href }]
    const server = await connect(place, offers(roots))
    assert.equal(await rootOf(server), first)
    roots[0] = { uri: pathToFileURL(second).href }
    await server.client.sendRootsListChanged()
    assert.equal(await rootOf(server), second)
    assert.match(JSON.stringify(await server.client.getPrompt({ name: 'start_session' })), /zweites/)
  })

  it('is where attention on a relative path counts, and nowhere else', async () => {
    const data = newPlace().data
    const windows = [newPlace(), newPlace()].map((place) => ({ ...place, env: { ...place.env, GAZEWAY_HOME: data } }))
    const [here, there] = await Promise.all(windows.map((place) => connect(place)))
    const looked = { at: new Date().toISOString(), dwell_ms: 60_000, source: 'ide', confidence: 1 }
    const felt = { cog: { focus: 1, load: 0 }, emo: { valence: 0, arousal: 0 }, env: { path: 'src/track.ts' } }
    await here?.call('gateway_store_gaze_data', { records: [{ ...looked, ...felt }] })
    const text = async (server: Server | undefined) =>
      (await server?.call('gateway_get_context'))?.content[0]?.text ?? ''
    assert.match(await text(here), /track\.ts.* 1 min of attention/)
    assert.doesNotMatch(await text(there), /of attention/)
  })

  describe('of a client whose roots change', () => {
    const place = newPlace()
    const roots: { uri: string }[] = []
    let server: Server
    before(async () => {
      server = await connect(place, offers(roots))
    })
    async function rootWith(...uris: string[]) {
      roots.splice(0, roots.length, ...uris.map((uri) => ({ uri })))
      await server.client.sendRootsListChanged()
      return rootOf(server)
    }
    const home = pathToFileURL(place.home).href
    const gone = pathToFileURL(join(place.home, 'gone')).href

    it('is the first root that is a folder on this machine', async () => {
      const file = pathToFileURL(join(place.project, 'README.md')).href
      assert.equal(await rootWith('file://another-machine/share', gone, file, home), place.home)
    })

    it('is the working directory when the roots are of no use', async () => {
      const useless = ['file://another-machine/share', 'https://example.org/', gone]
      for (const uris of [[], ...useless.map((uri) => [uri])]) assert.equal(await rootWith(...uris), place.project)
    })

    for (const other of ['vscode-remote://ssh/home', 'https://x/y', 'nonsense', 5 as never])
      it(`is a folder on this machine whatever else is among the roots: ${other}`, async () => {
        assert.equal(await rootWith(), place.project)
        assert.equal(await rootWith(other, home, other), place.home)
      })
  })

  it('is the working directory when a client does not answer for its roots', async () => {
    const place = newPlace()
    const server = spawnServer(place)
    await server.initialize({ roots: {} })
    server.callTool(1, 'gateway_get_context', {})
    const asked = await server.message(({ method }) => method === 'roots/list')
    assert.ok(asked.id !== undefined, 'it was asked')
    assert.equal((await server.answer(1)).result.structuredContent.root, place.project)
  })

  it('is not asked for by a tool that needs none', async () => {
    const place = newPlace()
    const server = spawnServer(place, { args: ['--upstream', 'sandbox'] })
    await server.initialize({ roots: {} })
    const calls: Record<string, object> = {
      gateway_memory_recall: { key: 'a', project: null },
      gateway_llm_query: { query: 'Why?', include_context: false },
    }
    for (const [name, input] of Object.entries(calls)) {
      server.callTool(name, name, input)
      assert.ok(!(await server.answer(name)).result.isError, name)
    }
    assert.ok(!server.messages.some(({ method }) => method === 'roots/list'))
    server.callTool(1, 'gateway_llm_query', { query: 'Why?' })
    await server.message(({ method }) => method === 'roots/list')
  })

  it('is read and sent nowhere when it is in none of the roots', async (t) => {
    const upstream = await double.startUpstream()
    t.after(() => upstream.close())
    upstream.on('/responses', double.json(200, double.response('Parcels.')))
    const [place, other] = [newPlace(), newPlace()]
    const env = { GAZEWAY_UPSTREAM: upstream.url, GAZEWAY_UPSTREAM_API_KEY: 'key-of-the-test' }
    const clients = [
      await connect(place, { env }),
      await connect(place, { env, ...offers([{ uri: pathToFileURL(join(place.project, 'src')).href }]) }),
    ]
    for (const { call } of clients)
      for (const name of ['gateway_get_context', 'gateway_llm_query'])
        for (const root of [other.project, join(other.project, 'gone'), '/'])
          assertForbidden(await call(name, { query: 'track', root }))
    assertForbidden(await clients[1]?.call('gateway_get_context', { root: place.project }))
    assert.equal(upstream.received.length, 0)
    const asked = await clients[0]?.call('gateway_llm_query', { query: 'track', root: place.project })
    assert.notEqual(asked?.isError, true)
    assert.match(upstream.received.at(-1)?.text ?? '', /track\.ts/)
  })

  it('may be a folder of context.roots for a client without roots', async () => {
    const [place, other] = [newPlace(), newPlace()]
    mkdirSync(place.data, { recursive: true, mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ context: { roots: [other.project] } }))
    const { call } = await connect(place)
    assert.equal((await call('gateway_get_context', { root: other.project })).structuredContent.root, other.project)
    assertForbidden(await call('gateway_get_context', { root: place.project }))
  })

  function assertForbidden(reply: ToolReply | undefined): void {
    assert.equal(reply?.isError, true)
    assert.deepEqual([reply?._meta?.error.code, reply?._meta?.error.param], ['forbidden_path', 'root'])
  }

  /** A server with the client's roots asked for, and a call that did not wait for the answer. */
  async function impatient(place: Place) {
    const server = spawnServer(place)
    const rootAt = async (id: number) => (await server.answer(id)).result.structuredContent.root
    const asked = (after?: number) =>
      server.message(({ id, method }) => method === 'roots/list' && (after === undefined || id > after))
    await server.initialize({ roots: {} })
    server.callTool(1, 'gateway_get_context', {})
    assert.equal(await rootAt(1), place.project)
    const result = { roots: [{ uri: pathToFileURL(place.home).href }] }
    return { ...server, rootAt, asked, answers: (id: number) => server.send({ id, result }) }
  }

  it('is asked for again when a client did not answer in time', async () => {
    const place = newPlace()
    const { callTool, rootAt, asked, answers } = await impatient(place)
    const { id } = await asked()
    callTool(2, 'gateway_get_context', {})
    answers((await asked(id)).id)
    assert.equal(await rootAt(2), place.home)
  })

  it('is the first root from a late answer on', async () => {
    const place = newPlace()
    const { callTool, rootAt, asked, answers } = await impatient(place)
    answers((await asked()).id)
    callTool(2, 'gateway_get_context', {})
    assert.equal(await rootAt(2), place.home)
  })
})

describe('logging', () => {
  it('takes the levels that there are', async () => {
    const { client } = await connect(newPlace())
    await client.setLoggingLevel('emergency')
    await assert.rejects(client.setLoggingLevel('loud' as never), { code: -32602, message: /params\.level/ })
  })

  it('writes JSON lines to stderr, and nothing to stdout', async () => {
    const server = spawnServer(newPlace(), { args: ['--upstream', 'sandbox', '--log-level', 'debug'] })
    const line = once(server.child.stderr, 'data')
    server.write('not a message\n')
    const { level, msg } = JSON.parse(String((await line)[0]))
    assert.deepEqual([level, msg], ['debug', 'Failed to read a message.'])
    server.child.stdin.end()
    assert.equal((await server.exit).code, 0)
    server.assertProtocolOnly()
  })
})
