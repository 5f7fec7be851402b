import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contextOverflow, overflowInMessages } from '../../src/inference/api/context-overflow.ts'
import * as double from '../doubles/upstream.ts'
import { startGateway } from './gateway.ts'
import { ASK, errorOf, openGateway, QUESTION } from './http-gateway.ts'

const { server, post } = await openGateway()
const MESSAGES = { max_tokens: 100, messages: ASK.messages }
const PATHS = { '/v1/chat/completions': ASK, '/v1/messages': MESSAGES, '/v1/responses': QUESTION }

const ended = (chunk: object, finish: string) => JSON.parse(JSON.stringify(chunk).replace('"stop"', `"${finish}"`))

/** Refusals of upstreams, with the words that Claude Code reads for them. */
const REFUSED: Record<string, { error: object; status?: number; words: string }> = {
  OpenAI: {
    error: {
      message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 8545 tokens.",
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    },
    words: 'prompt is too long: 8545 tokens > 8192 maximum',
  },
  'OpenAI Responses': {
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      code: 'context_length_exceeded',
    },
    words:
      'prompt is too long: Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
  DeepSeek: {
    error: {
      message:
        "This model's maximum context length is 65536 tokens. However, you requested 71436 tokens (67340 in the messages, 4096 in the completion). Please reduce the length of the messages or completion.",
      code: 'invalid_request_error',
    },
    words: 'prompt is too long: 67340 tokens > 65536 maximum',
  },
  'vLLM, with a limit of the answer': {
    error: {
      object: 'error',
      message:
        "'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 9000 tokens and your request has 1100 input tokens (8192 > 9000 - 1100).",
      type: 'BadRequestError',
      code: 400,
    },
    words:
      'input length and `max_tokens` exceed context limit: 1100 + 8192 > 9000, decrease input length or `max_tokens`',
  },
  'vLLM, newer': {
    error: {
      message:
        "You passed 40961 input tokens and requested 100 output tokens. However, the model's context length is only 40960 tokens, resulting in a maximum input length of 40860 tokens.",
    },
    words: 'prompt is too long: 40961 tokens > 40960 maximum',
  },
  'llama.cpp': {
    error: {
      code: 500,
      message:
        'the request exceeds the available context size. try increasing the context size or enable context shift',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 1407,
      n_ctx: 256,
    },
    status: 500,
    words: 'prompt is too long: 1407 tokens > 256 maximum',
  },
  Ollama: {
    error: { message: 'prompt too long; exceeded max context length by 1234 tokens' },
    words: 'prompt is too long: prompt too long; exceeded max context length by 1234 tokens',
  },
  Gemini: {
    error: {
      code: 400,
      message: 'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
      status: 'INVALID_ARGUMENT',
    },
    words: 'prompt is too long: 1196265 tokens > 1048575 maximum',
  },
  OpenRouter: {
    error: {
      message:
        "This endpoint's maximum context length is 163840 tokens. However, you requested about 172900 tokens (4429 of text input, 4631 of tool input, 163840 in the output). Please reduce the length of either one.",
      code: 400,
    },
    words:
      'input length and `max_tokens` exceed context limit: 9060 + 163840 > 163840, decrease input length or `max_tokens`',
  },
}

describe('an upstream with another model for responses', () => {
  it('is asked again where the refusal was about the model', async () => {
    server.received.length = 0
    server.on('/chat/completions', double.json(200, double.completion('Hello')))
    server.on('/responses', double.json(404, { error: { message: 'The model `x` does not exist.' } }))
    for (const _ of [1, 2]) assert.equal((await post('/v1/responses', QUESTION)).status, 200)
    assert.equal(server.received.length, 4)
  })
})

