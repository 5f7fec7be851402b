import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type RunningPlatform, startPlatform } from '../../adapters/platform.ts'
import { API_KEY, CLIENT, SECRET, startAzure, TENANT } from '../../doubles/clouds/azure.ts'

const DEPLOYMENT = 'team/deployment-1'

describe('an upstream at Azure', () => {
  let azure: Awaited<ReturnType<typeof startAzure>>
  let running: RunningPlatform
  let key: string

  before(async () => {
    azure = await startAzure({ deployment: DEPLOYMENT })
    process.env.AZURE_CLIENT_SECRET = SECRET
    process.env.AZURE_AUTHORITY_HOST = azure.url
    process.env.AZURE_POD_IDENTITY_AUTHORITY_HOST = azure.url
    const deployments = { 'gpt-5': DEPLOYMENT, wrong: 'nothing-there' }
    const base_url = `${azure.url}/openai`
    const at = (cloud: object) => ({ provider: 'azure', base_url, cloud: { deployments, ...cloud } })
    const principal = { tenant_id: TENANT, client_id: CLIENT }
    running = await startPlatform('sandbox', {
      document: {
        upstreams: {
          keyed: { ...at({}), api_keys: [API_KEY] },
          dated: { ...at({ api_version: '2024-10-21' }), api_keys: [API_KEY] },
          wrong: { ...at({}), api_keys: ['a-key-that-azure-refuses'] },
          principal: at(principal),
          machine: at({ credentials: 'machine' }),
          refused: at({ credentials: 'machine' }),
          elsewhere: { ...at({}), base_url: 'http://cloud.invalid/openai' },
        },
      },
    })
    const made = await running.gateway.keys.create({
      name: 'caller',
      scopes: ['inference'],
      billing: 'recorded',
      limits: { budgets: [{ usd: 5, per: 'day' }] },
    })
    key = made.key
  })
  after(async () => {
    await running.close()
    await azure.close()
    for (const name of ['AZURE_CLIENT_SECRET', 'AZURE_AUTHORITY_HOST', 'AZURE_POD_IDENTITY_AUTHORITY_HOST'])
      delete process.env[name]
  })

  const get = (path: string) =>
    fetch(`${running.gatewayUrl}/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
  async function ask(model: string, body: object = {}) {
    const reply = await fetch(`${running.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...body }),
    })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }
  const last = () => azure.state.chats.at(-1)

  it('gets the deployment of a model, in the body below /openai/v1 and in the path beside a version', async () => {
    const whole = await ask('keyed/gpt-5')
    assert.equal(whole.status, 200, whole.text)
    assert.equal(whole.headers.get('x-ratelimit-remaining-requests'), '7')
    assert.equal(last()?.headers['api-key'], API_KEY)
    assert.equal(last()?.headers.authorization, undefined)
    const dated = await ask('dated/gpt-5', { stream: true })
    assert.match(dated.text, /Hello\./)
    const path = '/openai/deployments/team%2Fdeployment-1/chat/completions'
    assert.equal(last()?.url.href, `http://double${path}?api-version=2024-10-21`)
  })

  it('reads the model of a form from its own part, also behind a large file that names another', async () => {
    for (const upstream of ['keyed', 'dated']) {
      const form = new FormData()
      const name = 'name="model"\r\n\r\nnothing-there\r\n'
      form.set('file', new Blob([`${name}${' '.repeat(100_000)}${name}`]), 'a.wav')
      form.set('model', `${upstream}/gpt-5`)
      const reply = await fetch(`${running.gatewayUrl}/v1/audio/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: form,
      })
      assert.equal(reply.status, 200, await reply.text())
    }
  })

  for (const name of ['..', '.', 'a/../b', 'a?b', 'a#b', '%2e%2e', 'a\ud800'])
    it(`has no deployment ${JSON.stringify(name)}, and sends nothing`, async () => {
      const { length } = azure.state.asked
      const { status, text } = await ask(`dated/${name}`)
      assert.deepEqual([status, azure.state.asked.length - length], [404, 0], text)
    })

  it('costs what its model does, not its deployment', async () => {
    await ask('keyed/gpt-5')
    await running.gateway.calls.flush()
    const [call] = (await running.gateway.calls.history({ limit: 1 })).items
    // 10 tokens of prompt for 1.25, 5 of answer for 10 USD per 1,000,000.
    assert.equal(call?.upstream_cost_usd, 0.000063)
  })

  it('costs what its model does also by the name of its deployment', async () => {
    const { status, text } = await ask(`keyed/${DEPLOYMENT}`)
    assert.equal(status, 200, text)
    await running.gateway.calls.flush()
    const [call] = (await running.gateway.calls.history({ limit: 1 })).items
    assert.equal(call?.upstream_cost_usd, 0.000063)
  })

  it('asks for no token at each call while new ones are refused as well', async () => {
    assert.equal((await ask('refused/gpt-5')).status, 200)
    azure.state.isTokenRefused = true
    const { given } = azure.state
    for (const _ of [1, 2, 3]) assert.ok((await ask('refused/gpt-5')).status >= 400)
    azure.state.isTokenRefused = false
    assert.equal(azure.state.given, given + 1)
  })

  it('lists the models that have a deployment', async () => {
    const { data } = (await (await get('/models')).json()) as { data: { id: string }[] }
    const ids = data.map(({ id }) => id)
    assert.ok(ids.includes('keyed/gpt-5') && ids.includes('dated/gpt-5'), ids.join())
    assert.ok(!ids.some((id) => id.includes('dall-e')), ids.join())
  })

  it('gets one token of a service principal for all calls that wait, also once the last is refused', async () => {
    assert.equal((await ask('principal/gpt-5')).status, 200)
    azure.state.tokens.clear()
    const { given } = azure.state
    const all = await Promise.all([1, 2, 3, 4].map(() => ask('principal/gpt-5')))
    assert.deepEqual([...new Set(all.map(({ status }) => status))], [200], all[0]?.text)
    assert.equal(azure.state.given, given + 1)
  })

  it('gets a token of the identity that Azure gave to the machine', async () => {
    assert.equal((await ask('machine/gpt-5')).status, 200)
  })

  it('gets a new token before the last one ends', async () => {
    azure.state.lastsSeconds = 60
    azure.state.tokens.clear()
    assert.equal((await ask('principal/gpt-5')).status, 200)
    const { given } = azure.state
    assert.equal((await ask('principal/gpt-5')).status, 200)
    assert.equal(azure.state.given, given + 1)
  })

  for (const [what, model, expected] of [
    [
      'a deployment that is not there',
      'keyed/wrong',
      /Set upstreams\.keyed\.cloud\.deployments.*It has gpt-5, wrong\./,
    ],
    ['a key that is refused', 'wrong/gpt-5', /Access denied due to invalid subscription key/],
    ['another address than the cloud', 'elsewhere/gpt-5', /is at cloud\.invalid, which gets no credentials/],
  ] as const)
    it(`says what to do about ${what}`, async () => {
      const { status, text } = await ask(model)
      assert.ok(status >= 400)
      assert.match(text, expected)
      assert.doesNotMatch(text, /entra-token|a-key-that/)
    })

  it('says that the secret of its service principal has ended, and shows no secret', async () => {
    azure.state.isSecretEnded = true
    azure.state.tokens.clear()
    const { status, text } = await ask('principal/gpt-5')
    assert.equal(status, 503, text)
    assert.match(text, /AADSTS7000222.*are expired\. Check the application client-of-the-tests/)
    assert.ok(!text.includes(SECRET) && !text.includes('Trace ID'), text)
  })
})
