import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, it } from 'node:test'
import { DELIVERED, deepSeekLike, geminiLike, openRouterLike } from '../doubles/thinking.ts'
import { chunks, json, sse } from '../doubles/upstream.ts'
import { askClaude, fromReadme, toolCall } from './claude.ts'
import { onDouble, startGatewayProcess } from './gateway-process.ts'
import { newPlace } from './server.ts'

const READS = ['--allowedTools', 'Read']

onDouble('Claude Code, with a provider that speaks chat completions', (gateway, upstream) => {
  const place = newPlace()
  const file = join(place.project, 'parcels.txt')
  before(() => writeFileSync(file, 'Parcel 9 is in Riga.'))

  it('reads a file by a tool call, and answers with what is in it', async () => {
    upstream().on('/chat/completions', (response, request) => {
      const { messages, tools } = request.body as { messages: { role: string }[]; tools?: unknown[] }
      const isDone = messages.some(({ role }) => role === 'tool')
      const answer = isDone || !tools?.length ? chunks(['It is in ', 'Riga.']) : toolCall('Read', { file_path: file })
      return sse(answer)(response, request)
    })

    const turn = await askClaude(fromReadme(gateway()), place, 'Where is parcel 9? Read parcels.txt.', READS)

    assert.deepEqual([turn.is_error, turn.result, turn.permission_denials], [false, 'It is in Riga.', []])
    const last = upstream().received.at(-1)?.body as { messages: { role: string; content: string }[] }
    const results = last.messages.filter(({ role }) => role === 'tool')
    assert.equal(results.length, 1)
    assert.match(results[0]?.content ?? '', /Parcel 9 is in Riga\./)
  })
})

onDouble('Claude Code, with a model that wants its reasoning back', (gateway, upstream) => {
  const place = newPlace()
  const file = join(place.project, 'parcels.txt')
  before(() => writeFileSync(file, 'Parcel 9 is in Riga.'))
  const called = { name: 'Read', arguments: JSON.stringify({ file_path: file }) }

  for (const [name, like] of Object.entries({
    DeepSeek: deepSeekLike,
    OpenRouter: openRouterLike,
    'Gemini 3': geminiLike,
  }))
    it(`reads a file, and goes on with what it thought before, as ${name} demands`, async () => {
      const { path, behaviour } = like(called)
      upstream().on(path, behaviour)
      const turn = await askClaude(fromReadme(gateway()), place, 'Where is parcel 9? Read parcels.txt.', READS)
      assert.deepEqual([turn.is_error, turn.result, turn.num_turns], [false, DELIVERED, 2])
    })
})

onDouble('Claude Code, with a window that its answer does not fit', (gateway, upstream) => {
  it('asks for less, and is answered', async () => {
    const limits: number[] = []
    const [prompt, window] = [40_000, 50_000]
    upstream().on('/chat/completions', (response, request) => {
      const { max_tokens: limit } = request.body as { max_tokens: number }
      limits.push(limit)
      if (prompt + limit <= window) return sse(chunks(['It fits.']))(response, request)
      const message = `'max_tokens' or 'max_completion_tokens' is too large: ${limit}. This model's maximum context length is ${window} tokens and your request has ${prompt} input tokens (${limit} > ${window} - ${prompt}).`
      return json(400, { object: 'error', message, type: 'BadRequestError', param: null, code: 400 })(response, request)
    })
    const { is_error, result } = await askClaude(fromReadme(gateway()), newPlace(), 'Say hello.', READS)
    assert.deepEqual([is_error, result], [false, 'It fits.'])
    const [first = 0, second = 0] = limits
    assert.ok(first > window - prompt && second <= window - prompt, String(limits))
    assert.equal(limits.length, 2, 'the refused limit is asked for once')
  })
})

it('runs on the sandbox with the lines of README.md', async () => {
  const gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', 'sandbox'] })
  const variables = fromReadme(gateway)
  assert.deepEqual([variables.ANTHROPIC_BASE_URL, variables.ANTHROPIC_AUTH_TOKEN], [gateway.url, gateway.key])
  const { is_error, result } = await askClaude(variables, newPlace(), 'Say hello.', READS)
  assert.equal(is_error, false)
  assert.match(result, /\[sandbox\]/)
  await gateway.stop()
})
