import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { blocksOf } from '../docs/markdown.ts'
import { CLAUDE } from './claude.ts'
import { CODEX } from './codex.ts'
import { CLI, type Place } from './server.ts'

const PATIENCE_MS = 120_000

/** Call of a tool. */
export interface Call {
  name: string
  input: object
}

/** Turn of a model: a call, made of the last result, or last words. */
export type Step = ((result: string) => Call) | string

/** A real coding agent that works without a person at it. */
export interface WorkingAgent {
  /** As `gazeway connect` names it. */
  name: 'claude-code' | 'codex'
  isInstalled: boolean
  /** Files in the home folder of a person who uses it already. `connect` changes the first. */
  files: Readonly<Record<string, string>>
  command(prompt: string): readonly string[]
  env: Readonly<Record<string, string>>
  /** Runs a command in a shell. */
  runs(command: string): Step
  /** Kind of the calls of its subagents. */
  subagentKind: string
  /** Has a subagent work on a prompt, and waits for it. */
  delegates(prompt: string): Step[]
}

const claudeHook = (event: string) =>
  `[{ "hooks": [{ "type": "command", "command": "gazeway hook ${event}", "timeout": 30 }] }]`

const claude: WorkingAgent = {
  name: 'claude-code',
  isInstalled: true,
  files: {
    // Without a line at its end, and indented as nobody else would.
    '.claude/settings.json': `{\n   "includeCoAuthoredBy":false,\n   "hooks": {\n     "SessionStart": ${claudeHook('session-start')},\n     "Stop": ${claudeHook('stop')}\n   }\n}`,
  },
  command: (prompt) => [...CLAUDE, '-p', prompt, '--output-format', 'json', '--allowedTools', 'Bash,Agent,Task'],
  env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', ANTHROPIC_API_KEY: 'sk-ant-of-the-shell' },
  runs: (command) => () => ({ name: 'Bash', input: { command, description: 'Work' } }),
  subagentKind: 'subagent',
  delegates: (prompt) => [
    () => ({ name: 'Agent', input: { description: 'Look', prompt, subagent_type: 'general-purpose' } }),
  ],
}

/** The hooks of the documentation. */
function codexHooks(): string {
  const blocks = blocksOf(readFileSync('docs/reference/coding-sessions.md', 'utf8'))
  return blocks.find(({ text }) => text.includes('session-start --agent codex'))?.text ?? ''
}

const codex: WorkingAgent = {
  name: 'codex',
  isInstalled: CODEX !== '',
  files: {
    '.codex/config.toml': '# mine\nmodel = "own" # as always\n\n[history]\npersistence = "none"',
    '.codex/hooks.json': codexHooks(),
  },
  command: (prompt) => [
    CODEX,
    'exec',
    ...['--dangerously-bypass-approvals-and-sandbox', '--dangerously-bypass-hook-trust'],
    prompt,
  ],
  env: {},
  runs: (cmd) => () => ({ name: 'exec_command', input: { cmd } }),
  subagentKind: 'collab_spawn',
  delegates: (message) => [
    () => ({ name: 'multi_agent_v1__spawn_agent', input: { message } }),
    (result) => ({
      name: 'multi_agent_v1__wait_agent',
      input: { targets: [/[0-9a-f]{8}-[0-9a-f-]{27}/.exec(result)?.[0]] },
    }),
  ],
}

export const WORKING_AGENTS: readonly WorkingAgent[] = [claude, codex]

/** Writes the files that a person has before, and the command `gazeway` into a folder of the search path. */
export function settle(agent: WorkingAgent, { home }: Place): void {
  for (const [name, content] of Object.entries(agent.files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), content)
  }
  const program = join(home, 'bin', 'gazeway')
  if (existsSync(program)) return
  mkdirSync(dirname(program))
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`)
  chmodSync(program, 0o755)
  // Codex starts login shells.
  writeFileSync(join(home, '.profile'), 'PATH="$HOME/bin:$PATH"\n')
}

/** Files of an agent that differ from those before it was connected, with their content now. */
export const changedFiles = ({ files }: WorkingAgent, { home }: Place): Record<string, string> =>
  Object.fromEntries(
    Object.entries(files).flatMap(([name, before]) => {
      const now = readFileSync(join(home, name), 'utf8')
      return now === before ? [] : [[name, now]]
    }),
  )

/** Has an agent work on a prompt. @returns all that it says once it has ended */
export async function work(agent: WorkingAgent, place: Place, prompt: string): Promise<string> {
  const [program = '', ...words] = agent.command(prompt)
  const path = [join(place.home, 'bin'), place.env.PATH].join(delimiter)
  const child = spawn(program, words, {
    cwd: place.project,
    env: { ...place.env, PATH: path, ...agent.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
  })
  return (await Promise.all([text(child.stdout), text(child.stderr)])).join('\n')
}
