import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { CONFIG_KEYS } from '../../src/config/config-keys.ts'
import { CODES } from '../../src/errors.ts'
import { tools } from '../../tools/index.ts'
import { finish, newPlace, run } from '../e2e/server.ts'
import { asBuilt, type Entry, start } from './entry.ts'
import { blocksOf, codeIn, tableUnder } from './markdown.ts'
import { commandsOf } from './walkthrough.ts'

const readme = readFileSync('README.md', 'utf8')
const assistants = readFileSync('docs/reference/assistants.md', 'utf8')
const { scripts, ...manifest } = JSON.parse(readFileSync('package.json', 'utf8'))
const names = tools.map(({ name }) => name)

describe('a command in README.md and docs/reference/assistants.md', () => {
  const lines = [readme, assistants]
    .flatMap(commandsOf)
    .flatMap(({ text }) => text.trim().split('\n'))
    .flatMap((line) => line.split(' && '))

  for (const line of new Set(lines)) it(`${line} does what it says`, () => check(line))

  it('comes first: how to try it, and how to have it', () =>
    assert.deepEqual(lines.slice(0, 4), ['npm ci', 'npm run demo', 'npm install --global .', 'gazeway setup']))
})

async function check(line: string): Promise<void> {
  const script = /^npm (?:run )?(\S+)(?: -- --\w+)?$/.exec(line)?.[1]
  const added = /^(?:claude|codex) mcp add gazeway --env (\w+)=(\S+) -- (.+)$/.exec(line)
  if (script === 'ci') return lockAgrees()
  if (script) return scriptExists(script)
  if (added) {
    const [command = '', ...args] = (added[3] ?? '').split(' ')
    return startsWithAllTools({ command, args, env: { [added[1] ?? '']: added[2] ?? '' } })
  }
  if (line === 'npm install --global .') return installsTheCommand()
  if (line === 'gazeway setup') return writesAnEntry()
  if (line.startsWith('gazeway ')) return succeeds(line)
  assert.fail('nothing checks this line')
}

/** Requirements of `npm ci` for a lock file: it matches package.json and has the builds for every platform. */
function lockAgrees(): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const listed = Object.keys(packages)
  for (const { optionalDependencies = {} } of Object.values<{ optionalDependencies?: object }>(packages))
    for (const name of Object.keys(optionalDependencies))
      assert.ok(
        listed.some((path) => path.endsWith(`node_modules/${name}`)),
        `the lock file lacks ${name}`,
      )
  for (const field of ['name', 'version', 'dependencies', 'devDependencies'])
    assert.deepEqual(packages[''][field], manifest[field], field)
}

function scriptExists(name: string): void {
  assert.ok(scripts[name], `package.json has no script ${name}`)
  for (const [, file = ''] of scripts[name].matchAll(/tsx ((?:scripts|test|adapters)\/\S+)/g))
    assert.ok(existsSync(file), `${file} is missing`)
}

/** Installs the built clone below a folder of its own, as npm does globally. */
async function installsTheCommand(): Promise<void> {
  const { home, env, project } = newPlace()
  const words = ['install', '--global', '--prefix', home, '--offline', '--ignore-scripts', '.']
  const installed = await finish(spawn('npm', words, { env }))
  assert.equal(installed.code, 0, installed.stderr)
  const { code, stdout } = await finish(spawn(join(home, 'bin/gazeway'), ['--version'], { cwd: project, env }))
  assert.deepEqual([code, stdout], [0, `${manifest.version}\n`])
}

async function succeeds(line: string): Promise<void> {
  const [command = '', ...words] = line.split(' ')
  const { args } = asBuilt({ command, args: words })
  const { code, stdout, stderr } = await run(newPlace(), args, { GAZEWAY_UPSTREAM: 'sandbox' })
  assert.equal(code, 0, stdout + stderr)
}

