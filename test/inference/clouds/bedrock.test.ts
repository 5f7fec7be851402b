import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { signV4 } from '../../../src/inference/clouds/sigv4.ts'
import { type RunningPlatform, startPlatform } from '../../adapters/platform.ts'
import { BEARER, KEYS, MODEL, startBedrock } from '../../doubles/clouds/bedrock.ts'

describe('an upstream at Amazon Bedrock', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-'))
  const file = join(folder, 'credentials')
  let bedrock: Awaited<ReturnType<typeof startBedrock>>
  let running: RunningPlatform
  let key: string
  const profile = (name: string, id: string, session = '') =>
    `[${name}]\naws_access_key_id = ${id}\naws_secret_access_key = ${KEYS.secret}\n${session}\n`

  before(async () => {
    bedrock = await startBedrock()
    writeFileSync(file, profile('team', KEYS.id) + profile('other', 'AKIDOTHER'))
    const cloud = { region: 'us-east-1', profile: 'team', credentials: 'file', credentials_file: file }
    const at = (over: object) => ({ provider: 'bedrock', base_url: bedrock.url, cloud: { ...cloud, ...over } })
    running = await startPlatform('sandbox', {
      document: {
        upstreams: {
          bedrock: at({}),
          bearer: { ...at({ credentials: 'key' }), api_keys: [BEARER] },
          other: at({ profile: 'other' }),
          elsewhere: at({ region: 'eu-west-1' }),
        },
      },
    })
    key = (await running.gateway.keys.create({ name: 'caller', scopes: ['inference'], billing: 'recorded' })).key
  })
  after(async () => {
    await running?.close()
    await bedrock.close()
    rmSync(folder, { recursive: true })
  })

  async function ask(model: string, body: object = {}, path = '/messages') {
    const reply = await fetch(`${running.gatewayUrl}/v1${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }], ...body }),
    })
    return { status: reply.status, text: await reply.text() }
  }

  it('signs as the published example does', () => {
    const url = new URL('https://example.amazonaws.com/')
    const request = { method: 'GET', url, body: null, region: 'us-east-1', service: 'service' }
    const { authorization } = signV4(request, { ...KEYS, session: null }, new Date('2015-08-30T12:36:00Z'))
    assert.match(String(authorization), /Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31$/)
  })

  it('is asked by InvokeModel with the keys of a profile, and costs what its model does', async () => {
    const { status, text } = await ask(`bedrock/${MODEL}`)
    assert.equal(status, 200, text)
    await running.gateway.calls.flush()
    const [call] = (await running.gateway.calls.history({ limit: 1 })).items
    // 10 tokens of prompt for 4, 5 of answer for 20 USD per 1,000,000.
    assert.equal(call?.upstream_cost_usd, 0.00014)
  })

  it('has Messages alone: a request that is paid by its input gets no answer', async () => {
    const { length } = bedrock.state.asked
    for (const path of ['/embeddings', '/moderations', '/rerank', '/audio/speech']) {
      const { status, text } = await ask(`bedrock/${MODEL}`, {}, path)
      assert.deepEqual([status, JSON.parse(text).error.type], [404, 'not_found_error'], text)
    }
    for (const name of ['..', 'a/../b', 'a\ud800']) assert.equal((await ask(`bedrock/${name}`)).status, 404)
    assert.equal(bedrock.state.asked.length, length)
  })

  it('streams in frames, which its client reads as events', async () => {
    const { text } = await ask(`bedrock/${MODEL}`, { stream: true })
    assert.match(text, /event: content_block_delta\ndata: .*Hello\.[\s\S]*event: message_stop/)
  })

  it('is asked with a bearer token', async () => {
    assert.equal((await ask(`bearer/${MODEL}`)).status, 200)
  })

  it('ends a stream with the exception of a frame', async () => {
    bedrock.state.isOverloaded = true
    const { text } = await ask(`bedrock/${MODEL}`, { stream: true })
    bedrock.state.isOverloaded = false
    assert.match(text, /event: error\ndata: .*rate_limit_error.*Too many tokens\./)
  })

  it('reads the file again once a session has ended', async () => {
    bedrock.state.session = 'session-of-today'
    assert.match((await ask(`bedrock/${MODEL}`)).text, /The credentials have ended: get new ones/)
    writeFileSync(
      file,
      profile('team', KEYS.id, 'aws_session_token = session-of-today') + profile('other', 'AKIDOTHER'),
    )
    assert.equal((await ask(`bedrock/${MODEL}`)).status, 200)
    bedrock.state.session = null
  })

  for (const [what, model, expected] of [
    ['another region', `elsewhere/${MODEL}`, /Set upstreams\.elsewhere\.cloud\.region to the region of the address/],
    ['keys that are unknown', `other/${MODEL}`, /Check the access key, or the profile\./],
    ['a model that is not there', 'bedrock/anthropic.nothing', /model identifier is invalid\. Check the model id/],
  ] as const)
    it(`says what to do about ${what}`, async () => {
      const { status, text } = await ask(model)
      assert.ok(status >= 400, text)
      assert.match(text, expected)
      assert.ok(!text.includes(KEYS.secret), text)
    })

  it('says how far the clock of this machine is off', async () => {
    bedrock.state.skewMs = -600_000
    assert.match(
      (await ask(`bedrock/${MODEL}`)).text,
      /Signature expired.*The clock of this machine is 10 minutes ahead/,
    )
  })
})
