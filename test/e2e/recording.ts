import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TerminalLine } from '../../scripts/pictures/terminal.ts'
import { type Behaviour, chunks, sse, startUpstream } from '../doubles/upstream.ts'
import { createPerson, lineOf } from '../review/people.ts'
import { CLAUDE, toolCall, WITH_SERVERS } from './claude.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { CLI, newPlace, type Place } from './server.ts'

const MODEL = 'llm-4.20-0309-reasoning'
const STORED = { key: 'deploy/staging', value: 'Staging is deployed on Thursdays, from the branch release.' }
const GEMINI = resolve('node_modules/@google/gemini-cli/bundle/gemini.js')
const PATIENCE_MS = 120_000

/**
 * Records a terminal in which real assistants and the built command work: a memory that Claude Code stores and Gemini CLI
 * finds, what the branch cost, and a push that is held. A scripted model answers.
 */
export async function recordTerminal(): Promise<TerminalLine[]> {
  const place = newPlace({ withoutStore: true })
  mkdirSync(place.data, { mode: 0o700 })
  writeFileSync(join(place.data, 'config.json'), '{ "upstream": { "unknown_price": "flat" } }')
  const upstream = await startUpstream()
  upstream.on('/chat/completions', model)
  const gateway = await startGatewayProcess(place, { args: ['--upstream', upstream.url] })
  const env = { ...environmentOf(place, gateway), ...identity }
  const lines: TerminalLine[] = []
  const say = (text: string) => lines.push({ kind: 'comment', text })
  const type = async (command: string) => {
    lines.push({ kind: 'command', text: command })
    const child = spawn('sh', ['-c', command], { cwd: place.project, env, timeout: PATIENCE_MS })
    child.stdin.end()
    const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
    const said = `${out}${command.startsWith('git') ? errors : ''}`.trimEnd().split('\n')
    for (const line of said) if (line !== '') lines.push({ kind: 'output', text: line })
    lines.push({ kind: 'output', text: '' })
  }
  try {
    prepareRepository(place, env)
    say('# One assistant stores what it has learned …')
    await type('claude -p "Remember: staging is deployed on Thursdays, from the branch release."')
    say('# … and another one finds it.')
    await type('gemini -p "When may I deploy to staging?"')
    say('# What did this branch cost?')
    writeFileSync(join(place.project, 'pay.ts'), 'export const pay = () => send(1)\n')
    git(place.project, env, 'add', 'pay.ts')
    git(place.project, env, 'commit', '-qm', 'Pay')
    await type('gazeway cost --branch feature/pay --by model')
    say('# Nobody has read the change: its push is held.')
    git(place.project, env, 'switch', '-q', 'main')
    git(place.project, env, 'merge', '-q', '--ff-only', 'feature/pay')
    await type('git push')
  } finally {
    await gateway.stop()
    await upstream.close()
  }
  return lines.slice(0, -1)
}

const identity = {
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.org',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.org',
  GIT_CONFIG_GLOBAL: '/dev/null',
}

/** Has both assistants use the gateway and the tool server, by the names that people type. */
function environmentOf({ home, data, project }: Place, { url, key }: { url: string; key: string }) {
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const command = (name: string, words: readonly string[]) =>
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(' ')} "$@"\n`, {
      mode: 0o755,
    })
  command('gazeway', [process.execPath, CLI])
  const allowed = [
    '--plugin-dir',
    resolve('plugin'),
    '--allowedTools',
    'mcp__plugin_gazeway_gazeway__gateway_memory_store',
  ]
  command('claude', [...CLAUDE, ...allowed])
  command('gemini', [process.execPath, GEMINI, '-m', MODEL, '--yolo', '--skip-trust'])
  mkdirSync(join(home, '.gemini'))
  const server = {
    command: join(bin, 'gazeway'),
    args: ['--upstream', 'sandbox'],
    cwd: project,
    env: { GAZEWAY_HOME: data },
  }
  writeFileSync(
    join(home, '.gemini/settings.json'),
    JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } }, mcpServers: { gazeway: server } }),
  )
  return {
    PATH: [bin, process.env.PATH].join(delimiter),
    HOME: home,
    GAZEWAY_HOME: data,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: MODEL,
    ANTHROPIC_SMALL_FAST_MODEL: MODEL,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    ...WITH_SERVERS,
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: key,
    GEMINI_CLI_NO_RELAUNCH: 'true',
  }
}

/** A branch of a shop whose changes have to be read before they land. */
function prepareRepository({ project }: Place, env: NodeJS.ProcessEnv): void {
  const ann = createPerson('ann@example.org')
  writeFileSync(join(project, 'allowed_signers'), lineOf(ann))
  const policy = { version: 1, allowed_signers: 'allowed_signers', level: 'seen' }
  writeFileSync(join(project, 'review.json'), JSON.stringify(policy))
  const server = '../shop.git'
  git(project, env, 'init', '-q', '--bare', server)
  git(project, env, 'branch', '-M', 'main')
  git(project, env, 'add', '-A')
  git(project, env, 'commit', '-qm', 'Say who may review')
  git(project, env, 'remote', 'add', 'origin', server)
  git(project, env, 'push', '-qu', 'origin', 'main')
  execFileSync(process.execPath, [CLI, 'review', 'install'], { cwd: project, env, stdio: 'ignore' })
  git(project, env, 'switch', '-qc', 'feature/pay')
}

function git(cwd: string, env: NodeJS.ProcessEnv, ...args: string[]): void {
  execFileSync('git', args, { cwd, env, stdio: 'ignore' })
}

/** A model that stores what it is asked to remember, looks for what it is asked, and says what the tools answered. */
const model: Behaviour = (response, request) => {
  const { messages, tools = [] } = request.body as {
    messages: { role: string; content: unknown }[]
    tools?: { function: { name: string } }[]
  }
  const named = (end: string) => tools.map(({ function: { name } }) => name).find((name) => name.endsWith(end))
  const result = messages.findLast(({ role }) => role === 'tool')
  const isAsked = JSON.stringify(messages).includes('When may I deploy')
  const [tool, input] = isAsked
    ? [named('gateway_memory_search'), { query: 'When is staging deployed?' }]
    : [named('gateway_memory_store'), STORED]
  const answer = result === undefined ? 'Done.' : answerOf(JSON.stringify(result.content), isAsked)
  sse(tool !== undefined && result === undefined ? toolCall(tool, input).slice(1) : chunks([answer]))(response, request)
}

function answerOf(result: string, isAsked: boolean): string {
  const { key, value } = STORED
  if (!isAsked) return result.includes(key) ? `Stored as ${key}.` : 'I could not store it.'
  return result.includes(key) && result.includes(value) ? `${value} (memory ${key})` : 'I found nothing.'
}
