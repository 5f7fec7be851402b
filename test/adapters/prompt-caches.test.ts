import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { message } from '../doubles/anthropic.ts'
import { makeCertificate, noCertificates } from '../doubles/certificate.ts'
import { type ForwardProxy, startForwardProxy } from '../doubles/forward-proxy.ts'
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
})
