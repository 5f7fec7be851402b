import assert from 'node:assert/strict'
import { it } from 'node:test'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import OpenAI from 'openai'
import { IS_LONG } from '../doubles/runs.ts'
import * as double from '../doubles/upstream.ts'
import { onDouble } from './gateway-process.ts'

const TEXT = 'Hello there, you.'
const WORDS = ['Hello ', 'there, ', 'you.']
const MESSAGES = [{ role: 'user' as const, content: 'Hello.' }]

/** Answers with a text in some pieces, under a type or none. */
const says =
  (type: string | null, text: string, bytesAPiece: number): double.Behaviour =>
  async (response) => {
    const bytes = Buffer.from(text)
    response.writeHead(200, type === null ? {} : { 'content-type': type })
    for (let at = 0; at < bytes.length; at += bytesAPiece) {
      response.write(bytes.subarray(at, at + bytesAPiece))
      await new Promise((resolve) => setImmediate(resolve))
    }
    response.end()
  }
const events = (list: object[]) => list.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

const FORMS = {
  events: {
    '/chat/completions': `: begun\n\n${events(double.chunks(WORDS))}data: [DONE]\n\n`,
    '/responses': `\ufeff${'\n'.repeat(5000)}${events(double.responseEvents(WORDS))}`,
  },
  'one piece': {
    '/chat/completions': ` \n${JSON.stringify(double.completion(TEXT))}`,
    '/responses': `${' '.repeat(5000)}${JSON.stringify(double.response(TEXT))}`,
  },
}
/** Bytes that arrive at once. Outside of the long tests each type comes in pieces of one size. */
const PIECES = [100_000, 5001, 7]
const TYPES = [
  null,
  '',
  'text/plain; charset=utf-8',
  'application/octet-stream',
  'application/json',
  'text/event-stream',
]

onDouble('a provider whose replies have another content-type than they are', (gateway, upstream) => {
  const client = () => new OpenAI({ baseURL: `${gateway().url}/v1`, apiKey: gateway().key, maxRetries: 0 })

  const asks: Record<keyof (typeof FORMS)['events'], Record<'whole' | 'stream', () => Promise<string>>> = {
    '/chat/completions': {
      whole: async () => {
        const { choices } = await client().chat.completions.create({ model: 'm', messages: MESSAGES })
        return choices[0]?.message.content ?? ''
      },
      stream: async () => {
        const stream = await client().chat.completions.create({ model: 'm', messages: MESSAGES, stream: true })
        let text = ''
        for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
        return text
      },
    },
    '/responses': {
      whole: async () => (await client().responses.create({ model: 'm', input: 'Hello.' })).output_text,
      stream: async () => {
        let text = ''
        for await (const event of await client().responses.create({ model: 'm', input: 'Hello.', stream: true }))
          if (event.type === 'response.output_text.delta') text += event.delta
        return text
      },
    },
  }

  for (const [path, ways] of Object.entries(asks))
    for (const [way, ask] of Object.entries(ways))
      for (const [form, texts] of Object.entries(FORMS))
        it(`${path}: ${form} for a ${way === 'whole' ? 'whole answer' : 'stream'}`, async () => {
          for (const type of TYPES) {
            // Its head has been passed on by then.
            if (type === 'text/event-stream' && way === 'stream' && form === 'one piece') continue
            for (const bytesAPiece of IS_LONG
              ? PIECES
              : PIECES.slice(TYPES.indexOf(type) % PIECES.length).slice(0, 1)) {
              upstream().on(path, says(type, texts[path as keyof typeof texts], bytesAPiece))
              upstream().received.length = 0
              assert.equal(await ask(), TEXT, `as ${type}, in pieces of ${bytesAPiece} bytes`)
              assert.equal(upstream().received.length, 1, 'nothing is asked twice')
            }
          }
        })

  it('may begin an announced stream with an unknown field', async () => {
    upstream().on('/chat/completions', says('text/event-stream', `x-meta: 1\n${FORMS.events['/chat/completions']}`, 3))
    for (const ask of Object.values(asks['/chat/completions'])) assert.equal(await ask(), TEXT)
  })

  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)
    it(`may compress (${encoding}) what it was asked to send as it is`, async () => {
      const sends =
        (status: number, type: string, text: string): double.Behaviour =>
        (response) =>
          void response.writeHead(status, { 'content-type': type, 'content-encoding': encoding }).end(compress(text))
      for (const [path, ways] of Object.entries(asks))
        for (const [ask, form, type] of [
          [ways.whole, 'one piece', 'application/json'],
          [ways.stream, 'events', 'text/event-stream'],
        ] as const) {
          upstream().on(path, sends(200, type, FORMS[form][path as keyof (typeof FORMS)['events']]))
          assert.equal(await ask(), TEXT)
          const refusal = { error: { message: 'Too long.', type: 'invalid_request_error', code: 'too_long' } }
          upstream().on(path, sends(400, 'application/json', JSON.stringify(refusal)))
          await assert.rejects(ask(), { status: 400, code: 'too_long', message: /Too long\.$/ })
          const broken: double.Behaviour = (response) =>
            void response
              .writeHead(200, { 'content-type': type, 'content-encoding': encoding })
              .end('\x1fnot compressed')
          upstream().on(path, broken)
          await assert.rejects(ask(), form === 'events' ? Error : { status: 502, code: 'upstream_bad_reply' })
        }
    })

  it('may say that a reply is compressed which is not, or has no body', async () => {
    const head = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    upstream().on('/chat/completions', double.json(200, double.completion(TEXT), head))
    for (const ask of Object.values(asks['/chat/completions'])) assert.equal(await ask(), TEXT)
    upstream().on(
      '/chat/completions',
      (response) => void response.writeHead(429, { ...head, 'retry-after': '7' }).end(),
    )
    for (const ask of Object.values(asks['/chat/completions']))
      await assert.rejects(ask(), (error: InstanceType<typeof OpenAI.APIError>) => {
        assert.deepEqual([error.status, error.headers?.get('retry-after')], [429, '7'])
        return true
      })
  })

  it('is distinguished from one that answers with neither', async () => {
    for (const text of ['', ' ', 'data', 'internal error', '<html>', 'event'])
      for (const type of [null, 'text/plain', 'application/json']) {
        upstream().on('/chat/completions', says(type, text, 100))
        for (const ask of Object.values(asks['/chat/completions']))
          await assert.rejects(ask(), {
            status: 502,
            code: 'upstream_bad_reply',
            message: /its reply is not a chat completion/,
          })
      }
  })
})
