import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as double from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const TEXT = { index: 0, text: 'Hello.', finish_reason: 'stop' }

describe('the usage in a reply that is passed on', () => {
  let upstream: double.UpstreamDouble
  let running: RunningGateway
  before(async () => {
    upstream = await double.startUpstream()
    running = await startGateway(upstream.url)
  })
  after(async () => {
    await running.close()
    await upstream.close()
  })

  // The places of Moonshot, Groq and Google, whose answers are read there when they are converted.
  for (const [place, reply] of Object.entries({
    choice: { choices: [{ ...TEXT, usage: USAGE }] },
    x_groq: { choices: [TEXT], x_groq: { usage: USAGE } },
    usageMetadata: {
      choices: [TEXT],
      usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
    },
  }))
    it(`is read wherever providers put it: ${place}`, async () => {
      upstream.on('/completions', double.json(200, { id: 'cmpl_1', object: 'text_completion', ...reply }))
      const answer = await fetch(`${running.url}/v1/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'llm-3-fast', prompt: 'Say hello.' }),
      })
      assert.equal(answer.status, 200, await answer.text())
      await running.gateway.calls.flush()
      const [record] = (await running.gateway.calls.history({ limit: 1 })).items
      assert.deepEqual(record?.usage, USAGE)
    })
})