describe('a request that exceeds the context window', () => {
  for (const [name, { error, status = 400, words }] of Object.entries(REFUSED))
    it(`is reported in the words that each client knows, when ${name} refuses it`, async () => {
      const body = name === 'Gemini' ? [{ error }] : 'object' in error ? error : { error }
      for (const path of ['/chat/completions', '/responses']) server.on(path, double.json(status, body))
      for (const stream of [false, true])
        for (const [path, asked] of Object.entries(PATHS)) {
          const reply = await post(path, { ...asked, stream })
          const said = await errorOf(reply)
          assert.deepEqual([reply.status, said.type], [400, 'invalid_request_error'], path)
          if (path === '/v1/messages') assert.equal(said.message, words)
          else assert.equal(said.code, 'context_length_exceeded', path)
        }
    })

  it('is recognized in a reply of success, whole and streamed', async () => {
    const { error } = REFUSED.DeepSeek as { error: object }
    for (const sent of [
      double.json(200, { error }),
      double.sse([{ error }], 'none'),
      double.sse([[{ error }]], 'none'),
    ])
      for (const [path, asked] of Object.entries(PATHS)) {
        for (const at of ['/chat/completions', '/responses']) server.on(at, sent)
        const reply = await post(path, { ...asked, stream: true })
        const text = await reply.text()
        const said = JSON.parse(text.replace(/^(?:event: error\n)?data: /, '')).error
        // A chat stream begins at once where no other upstream could answer.
        assert.equal(reply.status, path === '/v1/chat/completions' && text.startsWith('event:') ? 200 : 400, path)
        if (path === '/v1/messages') assert.equal(said.message, REFUSED.DeepSeek?.words)
        else assert.equal(said.code, 'context_length_exceeded', path)
      }
  })

  it('is not seen in other refusals', () => {
    const others = [
      [429, { message: 'Request too large: Limit 6000, Requested 7000, please reduce your message size.' }],
      [400, { message: 'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.' }],
      [400, { message: 'string too long. Expected a string with maximum length 40' }],
      [429, { message: 'prompt is too long: 5 tokens > 4 maximum' }],
      [400, 'context_length_exceeded'],
    ] as const
    for (const [status, error] of others) assert.equal(contextOverflow(error, status), null)
  })

  it('keeps the words of Anthropic', () => {
    for (const message of [
      'prompt is too long: 213462 tokens > 200000 maximum',
      'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    ])
      assert.equal(overflowInMessages(contextOverflow({ message }, 400) ?? assert.fail(), message), message)
  })
})

describe('an error in a stream', () => {
  const [begun] = double.chunks(['Half'])
  const forms: Record<string, string> = {
    'the body of vLLM':
      'data: {"object":"error","message":"The engine died.","type":"InternalServerError","code":500}\n\n',
    'a list': 'data: [{"error":{"code":503,"message":"The engine died."}}]\n\n',
    'a bare body': '{"error":{"code":503,\n"message":"The engine died."}}',
    'a choice': `data: ${JSON.stringify({ ...begun, choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { message: 'The engine died.' } }] })}\n\n`,
  }
  for (const [form, event] of Object.entries(forms))
    it(`ends the answer as an error, when it is ${form}`, async () => {
      server.on('/responses', double.fails(404))
      for (const content of ['', 'Half']) {
        server.on('/chat/completions', (response) => {
          response.writeHead(200, { 'content-type': 'text/event-stream' })
          for (const chunk of content === '' ? [] : double.chunks([content]).slice(0, 2))
            response.write(`data: ${JSON.stringify(chunk)}\n\n`)
          response.end(event)
        })
        for (const [path, asked] of Object.entries(PATHS)) {
          const reply = await post(path, { ...asked, stream: true })
          const text = await reply.text()
          assert.match(text, /"error":\{[^}]*The engine died\./, path)
          assert.doesNotMatch(text, /\[DONE\]|message_stop|response\.completed/, path)
        }
      }
    })
})

describe('the end of an answer that is not complete', () => {
  const ends = {
    MAX_TOKENS: ['length', 'max_tokens', 'max_output_tokens'],
    SAFETY: ['content_filter', 'refusal', 'content_filter'],
    RECITATION: ['content_filter', 'refusal', 'content_filter'],
    content_filter: ['content_filter', 'refusal', 'content_filter'],
  } as const
  for (const [finish, [chat, message, response]] of Object.entries(ends))
    it(`ends with each client's own reason for ${finish}`, async () => {
      server.on('/responses', double.fails(404))
      const whole = double.completion('Half')
      const choices = whole.choices.map((choice) => ({ ...choice, finish_reason: finish }))
      for (const stream of [false, true]) {
        const sent = stream
          ? double.sse(double.chunks(['Half']).map((chunk) => ended(chunk, finish)))
          : double.json(200, { ...whole, choices })
        server.on('/chat/completions', sent)
        const said = async (path: keyof typeof PATHS) => (await post(path, { ...PATHS[path], stream })).text()
        assert.match(await said('/v1/chat/completions'), new RegExp(`"finish_reason":"${chat}"`))
        assert.match(await said('/v1/messages'), new RegExp(`"stop_reason":"${message}"`))
        assert.match(await said('/v1/responses'), new RegExp(`"incomplete_details":\\{"reason":"${response}"\\}`))
      }
    })
})

describe('an upstream without a responses endpoint', () => {
  const missing = double.json(404, { error: { message: 'no such route' } })
  it('tells the error of its chat completions, and is not asked there again', async () => {
    const fresh = await startGateway(server.url, {}, {})
    const ask = (body: object) =>
      fetch(`${fresh.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${fresh.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    server.received.length = 0
    server.on('/responses', missing)
    const refused = [
      [429, { 'retry-after': '7' }],
      [401, {}],
      [503, { 'retry-after': '9' }],
    ] as const
    for (const [status, headers] of refused) {
      server.on('/chat/completions', double.fails(status, headers))
      const reply = await ask(QUESTION)
      assert.equal(reply.status, status)
      assert.equal(reply.headers.get('retry-after'), 'retry-after' in headers ? headers['retry-after'] : null)
      await reply.text()
    }
    server.on('/chat/completions', double.json(400, { error: REFUSED.OpenAI?.error }))
    assert.equal((await errorOf(await ask(QUESTION))).code, 'context_length_exceeded')
    assert.equal(server.received.filter(({ path }) => path === '/v1/responses').length, 1)
    await ask({ ...QUESTION, previous_response_id: 'resp_1' })
    assert.equal(server.received.filter(({ path }) => path === '/v1/responses').length, 2, 'it may be stored there')
    await fresh.close()
  })
})

it('passes on what an upstream says of retries', async () => {
  server.on('/chat/completions', double.fails(503, { 'x-should-retry': 'false', 'retry-after-ms': '250' }))
  const { headers } = await post('/v1/chat/completions', ASK)
  assert.deepEqual([headers.get('x-should-retry'), headers.get('retry-after-ms')], ['false', '250'])
})
