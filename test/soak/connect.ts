import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { type GatewayProcess, startGatewayProcess } from '../e2e/gateway-process.ts'
import { CLI, newPlace, type Place, run } from '../e2e/server.ts'

/**
 * Real agents that were connected take a turn over the sandbox, and are disconnected again.
 *
 * GAZEWAY_TEST_AGENTS: folder with `node_modules`, into which the agents were installed.
 */
const { GAZEWAY_TEST_AGENTS: folder = '' } = process.env
const PATIENCE_MS = 180_000

/** An agent as a person runs it. */
interface Agent {
  name: string
  command: string
  words: string[]
  env?: Record<string, string>
  /** Its file, and the content before. */
  file: [path: string, content: string]
  /** True when it adds something of its own to the file. */
  editsFile?: true
}

const PROMPT = 'Say hello.'

const AGENTS: Agent[] = [
  {
    name: 'claude-code',
    command: 'claude',
    words: ['-p', PROMPT],
    // A key of the shell must not go to the gateway.
    env: { ANTHROPIC_API_KEY: 'sk-ant-of-the-shell', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
    file: ['.claude/settings.json', '{\n    "includeCoAuthoredBy": false\n}'],
  },
  {
    name: 'codex',
    command: 'codex',
    words: ['exec', '--skip-git-repo-check', PROMPT],
    file: ['.codex/config.toml', '# mine\nmodel = "own" # as always\n\n[history]\npersistence = "none"'],
  },
  {
    name: 'opencode',
    command: 'opencode',
    words: ['run', PROMPT],
    env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
    file: ['.config/opencode/opencode.jsonc', '{\n  // mine\n  "share": "disabled",\n}\n'],
  },
  { name: 'qwen-code', command: 'qwen', words: [PROMPT], file: ['.qwen/settings.json', '{}\n'], editsFile: true },
  {
    name: 'gemini-cli',
    command: 'gemini',
    words: ['--skip-trust', '-p', PROMPT],
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    file: ['.gemini/settings.json', '{\r\n\t// mine\r\n\t"ui": { "hideTips": true }\r\n}\r\n'],
  },
]

const programOf = ({ command }: Agent) => join(folder, 'node_modules/.bin', command)

let gateway: GatewayProcess
const served = newPlace()

before(async () => {
  gateway = await startGatewayProcess(served, { args: ['--upstream', 'sandbox'] })
})
after(() => gateway?.stop())

for (const agent of AGENTS) {
  const skip =
    folder !== '' && existsSync(programOf(agent)) ? false : `${agent.name} is not installed in GAZEWAY_TEST_AGENTS`
  describe(agent.name, { skip }, () => {
    it('takes a turn once it is connected, and has its file as it was afterwards', {
      timeout: PATIENCE_MS,
    }, async () => {
      const place = { ...newPlace(), data: served.data }
      const [path, content] = [join(place.home, agent.file[0]), agent.file[1]]
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
      const connected = await run(place, ['connect', agent.name, '--yes', '--url', gateway.url, '--budget', '1/day'], {
        GAZEWAY_HOME: served.data,
      })
      assert.equal(connected.code, 0, connected.stderr)
      assert.match(await turn(agent, place, [programOf(agent), ...agent.words]), /\[sandbox\]/)
      const undone = await run(place, ['disconnect', agent.name, '--yes'], { GAZEWAY_HOME: served.data })
      assert.equal(undone.code, 0, undone.stderr)
      if (agent.editsFile) assert.doesNotMatch(readFileSync(path, 'utf8'), /gazeway/i)
      else assert.equal(readFileSync(path, 'utf8'), content)
    })

    it('takes a turn by its environment alone', { timeout: PATIENCE_MS }, async () => {
      const place = { ...newPlace(), data: served.data }
      // Gemini CLI has no variable for how it signs in.
      const gemini = join(place.home, '.gemini')
      mkdirSync(gemini)
      writeFileSync(join(gemini, 'settings.json'), '{ "security": { "auth": { "selectedType": "gemini-api-key" } } }')
      const words = ['connect', agent.name, '--url', gateway.url, '--', programOf(agent), ...agent.words]
      const said = await turn(agent, place, [process.execPath, CLI, ...words])
      assert.match(said, /\[sandbox\]/)
    })
  })
}

/** Runs an agent in its place. @returns all that it says */
async function turn({ env = {} }: Agent, place: Place, [program = '', ...words]: string[]): Promise<string> {
  const { HOME, TMPDIR, GAZEWAY_HOME } = { HOME: place.home, TMPDIR: place.temporary, GAZEWAY_HOME: served.data }
  const child = spawn(program, words, {
    cwd: place.project,
    env: { PATH: process.env.PATH, HOME, TMPDIR, GAZEWAY_HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
  })
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return out + errors
}
