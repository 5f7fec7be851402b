import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { blocksOf, variablesOf } from '../docs/markdown.ts'
import { chunks } from '../doubles/upstream.ts'
import type { GatewayProcess } from './gateway-process.ts'
import type { Place } from './server.ts'

/** The words that start Claude Code. */
export const CLAUDE = [
  process.execPath,
  join(dirname(createRequire(import.meta.url).resolve('@anthropic-ai/claude-code/package.json')), 'cli-wrapper.cjs'),
] as const
/** A whole turn takes a second or two. */
const PATIENCE_MS = 60_000
/**
 * Has Claude Code connect to its MCP servers before it asks the model. By itself it does not wait, and asks without the tools
 * of a server that a busy machine still starts.
 */
export const WITH_SERVERS = {
  MCP_CONNECTION_NONBLOCKING: '0',
  MCP_CONNECT_TIMEOUT_MS: '60000',
  MCP_TIMEOUT: '60000',
}

/** Output of Claude Code at the end of a turn. */
export interface Turn {
  is_error: boolean
  result: string
  num_turns: number
  permission_denials: unknown[]
}

/** The variables that README.md sets for Claude Code, as a shell sets them for this gateway. */
export function fromReadme({ url, key }: GatewayProcess): Record<string, string> {
  const [block] = blocksOf(readFileSync('README.md', 'utf8')).filter(({ text }) => text.includes('ANTHROPIC_BASE_URL'))
  const said =
    block?.text.replaceAll('http://127.0.0.1:8811', url).replaceAll('"$(cat gazeway-data/admin.key)"', key) ?? ''
  return variablesOf(said)
}

/**
 * Lets Claude Code work on a prompt by itself, in a folder and a home of its own.
 *
 * @param variables over its search path and home
 * @param args besides the prompt and the form of its answer
 */
export function askClaude(
  variables: Record<string, string>,
  { project: cwd, home }: Place,
  prompt: string,
  args: readonly string[],
): Promise<Turn> {
  const [node, script] = CLAUDE
  const words = [script, '-p', prompt, '--output-format', 'json', ...args]
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    ...variables,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...WITH_SERVERS,
  }
  const child = spawn(node, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE_MS })
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

/** A streamed chat completion that calls a tool, its arguments in small pieces. */
export function toolCall(name: string, input: object, id = 'call_1'): object[] {
  const [begun] = chunks([], null)
  const call = { id, type: 'function', function: { name, arguments: '' } }
  const piece = (delta: object, finish_reason: string | null = null) => ({
    ...begun,
    choices: [{ index: 0, delta, finish_reason }],
  })
  const parts = JSON.stringify(input).match(/.{1,7}/gs) ?? []
  return [
    piece({ role: 'assistant', content: 'I look.' }),
    piece({ tool_calls: [{ index: 0, ...call }] }),
    ...parts.map((part) => piece({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
    piece({}, 'tool_calls'),
  ]
}
