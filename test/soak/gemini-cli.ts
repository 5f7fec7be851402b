import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type RunningGateway, startGateway } from '../adapters/gateway.ts'
import { type GeminiDouble, KEY, MODEL, SIGNATURE, startGemini } from '../doubles/gemini.ts'
import { askGemini } from '../e2e/gemini.ts'

const SETTINGS = JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } })
const USAGE = { promptTokenCount: 900, thoughtsTokenCount: 20, candidatesTokenCount: 30, totalTokenCount: 950 }
const piece = (parts: object[], more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  usageMetadata: USAGE,
  modelVersion: MODEL,
})
const STOP = { finishReason: 'STOP' }
const reads = (name: string) => ({ functionCall: { name: 'read_file', args: { file_path: name } } })

let google: GeminiDouble
let running: RunningGateway

before(async () => {
  google = await startGemini()
  const upstream = { provider: 'gemini', base_url: google.url, api_keys: [KEY], aliases: { nimble: MODEL } }
  running = await startGateway(null, {}, { upstream: { provider: 'sandbox' }, upstreams: { google: upstream } })
})
after(async () => {
  await running?.close()
  await google?.close()
})

describe('Gemini CLI over Google’s own API', () => {
  it('reads files with parallel calls, keeps their signatures, and answers', async () => {
    google.on(
      {
        pieces: [
          piece([{ text: 'I read both.', thought: true }]),
          piece([{ ...reads('one.txt'), thoughtSignature: SIGNATURE }, reads('two.txt')], STOP),
        ],
      },
      { pieces: [piece([{ text: 'Parcel 9 ' }]), piece([{ text: 'is in Lyon.' }], STOP)] },
    )
    const variables = { GOOGLE_GEMINI_BASE_URL: running.url, GEMINI_API_KEY: running.key }
    const files = { 'one.txt': 'Parcel 9', 'two.txt': 'Lyon' }
    const { response, stats } = await askGemini(variables, SETTINGS, 'google/nimble', 'Where is it?', files)
    assert.equal(response, 'Parcel 9 is in Lyon.')
    assert.deepEqual([stats.tools.totalSuccess, stats.tools.totalFail], [2, 0])
    const asked = google.received.filter(({ path }) => path.includes(`/models/${MODEL}:streamGenerateContent`))
    assert.equal(asked.length, 2)
    assert.match(asked[1]?.text ?? '', /Parcel 9[\s\S]*Lyon/)
    await running.gateway.calls.flush()
    const { items } = await running.gateway.calls.history({ limit: 10 })
    assert.deepEqual([...new Set(items.map(({ path, status }) => `${path} ${status}`))], ['/v1/generateContent ok'])
    assert.equal(items[0]?.usage?.completion_tokens, 50)
  })
})
