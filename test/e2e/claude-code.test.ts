import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { before, it } from 'node:test'
import { blocksOf } from '../docs/markdown.ts'
import { chunks, sse } from '../doubles/upstream.ts'
import { type GatewayProcess, onDouble, startGatewayProcess } from './gateway-process.ts'
import { newPlace, type Place } from './server.ts'

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

/** The variables that README.md sets for Claude Code, as a shell sets them for this gateway. */
function fromReadme({ url, key }: GatewayProcess): Record<string, string> {
  const [block] = blocksOf(readFileSync('README.md', 'utf8')).filter(({ text }) => text.includes('ANTHROPIC_BASE_URL'))
  const said = block?.text.replaceAll('http://127.0.0.1:8811', url).replaceAll('"$GAZEWAY_KEY"', key) ?? ''
  return Object.fromEntries([...said.matchAll(/([A-Z_]+)=(\S+)/g)].map(([, name, value]) => [name, value]))
}

/** Lets Claude Code work on a prompt by itself, in a folder and a home of its own. */
function askClaude(variables: Record<string, string>, { project: cwd, home }: Place, prompt: string): Promise<Turn> {
  const args = [join(PACKAGE, 'cli-wrapper.cjs'), '-p', prompt, '--output-format', 'json', '--allowedTools', 'Read']
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ...variables,
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

    const turn = await askClaude(fromReadme(gateway()), place, 'Where is parcel 9? Read parcels.txt.')

    assert.deepEqual([turn.is_error, turn.result, turn.permission_denials], [false, 'It is in Riga.', []])
    const last = upstream().received.at(-1)?.body as { messages: { role: string; content: string }[] }
    const results = last.messages.filter(({ role }) => role === 'tool')
    assert.equal(results.length, 1)
    assert.match(results[0]?.content ?? '', /Parcel 9 is in Riga\./)
  })
})

it('runs on the sandbox with the lines of README.md', async () => {
  const gateway = await startGatewayProcess(newPlace(), { args: ['--upstream', 'sandbox'] })
  const variables = fromReadme(gateway)
  assert.deepEqual([variables.ANTHROPIC_BASE_URL, variables.ANTHROPIC_AUTH_TOKEN], [gateway.url, gateway.key])
  const { is_error, result } = await askClaude(variables, newPlace(), 'Say hello.')
  assert.equal(is_error, false)
  assert.match(result, /\[sandbox\]/)
  await gateway.stop()
})
