import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import * as z from 'zod'
import * as double from '../doubles/upstream.ts'
import { type GatewayProcess, onDouble, onEachUpstream } from './gateway-process.ts'

const APIS = { 'chat completions': false, responses: true }

function runner({ url, key }: GatewayProcess, useResponses: boolean): Runner {
  const modelProvider = new OpenAIProvider({ baseURL: `${url}/v1`, apiKey: key, useResponses })
  return new Runner({ modelProvider, tracingDisabled: true })
}

/** An agent with a tool, and what the tool was asked. */
function courier() {
  const asked: unknown[] = []
  const status = tool({
    name: 'parcel_status',
    description: 'The status of a parcel.',
    parameters: z.object({ parcel: z.string() }),
    async execute(input) {
      asked.push(input)
      return 'delivered on Friday'
    },
  })
  const agent = new Agent({ name: 'Courier', instructions: 'Be short.', model: 'llm-3-fast', tools: [status] })
  return { agent, asked }
}

const QUESTION = 'What is the parcel status of "P-42"?'

/** A run with a tool, whole and streamed. */
function loopTests(gateway: () => GatewayProcess, api: string, useResponses: boolean) {
  it(`runs a tool loop over ${api}`, async () => {
    const { agent, asked } = courier()
    const result = await runner(gateway(), useResponses).run(agent, QUESTION)
    assert.match(result.finalOutput ?? '', /delivered on Friday/)
    assert.deepEqual(asked, [{ parcel: 'P-42' }])
    assert.equal(result.rawResponses.length, 2)
    for (const { usage } of result.rawResponses) assert.ok(usage.totalTokens > 0)
  })

  it(`runs a streamed tool loop over ${api}`, async () => {
    const { agent, asked } = courier()
    const result = await runner(gateway(), useResponses).run(agent, QUESTION, { stream: true })
    let text = ''
    for await (const piece of result.toTextStream()) text += piece
    await result.completed
    assert.match(text, /delivered on Friday/)
    assert.deepEqual(asked, [{ parcel: 'P-42' }])
  })

  it(`gives an agent’s output a type over ${api}`, async () => {
    const outputType = z.object({ city: z.string(), delivered: z.boolean() })
    const agent = new Agent({ name: 'Reporter', instructions: 'Report.', model: 'llm-3-fast', outputType })
    const result = await runner(gateway(), useResponses).run(agent, 'Parcel 9 is in Riga. Where is parcel 9?')
    outputType.parse(result.finalOutput)
  })
}

onEachUpstream('the OpenAI Agents SDK', (gateway) => {
  for (const [api, useResponses] of Object.entries(APIS)) loopTests(gateway, api, useResponses)
})

onDouble('the OpenAI Agents SDK, while the responses endpoint fails,', (gateway, upstream) => {
  it('is refused by the route with the reason', async () => {
    upstream().on('/responses', double.fails(500))
    const reply = await fetch(`${gateway().url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway().key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ input: QUESTION }),
    })
    assert.equal(reply.headers.get('x-gazeway-route'), 'chat_fallback')
  })
  loopTests(gateway, 'responses', true)
})
