import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { message } from '../doubles/anthropic.ts'
import { type Behaviour, completion, json, response, startUpstream, type UpstreamDouble } from '../doubles/upstream.ts'
import { type RunningGateway, startGateway } from './gateway.ts'

let upstream: UpstreamDouble
let running: RunningGateway
before(async () => {
  upstream = await startUpstream()
  const claude = { provider: upstream.url, api_keys: ['some-key-of-an-upstream'], protocol: 'anthropic' }
  running = await startGateway(upstream.url, {}, { upstreams: { claude } })
})
after(async () => {
  await running.close()
  await upstream.close()
})

const URL = 'data:image/png;base64,iVBORw0KGgo='
const SOURCE = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
const schema = { type: 'object', properties: {} }

// An agent has read an image by a tool, in the words of each API.
const CHAT = {
  messages: [
    { role: 'user', content: 'Look.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'below' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: URL } }] },
  ],
  tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
}
const MESSAGES = {
  max_tokens: 100,
  messages: [
    { role: 'user', content: 'Look.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'image', source: SOURCE }] }],
    },
  ],
  tools: [{ name: 'look', input_schema: schema }],
}
const RESPONSES = {
  input: [
    { role: 'user', content: 'Look.' },
    { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
    { type: 'function_call_output', call_id: 'a', output: [{ type: 'input_image', image_url: URL }] },
  ],
  tools: [{ type: 'function', name: 'look', parameters: schema }],
}
const DEEPSEEK = 'Failed to deserialize the JSON body: messages[3]: unknown variant `image_url`, expected `text`'

type Path = '/chat/completions' | '/messages' | '/responses'
const CASES: [what: string, path: Path, status: number, refusal: string, asked: object, changed: string][] = [
  ...(
    [
      [400, DEEPSEEK],
      [404, 'No endpoints found that support image input'],
      [400, 'this model does not support image input (ref: 1)'],
      [400, 'Model does not support images. Please use a model that does.'],
      [500, 'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj'],
      [400, 'Invalid content type. image_url is only supported by certain models.'],
      [400, 'llama-3 is not a multimodal model'],
      [400, 'At most 0 image(s) may be provided in one request.'],
    ] as const
  ).map(([status, refusal]): (typeof CASES)[number] => [
    refusal,
    '/chat/completions',
    status,
    refusal,
    CHAT,
    'messages.3.content.0=rewritten',
  ]),
  [
    'a Messages upstream',
    '/messages',
    400,
    'image input is not supported',
    MESSAGES,
    'messages.2.content.0.content.0=rewritten',
  ],
  ['a Responses upstream', '/responses', 400, 'image input is not supported', RESPONSES, 'input.2.output.0=rewritten'],
]

const ANSWERS = {
  '/chat/completions': completion('Hello'),
  '/messages': message('Hello'),
  '/responses': response('Hello'),
}

const refusing =
  (path: Path, status: number, refusal: string): Behaviour =>
  (reply, request) =>
    request.text.includes('iVBORw0KGgo=')
      ? json(status, { error: { message: refusal, type: 'invalid_request_error', param: null, code: null } })(
          reply,
          request,
        )
      : json(200, ANSWERS[path])(reply, request)

const ask = (path: string, model: string, body: object) =>
  fetch(`${running.url}/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${running.key}` },
    body: JSON.stringify({ ...body, model }),
  })

describe('an agent that reads an image over a model that sees none', () => {
  for (const [index, [what, path, status, refusal, asked, changed]] of CASES.entries())
    it(`goes on, and the model reads why: ${what}`, async () => {
      upstream.on(path, refusing(path, status, refusal))
      upstream.received.length = 0
      const model = `${path === '/messages' ? 'claude/' : ''}blind-${index}`
      for (let turn = 0; turn < 2; turn++) {
        const reply = await ask(path, model, asked)
        assert.equal(reply.status, 200, await reply.text())
        assert.equal(reply.headers.get('x-gazeway-changed'), changed)
      }
      assert.equal(upstream.received.length, 3, 'the second turn needs no second request')
      assert.match(upstream.received.at(-1)?.text ?? '', /There is an image here, which this model cannot see\./)
    })

  it('ends in an error where no agent works and the image is what is asked about', async () => {
    upstream.on('/chat/completions', refusing('/chat/completions', 400, DEEPSEEK))
    const { tools: _, ...asked } = CHAT
    const reply = await ask('/chat/completions', 'blind-and-asked', asked)
    assert.equal(reply.status, 400)
    assert.match(await reply.text(), /unknown variant/)
  })

  it('keeps images where the refusal is about the form or place of one', async () => {
    for (const refusal of [
      'Image format webp is not supported',
      'Tool messages do not support image content',
      'This model does not support images in system messages',
      'This API does not support image input with more than 5 images',
    ]) {
      upstream.on('/chat/completions', refusing('/chat/completions', 400, refusal))
      assert.equal((await ask('/chat/completions', 'seeing', CHAT)).status, 400, refusal)
    }
  })
})
