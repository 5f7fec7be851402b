import assert from 'node:assert/strict'
import { before, it } from 'node:test'
import { createOpenResponses } from '@ai-sdk/open-responses'
import { createOpenAI } from '@ai-sdk/openai'
import {
  APICallError,
  generateObject,
  generateText,
  type LanguageModel,
  Output,
  stepCountIs,
  streamText,
  type ToolSet,
  tool,
} from 'ai'
import * as z from 'zod'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, onDouble, onEachUpstream } from './gateway-process.ts'

const PARCELS = 'Parcel 7 is in Lyon. Parcel 9 is in Riga.'
// The sandbox quotes what the user says, and never the system's words.
const QUESTION = { system: 'Answer from the text alone.', prompt: `${PARCELS} Where is parcel 9?`, maxRetries: 0 }
const Report = z.object({ parcel: z.int(), status: z.enum(['on its way', 'delivered']), stops: z.array(z.string()) })

const viaOpenAI = ({ url, key }: GatewayProcess) => createOpenAI({ baseURL: `${url}/v1`, apiKey: key })
const viaOpenResponses = ({ url, key }: GatewayProcess) =>
  createOpenResponses({ name: 'gazeway', url: `${url}/v1/responses`, apiKey: key })

/** Tests that run on one model for each API of the gateway. */
function modelTests(name: string, model: () => LanguageModel, ...routes: [] | ['chat_fallback']) {
  const [route] = routes

  it(`generates text with ${name}`, async () => {
    const { text, finishReason, usage, response } = await generateText({ model: model(), ...QUESTION })
    assert.match(text, /Riga/)
    assert.equal(finishReason, 'stop')
    assert.ok((usage.totalTokens ?? 0) > 0)
    assert.equal(response.headers?.['x-gazeway-route'], route)
  })

  it(`streams text with ${name}`, async () => {
    const result = streamText({ model: model(), ...QUESTION, onError: ({ error }) => assert.fail(String(error)) })
    let text = ''
    for await (const piece of result.textStream) text += piece
    assert.match(text, /Riga/)
    assert.equal(await result.finishReason, 'stop')
    assert.ok(((await result.usage).totalTokens ?? 0) > 0)
    assert.equal((await result.response).headers?.['x-gazeway-route'], route)
  })

  for (const how of ['generates', 'streams'] as const)
    it(`runs a tool loop with ${name} that ${how}`, async () => {
      const asked: unknown[] = []
      const tools = {
        parcel_status: tool({
          description: 'The status of a parcel.',
          inputSchema: z.object({ parcel: z.string() }),
          async execute(input) {
            asked.push(input)
            return 'delivered on Friday'
          },
        }),
      }
      const request = {
        model: model(),
        tools,
        prompt: 'What is the parcel status of "P-42"?',
        stopWhen: stepCountIs(3),
      }
      const result = how === 'streams' ? streamText(request) : await generateText(request)
      assert.match(await result.text, /delivered on Friday/)
      assert.equal((await result.steps).length, 2)
      assert.deepEqual(asked, [{ parcel: 'P-42' }])
      for (const { response } of await result.steps) assert.equal(response.headers?.['x-gazeway-route'], route)
    })

  it(`generates an object with ${name}`, async () => {
    Report.parse((await generateObject({ model: model(), schema: Report, prompt: `Report: ${PARCELS}` })).object)
    const output = Output.object({ schema: Report })
    const streamed = streamText({ model: model(), output, prompt: `Report: ${PARCELS}` })
    Report.parse(await streamed.output)
  })
}

onEachUpstream('the Vercel AI SDK', (gateway) => {
  modelTests('the chat API', () => viaOpenAI(gateway()).chat('llm-3-fast'))
  modelTests('the responses API', () => viaOpenAI(gateway()).responses('llm-4.20-multi-agent-beta-0309'))
  modelTests('Open Responses', () => viaOpenResponses(gateway())('llm-4.20-multi-agent-beta-0309'))

  it('searches the web with the responses API, and gets its sources', async () => {
    const openai = viaOpenAI(gateway())
    const { sources, text } = await generateText({
      model: openai.responses('llm-4.20-multi-agent-beta-0309'),
      // Its own types are not written for exactOptionalPropertyTypes.
      tools: { web_search: openai.tools.webSearch() } as ToolSet,
      prompt: `${PARCELS} Where is parcel 9?`,
    })
    assert.match(text, /Riga/)
    assert.ok(sources.length > 0)
  })
})

onDouble('the Vercel AI SDK, while the responses endpoint fails,', (gateway, upstream) => {
  before(() => upstream().on('/responses', double.fails(500)))
  modelTests('the responses API', () => viaOpenAI(gateway()).responses('llm-3-fast'), 'chat_fallback')
  modelTests('Open Responses', () => viaOpenResponses(gateway())('llm-3-fast'), 'chat_fallback')

  it('sends earlier answers with `store: false`, and references that nothing else can read without it', async () => {
    const model = viaOpenAI(gateway()).responses('llm-3-fast')
    const asked = { role: 'user', content: `${PARCELS} Where is parcel 7?` } as const
    const first = await generateText({ model, messages: [asked] })
    const messages = [asked, ...first.response.messages, { role: 'user', content: 'Where is parcel 9?' } as const]
    const { text } = await generateText({ model, messages, providerOptions: { openai: { store: false } } })
    assert.match(text, /Riga/)
    await assert.rejects(generateText({ model, messages, maxRetries: 0 }), /double says 500/)
  })
})

onDouble('the Vercel AI SDK, when an upstream misbehaves,', (gateway, upstream) => {
  it('reads a refusal, and whether it can be retried', async () => {
    upstream().on('/chat/completions', double.fails(429, { 'retry-after': '7' }))
    upstream().on('/responses', double.fails(429, { 'retry-after': '7' }))
    const openai = viaOpenAI(gateway())
    for (const model of [openai.chat('any'), openai.responses('any'), viaOpenResponses(gateway())('any')])
      await assert.rejects(generateText({ model, ...QUESTION }), (error) => {
        assert.ok(APICallError.isInstance(error))
        assert.deepEqual([error.statusCode, error.isRetryable], [429, true])
        assert.match(error.responseBody ?? '', /double says 429/)
        assert.equal(error.responseHeaders?.['retry-after'], '7')
        return true
      })
  })

  it('fails on a stream that breaks, and does not take it for an answer', async () => {
    upstream().on('/chat/completions', double.sse(double.chunks(['Hel', 'lo']).slice(0, 2), 'break'))
    const errors: unknown[] = []
    const result = streamText({
      model: viaOpenAI(gateway()).chat('any'),
      ...QUESTION,
      onError: ({ error }) => void errors.push(error),
    })
    await result.consumeStream()
    assert.equal(errors.length, 1)
  })

  it('reaches the upstream when it aborts a stream', async () => {
    upstream().on('/chat/completions', double.sse(double.chunks(['Hel']).slice(0, 2), 'hang'))
    upstream().on('/responses', double.sse(double.responseEvents(['Hel']).slice(0, 4), 'hang'))
    const openai = viaOpenAI(gateway())
    for (const model of [openai.chat('any'), openai.responses('any'), viaOpenResponses(gateway())('any')]) {
      upstream().received.length = 0
      const leaving = new AbortController()
      const result = streamText({ model, ...QUESTION, abortSignal: leaving.signal, onError: () => {} })
      for await (const part of result.fullStream) if (part.type === 'text-delta') leaving.abort()
      await upstream().received[0]?.aborted
    }
  })
})
