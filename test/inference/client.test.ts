import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import { openaiClient } from '../../src/inference/client.ts'
import { createProvider } from '../../src/inference/provider.ts'
import * as double from '../doubles/upstream.ts'

/** Pieces of a reply that hold nothing of the answer. */
const SIGNS = 4
const messages = [{ role: 'user' as const, content: 'Say hello.' }]

describe('the client of an upstream that is at work', { timeout: 20_000 }, () => {
  let server: double.UpstreamDouble
  let touches: number
  let look: () => void
  beforeEach(async () => {
    server = await double.startUpstream()
    touches = 0
    look = () => {}
  })
  afterEach(() => server.close())

  const client = () => {
    const config = { api_key: null, headers: {}, aliases: {}, timeout_ms: 1000, max_retries: 0 }
    const models = { primary: 'a', fallback: 'b', chat: 'c' }
    return openaiClient(createProvider({ provider: server.url, models, ...config }), () => {
      touches++
      look()
    })
  }
  /** Sends signs of life, each once the one before was noticed, then the answer. */
  const alive =
    (type: string, sign: string, answer: string): double.Behaviour =>
    async (response) => {
      response.writeHead(200, { 'content-type': type })
      // The request and the head of its reply are noticed, too.
      for (let noticed = 3; noticed < 3 + SIGNS; noticed++) {
        response.write(sign)
        await new Promise<void>((resolve) => {
          look = () => touches >= noticed && resolve()
          look()
        })
      }
      response.end(answer)
    }

  it('notices comments before the first event', async () => {
    const events = double.chunks(['Hello.']).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    server.on('/chat/completions', alive('text/event-stream', ': PROCESSING\n\n', events.join('')))
    const texts: unknown[] = []
    for await (const { choices } of await (await client()).chat.completions.create({
      model: 'm',
      messages,
      stream: true,
    }))
      texts.push(choices[0]?.delta.content ?? '')
    assert.equal(texts.join(''), 'Hello.')
  })

  it('reads no more than 64 MiB of a reply, however little of it was sent', async () => {
    const bomb = brotliCompressSync(Buffer.alloc(65 * 1024 * 1024, ' '))
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' }).end(bomb)
    })
    const asked = (await client()).chat.completions.create({ model: 'm', messages })
    await assert.rejects(asked, { code: 'upstream_bad_reply', message: /larger than 67108864 bytes/ })
  })

  it('is given whole events, whatever pieces they come in, and none that has no end', async () => {
    const word = 'w'.repeat(300_000)
    const text = double.chunks([word]).map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    server.on('/chat/completions', async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const piece of text.join('').match(/[\s\S]{1,60000}/g) ?? [])
        await new Promise((resolve) => response.write(piece, resolve))
      response.end('data: {"choices":[{"index":0,"delta":{"content":" End"}}]}')
    })
    const answer = async () => {
      const parts: unknown[] = []
      const asked = (await client()).chat.completions.create({ model: 'm', messages, stream: true })
      for await (const { choices } of await asked) parts.push(choices[0]?.delta.content ?? '')
      return parts.join('')
    }
    assert.equal(await answer(), `${word} End`)
    const endless = brotliCompressSync(Buffer.alloc(17 * 1024 * 1024, 'data: a'))
    server.on('/chat/completions', (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': 'br' }).end(endless)
    })
    await assert.rejects(answer(), { code: 'upstream_bad_reply', message: /an event of its stream has no end/ })
  })

  it('takes a reply of any status that there is', async () => {
    server.on('/chat/completions', double.json(999, { error: { message: 'Who are you?' } }))
    await assert.rejects((await client()).chat.completions.create({ model: 'm', messages }), { status: 999 })
  })

  it('notices blank lines before a whole reply', async () => {
    server.on('/chat/completions', alive('application/json', '\n', JSON.stringify(double.completion('Hello.'))))
    const { choices } = await (await client()).chat.completions.create({ model: 'm', messages })
    assert.equal(choices[0]?.message.content, 'Hello.')
  })
})
