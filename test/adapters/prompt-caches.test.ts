import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { message } from '../doubles/anthropic.ts'
import { makeCertificate, noCertificates } from '../doubles/certificate.ts'
import { type ForwardProxy, startForwardProxy } from '../doubles/forward-proxy.ts'
import { createPromptCache, promptOf } from '../doubles/prompt-cache.ts'
import { completion, json, response, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const MARK = { cache_control: { type: 'ephemeral' } }
const TURNS = [
  { role: 'user', content: 'Begin.' },
  { role: 'assistant', content: 'Yes.' },
  { role: 'user', content: 'Go on.' },
]

// Providers whose requests get marks and keys are known by their own addresses, which a proxy leads here.
describe('prompt caches of providers', { skip: noCertificates() ?? false }, () => {
  let folder: string
  let upstream: UpstreamDouble
  let proxy: ForwardProxy
  let running: RunningGateway
  /** Key with `cache: off`. */
  let off: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gazeway-caches-'))
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'own.pem')]
    makeCertificate(key, certificate)
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
    upstream = await startUpstream({ key: readFileSync(key, 'utf8'), cert: readFileSync(certificate, 'utf8') })
    proxy = await startForwardProxy({ tlsTo: Number(new URL(upstream.url).port) })
    const known = (provider: string, models: string[]) => ({
      provider,
      api_keys: ['secret-of-one'],
      models,
      proxy: proxy.url,
    })
    running = await startGateway(
      null,
      {},
      {
        pricing: { models: { 'gpt-5': { input: 1.25, output: 10, cached_input: 0.125 } } },
        upstreams: {
          gpt: known('openai', ['gpt-*']),
          router: known('openrouter', ['anthropic/*']),
          claude: known('anthropic', ['claude-*']),
          other: { ...known('https://messages.test/v1', ['other-*']), protocol: 'anthropic' },
        },
      },
    )
    off = (await running.gateway.keys.create({ name: 'off', scopes: ['inference'], cache: 'off' })).key
    upstream.on('/chat/completions', json(200, completion('Hello')))
    upstream.on('/api/v1/responses', json(200, response('Hello')))
    upstream.on('/api/v1/chat/completions', json(200, completion('Hello')))
    upstream.on('/messages', json(200, message('Hello')))
  })
  after(async () => {
    await running?.close()
    await proxy?.close()
    await upstream?.close()
    rmSync(folder, { recursive: true })
  })

  /** The request that the provider got for one of a session. */
  async function sent(path: string, body: object, key = running.key, headers: Record<string, string> = {}) {
    const reply = await fetch(`${running.url}/v1${path}`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', authorization: `Bearer ${key}`, 'x-gazeway-session': 's1' },
        ...headers,
      },
      body: JSON.stringify(body),
    })
    assert.equal(reply.status, 200, await reply.text())
    return upstream.received.at(-1) ?? assert.fail('nothing came')
  }

  it('get keys and marks for sessions, and with a key of cache: off those of the client alone', async () => {
    const chat = (model: string, more: object = {}) => ({ model, messages: TURNS, ...more })
    const keyIn = ({ body }: { body: unknown }) => (body as { prompt_cache_key?: string }).prompt_cache_key
    assert.match(keyIn(await sent('/chat/completions', chat('gpt-5'))) ?? '', /^[0-9a-f]{32}$/)
    assert.equal(keyIn(await sent('/chat/completions', chat('gpt-5'), off)), undefined)
    assert.equal(keyIn(await sent('/chat/completions', chat('gpt-5', { prompt_cache_key: 'own' }), off)), 'own')
    assert.match((await sent('/chat/completions', chat('claude-x'))).text, /cache_control/)
    assert.doesNotMatch((await sent('/chat/completions', chat('claude-x'), off)).text, /cache_control/)
    const marked = { ...chat('claude-x'), messages: [{ role: 'user', content: 'Hi.', ...MARK }] }
    assert.match((await sent('/chat/completions', marked, off)).text, /cache_control/)
  })
  it('are asked of OpenRouter for sessions of clients that set no marks, on the responses endpoint too', async () => {
    const markIn = ({ body }: { body: unknown }) => (body as { cache_control?: object }).cache_control
    const codex = { 'user-agent': 'codex_cli_rs/0.171.0', 'session-id': 's2' }
    const asked = { model: 'anthropic/claude-x', input: 'Begin.', prompt_cache_key: 's2' }
    const { cache_control } = MARK
    assert.deepEqual(markIn(await sent('/responses', asked, running.key, codex)), cache_control)
    assert.equal(markIn(await sent('/responses', asked)), undefined)
    const input = [...TURNS.slice(0, 2), { type: 'function_call_output', call_id: 'c', output: 'd' }]
    assert.deepEqual(markIn(await sent('/responses', { ...asked, input })), cache_control)
    assert.equal(markIn(await sent('/responses', { ...asked, input }, off)), undefined)
    const own = [{ role: 'user', content: [{ type: 'input_text', text: 'a', ...MARK }] }, ...TURNS]
    assert.equal(markIn(await sent('/responses', { ...asked, input: own })), undefined)
    assert.deepEqual(
      markIn(await sent('/chat/completions', { model: 'anthropic/claude-x', messages: TURNS })),
      cache_control,
    )
  })

  it('never begin with the line about billing of Claude Code, but at Anthropic', async () => {
    const line = { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.332.5e2; cch=03d5f;' }
    const system = [line, { type: 'text', text: 'Rules.', ...MARK }]
    const asked = { max_tokens: 9, messages: TURNS }
    const systemAt = async (model: string, of: object[]) =>
      ((await sent('/messages', { ...asked, model, system: of })).body as { system?: object[] }).system
    assert.deepEqual(await systemAt('other-x', system), system.slice(1))
    assert.equal(await systemAt('other-x', [line]), undefined)
    assert.deepEqual(await systemAt('claude-x', system), system)
  })

  /** A turn of Claude Code: rules and tools, and what was said until then. */
  function claudeTurn(turn: number, tools: object[]) {
    const line = { type: 'text', text: `x-anthropic-billing-header: cc_version=2.1.332; cch=${turn}${turn};` }
    const call = (n: number) => ({ type: 'tool_use', id: `toolu_${n}`, name: 'read', input: { path: `/src/${n}.ts` } })
    const turns = Array.from({ length: turn }, (_, n) => [
      { role: 'assistant', content: [{ type: 'text', text: `I read file ${n}.` }, call(n)] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `toolu_${n}`, content: `line ${n}\n`.repeat(60) }],
      },
    ]).flat()
    const begin = { role: 'user', content: [{ type: 'text', text: 'Mend the parser.' }] }
    const messages = [begin, ...turns].map((one, at, all) =>
      at === all.length - 1 ? { ...one, content: one.content.map((block) => ({ ...block, ...MARK })) } : one,
    )
    const system = [line, { type: 'text', text: 'You are an agent. '.repeat(300), ...MARK }]
    return { model: 'gpt-5', max_tokens: 100, system, tools, messages }
  }
  const TOOLS = ['read', 'write', 'bash'].map((name) => ({
    name,
    description: `Tool ${name}. `.repeat(40),
    input_schema: { type: 'object', properties: { path: { type: 'string' } } },
  }))

  /** Answers chat completions with the usage that a cache of its own finds. */
  function withCache(): void {
    const cache = createPromptCache()
    upstream.on('/chat/completions', (reply, received) => {
      const body = received.body as { messages: object[]; tools: object[]; prompt_cache_key: string }
      const { prompt, cached } = cache(body.prompt_cache_key, promptOf(body))
      const usage = { prompt_tokens: prompt, completion_tokens: 5, total_tokens: prompt + 5 }
      json(200, completion('Hello', { ...usage, prompt_tokens_details: { cached_tokens: cached } }))(reply, received)
    })
  }
  const claude = (id: string) => ({
    'user-agent': 'claude-cli/2.1.332 (external, cli)',
    'x-claude-code-session-id': id,
  })

  it('are hit by a session of Claude Code over chat completions as they are without Gazeway', async () => {
    withCache()
    const direct = createPromptCache()
    const without = { prompt: 0, cached: 0 }
    let before = ''
    for (let turn = 0; turn < 10; turn++) {
      const asked = claudeTurn(turn, TOOLS)
      const { body } = await sent('/messages', asked, running.key, claude('long'))
      const { tools, messages } = body as { tools: object[]; messages: object[] }
      assert.ok(JSON.stringify([tools, messages]).startsWith(before), `turn ${turn} begins as the one before`)
      before = JSON.stringify([tools, messages]).slice(0, -2)
      const found = direct('', promptOf({ ...asked, system: asked.system.slice(1) }))
      without.prompt += found.prompt
      without.cached += found.cached
    }
    const session = await running.gateway.calls.cacheOf({ session: 'long' })
    assert.ok((session.hit_rate ?? 0) >= 0.98 * (without.cached / without.prompt), `${session.hit_rate}`)
    assert.ok(session.cached_tokens > 20_000, `${session.cached_tokens} tokens`)
    const { items } = await running.gateway.calls.history({ limit: 10, session: 'long' })
    for (const { usage, cache } of items)
      assert.equal(cache?.saved_usd ?? 0, Math.floor((usage?.cached_tokens ?? 0) * 1.125) / 1_000_000)
    assert.deepEqual([session.missed_tokens, session.changed_tools, session.changed_instructions], [0, 0, 0])
  })

  it('are missed by a client that reorders its tools each turn, which is named with what it costs', async () => {
    withCache()
    running.logged.length = 0
    for (let turn = 0; turn < 3; turn++) await sent('/messages', claudeTurn(5, TOOLS), running.key, claude('broken'))
    for (let turn = 0; turn < 2; turn++) {
      const [first, ...others] = TOOLS
      TOOLS.splice(0, 3, ...others, first as (typeof TOOLS)[number])
      await sent('/messages', claudeTurn(6 + turn, TOOLS), running.key, claude('broken'))
    }
    const { items } = await running.gateway.calls.history({ limit: 10, session: 'broken' })
    const [, moved, last] = items
    assert.deepEqual(
      items.map(({ cache }) => cache?.changed ?? null),
      ['tools', 'tools', null, null, null],
    )
    const missed_tokens = last?.usage?.cached_tokens ?? assert.fail('nothing was cached')
    const missed_usd = Math.floor(missed_tokens * 1.125) / 1_000_000
    assert.deepEqual(moved?.cache, { saved_usd: 0, missed_tokens, missed_usd, changed: 'tools' })
    const session = await running.gateway.calls.cacheOf({ session: 'broken' })
    assert.deepEqual([session.changed_tools, session.missed_usd], [2, missed_usd])
    assert.equal(running.logged.filter((line) => line.includes('"changed":"tools"')).length, 2)
    const { totals } = await running.gateway.calls.stats({ model: 'gpt-5' })
    assert.equal(totals.cache.missed_tokens, missed_tokens)
  })
})
