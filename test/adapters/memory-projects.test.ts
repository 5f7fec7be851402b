import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { callTool } from '../../adapters/stdio/call-tool.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

describe('memories of a project, by tools', () => {
  let upstream: double.UpstreamDouble
  let running: RunningGateway
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-projects-')))
  const [shop, blog] = [join(folder, 'shop'), join(folder, 'blog')]
  before(async () => {
    for (const root of [shop, blog]) mkdirSync(join(root, '.git'), { recursive: true })
    mkdirSync(join(shop, 'packages', 'cart'), { recursive: true })
    upstream = await double.startUpstream()
    running = await startGateway(upstream.url)
  })
  after(async () => {
    await running.close()
    await upstream.close()
    rmSync(folder, { recursive: true })
  })

  // biome-ignore lint/suspicious/noExplicitAny: a result is looked into field by field.
  async function call(root: string, name: string, args: object): Promise<any> {
    const context = {
      surface: 'stdio' as const,
      callerId: null,
      roots: async () => [root],
      projectRoot: async () => root,
    }
    const gateway = async () => running.gateway
    const result = await callTool(name, args, gateway, context, (fault) => assert.fail(String(fault)))
    assert.notEqual(result.isError, true, JSON.stringify(result.content))
    return result.structuredContent
  }
  const store = (root: string, input: object) => call(root, 'gateway_memory_store', input)
  const found = async (root: string, more = {}) =>
    (await call(root, 'gateway_memory_search', { query: 'penguin', ...more })).results
      .map(({ memory }: { memory: { key: string } }) => memory.key)
      .sort()

  it('are of the client’s project, unless none is asked for', async () => {
    const { memory } = await store(join(shop, 'packages', 'cart'), { key: 'shops', value: 'penguin of the shop' })
    assert.equal(memory.project, shop)
    assert.equal((await store(blog, { key: 'blogs', value: 'penguin of the blog' })).memory.project, blog)
    const general = await store(blog, { key: 'general', value: 'penguin of everyone', project: null })
    assert.equal(general.memory.project, null)
    assert.deepEqual(await found(shop), ['general', 'shops'])
    assert.deepEqual(await found(blog), ['blogs', 'general'])
    assert.deepEqual(await found(blog, { projects: 'all' }), ['blogs', 'general', 'shops'])
  })

  it('go upstream with questions about their project alone', async () => {
    upstream.on('/responses', double.json(200, double.response('The answer.')))
    await call(blog, 'gateway_llm_query', { query: 'What about the penguin?' })
    const sent = JSON.stringify(upstream.received.at(-1)?.body)
    assert.match(sent, /penguin of the blog/)
    assert.match(sent, /penguin of everyone/)
    assert.doesNotMatch(sent, /penguin of the shop/)
  })

  it('are in the work context of their project, and others where all are asked for', async () => {
    const keys = async (input: object) =>
      (await call(shop, 'gateway_get_context', { max_tokens: 4000, ...input })).memories
        .map(({ key }: { key: string }) => key)
        .sort()
    for (const more of [{}, { query: 'penguin' }]) {
      assert.deepEqual(await keys(more), ['general', 'shops'])
      assert.deepEqual(await keys({ ...more, projects: 'all' }), ['blogs', 'general', 'shops'])
    }
  })

  it('stay apart under one key, and recall takes this project’s before the general one', async () => {
    const recalled = async (root: string, more = {}) => {
      const { memory } = await call(root, 'gateway_memory_recall', { key: 'deploy', ...more })
      return memory && [memory.value, memory.project]
    }
    await store(shop, { key: 'deploy', value: 'from main', project: null })
    assert.deepEqual(await recalled(shop), ['from main', null])
    await store(shop, { key: 'deploy', value: 'from release' })
    await store(blog, { key: 'deploy', value: 'by hand' })
    assert.deepEqual(await recalled(shop), ['from release', shop])
    assert.deepEqual(await recalled(blog), ['by hand', blog])
    assert.deepEqual(await recalled(shop, { project: blog }), ['by hand', blog])
    for (const root of [shop, blog]) assert.deepEqual(await recalled(root, { project: null }), ['from main', null])
  })

  it('that only have few words of a question are weak results of a search, and go nowhere else', async () => {
    const question = { query: 'Which iceberg did the penguin of the zeppelin museum visit yesterday?' }
    const { results } = await call(shop, 'gateway_memory_search', question)
    assert.ok(results.length > 0 && results.length <= 3)
    for (const { weak, memory } of results) assert.deepEqual([weak, 'value' in memory], [true, false])
    upstream.on('/responses', double.json(200, double.response('The answer.')))
    await call(shop, 'gateway_llm_query', question)
    assert.doesNotMatch(JSON.stringify(upstream.received.at(-1)?.body), /penguin of (the shop|everyone)/)
    const { memories } = await call(shop, 'gateway_get_context', { max_tokens: 4000, ...question })
    assert.ok(!memories.some(({ key }: { key: string }) => key === 'shops'))
  })

  it('are found as excerpts within the budget of tokens', async () => {
    const count = createTokenCounter()
    const tokensOf = async (more: object) => {
      const { results } = await call(blog, 'gateway_memory_search', { query: 'walrus', limit: 20, ...more })
      return [results.length, await count(JSON.stringify(results))] as const
    }
    for (let i = 0; i < 20; i++)
      await store(blog, {
        key: `walrus/${i}`,
        value: `${'before it '.repeat(2000)} walrus ${i} ${'after it '.repeat(2000)}`,
      })
    const [few, spent] = await tokensOf({})
    assert.ok(few >= 2 && few < 20 && spent <= 1500, `${spent} tokens of ${few} results`)
    const [more, allowed] = await tokensOf({ max_tokens: 6000 })
    assert.ok(more >= few && allowed > spent && allowed <= 6000, `${allowed} tokens of ${more} results`)
  })

  it('say how many of their words search does not know', async () => {
    const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(' ')
    assert.equal((await store(blog, { key: 'words', value: words(10_000) })).unindexed, undefined)
    assert.equal((await store(blog, { key: 'words', value: `${words(20_000)} ${words(5)}` })).unindexed, 10_000)
    const isFound = async (query: string) => (await found(blog, { query })).includes('words')
    assert.deepEqual([await isFound('w9999'), await isFound('w19999')], [true, false])
  })

  it('are forgotten by the tool that stores them, at the version that was read', async () => {
    const { memory } = await store(shop, { key: 'slip', value: 'a walrus slipped' })
    await store(shop, { key: 'slip', value: 'a walrus slipped again' })
    const context = { surface: 'stdio' as const, callerId: null, roots: async () => [], projectRoot: async () => shop }
    const refused = async (args: object) => {
      const gateway = async () => running.gateway
      const result = await callTool('gateway_memory_store', args, gateway, context, () => {})
      return JSON.stringify(result._meta)
    }
    assert.match(await refused({ key: 'slip', forget: true }), /if_version/)
    assert.match(await refused({ key: 'slip', forget: true, if_version: memory.version }), /version_conflict/)
    const { forgotten } = await store(shop, { key: 'slip', forget: true, if_version: '2' })
    assert.equal(forgotten, true)
    assert.equal((await call(shop, 'gateway_memory_recall', { key: 'slip' })).found, false)
  })
})
