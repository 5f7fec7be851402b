import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI from 'openai'
import { createSandbox } from '../../src/inference/sandbox/sandbox.ts'

const { fetch } = createSandbox()
const client = new OpenAI({
  baseURL: 'http://sandbox.local/v1',
  apiKey: 'none',
  maxRetries: 0,
  fetch: (url, init) => fetch(new Request(url, init)),
})
const embed = async (input: string | string[] | number[], more: object = {}) =>
  (await client.embeddings.create({ model: 'any', input, ...more })).data.map(({ embedding }) => embedding)
const near = (a: readonly number[] = [], b: readonly number[] = []) =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0)

describe('embeddings of the sandbox', () => {
  it('are the same each time, of length 1, and near where texts share stems', async () => {
    const texts = ['Deploys go to the eu-west cluster', 'deploying to clusters', 'my cat sleeps all day']
    const [a, b, c] = await embed(texts)
    assert.deepEqual(await embed(texts), [a, b, c])
    for (const vector of [a, b, c]) assert.ok(Math.abs(near(vector, vector) - 1) < 1e-5, 'it has the length 1')
    assert.ok(near(a, b) > near(a, c) + 0.3, `${near(a, b)} and ${near(a, c)}`)
    assert.deepEqual(await embed('deploying to clusters'), [b])
  })

  it('are of the asked length and encoding, of texts or tokens, and say whose they are', async () => {
    const [vector] = await embed([1, 2, 3], { dimensions: 8, encoding_format: 'float' })
    assert.equal(vector?.length, 8)
    const { data: reply, response } = await client.embeddings
      .create({ model: 'any', input: 'Hello there' })
      .withResponse()
    assert.equal(response.headers.get('x-upstream'), 'sandbox')
    assert.equal((reply as { system_fingerprint?: string }).system_fingerprint, 'sandbox')
    assert.deepEqual([reply.model, reply.usage.prompt_tokens], ['any', 4])
  })

  it('refuse what is no input, naming the field', async () => {
    await assert.rejects(embed([]), { status: 400, param: 'input' })
    await assert.rejects(embed('x', { dimensions: 0 }), { status: 400, param: 'dimensions' })
  })
})