/** Finds an assistant by its folder. `--yes` stands for the person who agrees. */
async function writesAnEntry(): Promise<void> {
  const place = newPlace()
  mkdirSync(join(place.home, '.cursor'))
  const { code, stderr } = await run(place, ['setup', '--yes'])
  assert.equal(code, 0, stderr)
  const { mcpServers } = JSON.parse(readFileSync(join(place.home, '.cursor/mcp.json'), 'utf8'))
  assert.ok(mcpServers.gazeway, 'the entry of Cursor')
}

async function startsWithAllTools(entry: Entry): Promise<void> {
  const { client } = await start(entry)
  const listed = await client.listTools()
  assert.deepEqual(
    listed.tools.map(({ name }) => name),
    names,
  )
}

describe('an entry to paste from docs/reference/assistants.md', () => {
  const blocks = blocksOf(assistants)
  const json = blocks.flatMap(({ language, text }) => (language === 'json' ? jsonEntry(text) : []))
  const toml = blocks.flatMap(({ language, text }) => (language === 'toml' ? tomlEntry(text) : []))
  const entries = [...json, ...toml]

  it('is in README.md for Claude Code as it is there', () =>
    assert.deepEqual(
      blocksOf(readme).flatMap(({ language, text }) => (language === 'json' ? jsonEntry(text) : [])),
      json.slice(0, 1),
    ))

  it('is there for Claude Code, Cursor, VS Code and Codex', () => assert.equal(entries.length, 4))
  for (const [i, entry] of entries.entries())
    it(`starts the server with its twelve tools (${i + 1})`, () => startsWithAllTools(entry))

  it('puts no key into a file that is committed', () => {
    for (const { env = {} } of json) for (const value of Object.values(env)) assert.match(value, /^\$\{.+\}$/)
  })

  it('starts it with the sandbox when that is added to its arguments', async () => {
    const { call } = await start({ command: 'gazeway', args: ['--upstream', 'sandbox'] })
    const answer = await call('gateway_chat_completion', { messages: [{ role: 'user', content: 'Hello' }] })
    assert.equal(answer.structuredContent.upstream, 'sandbox')
  })
})

function jsonEntry(text: string): Entry[] {
  const { mcpServers, servers = mcpServers } = JSON.parse(text)
  return servers === undefined ? [] : [servers.gazeway]
}

/** The few forms of TOML that an entry needs, each one line. */
function tomlEntry(text: string): Entry[] {
  assert.ok(text.startsWith('[mcp_servers.gazeway]\n'))
  const value = (key: string) =>
    JSON.parse((new RegExp(`^${key} = (.+)$`, 'm').exec(text)?.[1] ?? '').replaceAll(' = ', ': '))
  return [{ command: value('command'), env: value('env') }]
}

describe('the documentation', () => {
  it('lists the tools as they are, in their order', () => {
    const page = readFileSync('docs/reference/tools.md', 'utf8')
    assert.deepEqual(
      tableUnder(page, 'What each is for').map(([tool = '']) => codeIn(tool)[0]),
      names,
    )
  })

  it('is for flags that the command has', async () => {
    const { stdout: help } = await run(newPlace(), ['--help'])
    for (const { flag } of CONFIG_KEYS) assert.ok(flag === null || help.includes(`${flag} `), `--help: ${flag}`)
  })

  it('explains errors that exist', () => {
    const page = readFileSync('docs/reference/troubleshooting.md', 'utf8')
    const named = tableUnder(`## Seen\n${page}`, 'Seen').flatMap(([seen = '']) => codeIn(seen))
    const codes = named.filter((word) => /^[a-z]+_[a-z_]+$/.test(word) && !word.startsWith('gateway_'))
    assert.ok(codes.length > 1, String(codes))
    for (const code of codes) assert.ok(code in CODES, code)
  })

  it('opens with a README.md that is read in a few minutes', () =>
    assert.ok(readme.split('\n').length <= 200, 'README.md has more than 200 lines'))
})
