import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { estimateUsage } from '../../src/inference/observe/estimate.ts'
import { countUsage, UNCOUNTED } from '../../src/inference/observe/observe.ts'
import { requestText } from '../../src/inference/observe/request-text.ts'
import { createTokenCounter } from '../../src/text/token-counter.ts'
import { turnsDuring } from '../doubles/turns.ts'

const MB = 1024 * 1024
const countTokens = createTokenCounter()
const tokensOf = async (request: unknown) => (await estimateUsage(countTokens, request, '')).prompt_tokens
const asked = (...content: unknown[]) => ({ model: 'm', messages: [{ role: 'user', content }] })

describe('the estimate of a prompt', () => {
  const base64 = Buffer.alloc(1.5 * MB, 'picture').toString('base64')
  const question = { type: 'text', text: 'What is it?' }
  const media: Record<string, (bytes: string) => object> = {
    'a picture for chat': (bytes) => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${bytes}` } }),
    'a picture for responses': (bytes) => ({ type: 'input_image', image_url: `data:image/png;base64,${bytes}` }),
    'a recording': (bytes) => ({ type: 'input_audio', input_audio: { data: bytes, format: 'wav' } }),
    'a file': (bytes) => ({ type: 'file', file: { file_data: `data:application/pdf;base64,${bytes}` } }),
    'a file without its type': (bytes) => ({ type: 'input_file', filename: 'a.pdf', file_data: bytes }),
    'a picture that was drawn': (bytes) => ({ type: 'image_generation_call', result: bytes }),
  }

  for (const [name, medium] of Object.entries(media))
    it(`counts ${name} as 1,100 tokens, whatever its size`, async () => {
      const alone = await tokensOf(asked(question))
      for (const bytes of [base64, base64.slice(0, 400), base64.replaceAll(/.{76}/g, '$&\r\n')]) {
        const tokens = (await tokensOf(asked(question, medium(bytes)))) - alone
        assert.ok(tokens >= 1100 && tokens < 1140, `${tokens} tokens`)
      }
    })

  it('counts each of several media', async () => {
    const picture = media['a picture for chat']?.(base64)
    const one = await tokensOf(asked(picture))
    const three = await tokensOf(asked(picture, picture, picture))
    assert.ok(three - one > 2200 && three - one < 2300, `${three - one} tokens`)
  })

  it('counts text as it is: links, short values, and base64 that the model reads as text', async () => {
    const text = base64.slice(0, 20_000)
    for (const part of [
      { type: 'text', text },
      { type: 'text', text: `data:image/png;base64,${text}` },
      { type: 'image_url', image_url: { url: `https://example.com/${'a/b?c='.repeat(3000)}` } },
      { type: 'tool_result', data: 'word '.repeat(4000) },
    ])
      assert.ok((await tokensOf(asked(part))) > 3000, JSON.stringify(part).slice(0, 60))
    assert.ok((await tokensOf({ data: 'short' })) < 20)
  })

  it('sees in time by its length whether a value is base64, whatever it ends in', async () => {
    // By the square of it, this would take most of an hour.
    for (const end of ['\r\n', '\n', ' ', '='])
      await tokensOf(asked({ type: 'file', file: { file_data: `a${end.repeat(2_000_000)}!` } }))
  })

  it('takes a request for what it is as JSON', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), async (request) => {
        assert.deepEqual(await requestText(request), { text: JSON.stringify(request), media: 0 })
      }),
    )
    const { text } = await requestText({ a: undefined, b: [undefined, { c: undefined }], d: 1 })
    assert.equal(text, '{"b":[null,{}],"d":1}')
  })

  it('does not block on a request of a million values', async () => {
    const request = {
      messages: [{ role: 'user', content: 'Hello' }],
      many: Array.from({ length: 1_000_000 }, () => [1]),
    }
    const turns = await turnsDuring(() => requestText(request))
    assert.ok(turns >= 3, `${turns} turns`)
  })

  it('is unknown where an upgrade took the tokenizer away', async () => {
    const gone = './tokenizer-that-is-gone.ts'
    const counter = { countTokens: async () => (await import(gone)).count() }
    assert.equal(
      await countUsage(counter.countTokens, asked('Hello.'), () => ({ text: 'Hello back', factor: 1 }), null),
      UNCOUNTED,
    )
    await assert.rejects(
      countUsage(
        () => Promise.reject(new TypeError('a fault')),
        {},
        () => ({ text: 'a', factor: 1 }),
        null,
      ),
      /a fault/,
    )
  })
})
