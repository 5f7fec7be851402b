import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { vertex as vertexPreset } from '../../../src/providers/vertex.ts'
import { type RunningPlatform, startPlatform } from '../../adapters/platform.ts'
import { EMAIL, startVertex } from '../../doubles/clouds/vertex.ts'

describe('an upstream at Vertex AI', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-'))
  const pair = () =>
    generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
  const { publicKey, privateKey } = pair()
  let vertex: Awaited<ReturnType<typeof startVertex>>
  let running: RunningPlatform
  let key: string

  before(async () => {
    vertex = await startVertex({ publicKey })
    const file = join(folder, 'account.json')
    const account = {
      type: 'service_account',
      client_email: EMAIL,
      private_key: privateKey,
      token_uri: `${vertex.url}/token`,
    }
    writeFileSync(file, JSON.stringify(account))
    const base_url = `${vertex.url}/v1/projects/team/locations/us-east5`
    const at = (over: object) => ({
      provider: 'vertex',
      base_url,
      cloud: { project: 'team', region: 'us-east5', credentials_file: file },
      ...over,
    })
    const user = {
      type: 'authorized_user',
      client_id: 'id',
      client_secret: 'a-secret',
      refresh_token: 'a-refresh-token',
    }
    const withAccount = (name: string, fields: object) => {
      const credentials_file = join(folder, name)
      writeFileSync(credentials_file, JSON.stringify(fields))
      return at({ protocol: 'anthropic', cloud: { project: 'team', region: 'us-east5', credentials_file } })
    }
    running = await startPlatform('sandbox', {
      document: {
        upstreams: {
          gemini: at({}),
          claude: at({ protocol: 'anthropic' }),
          // An upstream of its own has no token yet.
          late: at({ protocol: 'anthropic' }),
          given: { ...at({ protocol: 'anthropic' }), api_keys: ['ya29.a-token-that-has-ended'] },
          deleted: withAccount('deleted.json', { ...account, private_key: pair().privateKey }),
          signed: withAccount('signed.json', { ...user, token_uri: `${vertex.url}/token` }),
        },
      },
    })
    const made = await running.gateway.keys.create({ name: 'caller', scopes: ['inference'], billing: 'recorded' })
    key = made.key
  })
  after(async () => {
    await running?.close()
    await vertex.close()
    rmSync(folder, { recursive: true })
  })

  async function ask(path: string, body: object) {
    const reply = await fetch(`${running.gatewayUrl}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...body }),
    })
    return { status: reply.status, text: await reply.text() }
  }

  it('asks Claude by Messages, with the model in the path and the version in the body', async () => {
    const whole = await ask('/messages', { model: 'claude/claude-opus-5-5' })
    assert.equal(whole.status, 200, whole.text)
    const { body } = vertex.state.asked.at(-1) ?? {}
    assert.deepEqual(Object.keys(JSON.parse(String(body))).sort(), ['anthropic_version', 'max_tokens', 'messages'])
    const streamed = await ask('/messages', { model: 'claude/claude-opus-5-5', stream: true })
    assert.match(streamed.text, /event: message_stop/)
  })

  it('costs a tenth more in a region', async () => {
    await running.gateway.calls.flush()
    const [call] = (await running.gateway.calls.history({ limit: 1 })).items
    // 10 tokens of prompt for 4, 5 of answer for 20 USD per 1,000,000, and 10 %.
    assert.equal(call?.upstream_cost_usd, 0.000154)
  })

  it('has no price for a name that hides another behind a version', () => {
    const priced = (model: string) => vertexPreset.pricedFields.readId?.(model).priced
    assert.equal(priced('claude-opus-5-5@20251101'), 'claude-opus-5-5')
    assert.equal(priced('claude-haiku-5@/../claude-opus-5-5'), 'claude-haiku-5@/../claude-opus-5-5')
  })

  it('counts the tokens of a prompt', async () => {
    const counted = await ask('/messages/count_tokens', { model: 'claude/claude-opus-5-5', max_tokens: undefined })
    assert.deepEqual([counted.status, JSON.parse(counted.text).input_tokens], [200, 12], counted.text)
  })

  it('has Messages alone: a request that is paid by its input gets no answer', async () => {
    const { length } = vertex.state.asked
    for (const path of ['/embeddings', '/moderations', '/messages/batches'])
      assert.equal((await ask(path, { model: 'claude/claude-opus-5-5' })).status, 404)
    assert.equal(vertex.state.asked.length, length)
  })

  it('asks Gemini at the OpenAI-compatible endpoint', async () => {
    const whole = await ask('/chat/completions', { model: 'gemini/gemini-3.8-flash' })
    assert.equal(whole.status, 200, whole.text)
    assert.match(String(vertex.state.asked.at(-1)?.body), /"model":"google\/gemini-3\.8-flash"/)
  })

  it('gets a new token once the last is refused', async () => {
    vertex.state.tokens.clear()
    const { given } = vertex.state
    assert.equal((await ask('/messages', { model: 'claude/claude-opus-5-5' })).status, 200)
    assert.equal(vertex.state.given, given + 1)
  })

  it('says where a model may be missing', async () => {
    const { status, text } = await ask('/messages', { model: 'claude/claude-unknown' })
    assert.equal(status, 404, text)
    assert.match(text, /was not found.*upstreams\.claude\.cloud\.region: us-east5 may lack the model/)
  })

  for (const [what, upstream, status, expected] of [
    ['an access token that has ended', 'given', 401, /The access token has ended: use the file of a service account/],
    [
      'a key that its account no longer has',
      'deleted',
      503,
      /Invalid JWT Signature\. Check the account in .*deleted\.json/,
    ],
    [
      'a sign-in that has ended',
      'signed',
      503,
      /expired or revoked\. .*run gcloud auth application-default login again/,
    ],
  ] as const)
    it(`says what to do about ${what}, and shows no secret`, async () => {
      const reply = await ask('/messages', { model: `${upstream}/claude-opus-5-5` })
      assert.equal(reply.status, status, reply.text)
      assert.match(reply.text, expected)
      assert.doesNotMatch(reply.text, /ya29|PRIVATE KEY|eyJ|a-secret|a-refresh-token/)
    })

  it('says how far the clock of this machine is off', async () => {
    vertex.state.secondsAhead = 600
    const { text } = await ask('/messages', { model: 'late/claude-opus-5-5' })
    assert.match(text, /The clock of this machine is 10 minutes behind/)
    assert.ok(!text.includes('PRIVATE KEY') && !text.includes('eyJ'), text)
  })
})
