import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { before, it } from 'node:test'
import { chunks, sse } from '../doubles/upstream.ts'
import { type GatewayProcess, onDouble } from './gateway-process.ts'
import { newPlace } from './server.ts'

const PACKAGE = dirname(createRequire(import.meta.url).resolve('@anthropic-ai/claude-code/package.json'))
/** A whole turn takes a second or two. */
const PATIENCE_MS = 60_000

/** What Claude Code prints at the end of a turn. */
interface Turn {
  is_error: boolean
  result: string
  num_turns: number
  permission_denials: unknown[]
}

/** Lets Claude Code work on a prompt by itself, in a folder and a home of its own. */
function askClaude({ url, key }: GatewayProcess, cwd: string, home: string, prompt: string): Promise<Turn> {
  const args = [join(PACKAGE, 'cli-wrapper.cjs'), '-p', prompt, '--output-format', 'json', '--allowedTools', 'Read']
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: 'double-chat',
    ANTHROPIC_SMALL_FAST_MODEL: 'double-chat',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS })
  const said: string[] = []
  child.stdout.on('data', (chunk) => said.push(String(chunk)))
  child.stderr.on('data', (chunk) => said.push(String(chunk)))
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => {
      if (code === 0) resolve(JSON.parse(said.join('')) as Turn)
      else reject(new Error(`Claude Code ended with ${code}: ${said.join('').slice(0, 2000)}`))
    })
  })
}

onDouble('Claude Code, with a provider that speaks chat completions', (gateway, upstream) => {
  const place = newPlace()
  const file = join(place.project, 'parcels.txt')
  before(() => writeFileSync(file, 'Parcel 9 is in Riga.'))

  it('reads a file by a tool call, and answers with what is in it', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'Read', arguments: '' } }
    const [begun] = chunks([], null)
    const piece = (delta: object, finish_reason: string | null = null) => ({
      ...begun,
      choices: [{ index: 0, delta, finish_reason }],
    })
    const reads = [
      piece({ role: 'assistant', content: 'I look.' }),
      piece({ tool_calls: [{ index: 0, ...call }] }),
      ...(JSON.stringify({ file_path: file })
        .match(/.{1,7}/gs)
        ?.map((part) => piece({ tool_calls: [{ index: 0, function: { arguments: part } }] })) ?? []),
      piece({}, 'tool_calls'),
    ]
    upstream().on('/chat/completions', (response, request) => {
      const { messages, tools } = request.body as { messages: { role: string }[]; tools?: unknown[] }
      const isDone = messages.some(({ role }) => role === 'tool')
      return sse(isDone || !tools?.length ? chunks(['It is in ', 'Riga.']) : reads)(response, request)
    })

    const turn = await askClaude(gateway(), place.project, place.home, 'Where is parcel 9? Read parcels.txt.')

    assert.deepEqual([turn.is_error, turn.result, turn.permission_denials], [false, 'It is in Riga.', []])
    const last = upstream().received.at(-1)?.body as { messages: { role: string; content: string }[] }
    const results = last.messages.filter(({ role }) => role === 'tool')
    assert.equal(results.length, 1)
    assert.match(results[0]?.content ?? '', /Parcel 9 is in Riga\./)
  })
})
