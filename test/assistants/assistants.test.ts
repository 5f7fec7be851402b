import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Machine } from '../../src/assistants/assistant.ts'
import { ASSISTANTS } from '../../src/assistants/assistants.ts'
import { isOwn, launchOf } from '../../src/assistants/launch.ts'
import { handedOn } from '../../src/assistants/variables.ts'

const LAUNCH = { command: 'gazeway', args: [] }
const linux: Machine = { platform: 'linux', home: '/home/ann', env: {}, project: '/p' }
const mac: Machine = { platform: 'darwin', home: '/Users/ann', env: {}, project: '/p' }
const windows: Machine = {
  platform: 'win32',
  home: 'C:\\Users\\ann',
  env: { APPDATA: 'D:\\Roaming' },
  project: 'C:\\p',
}

/** name → your file on Linux, macOS and Windows, and the one in a project. */
const FILES: Record<string, [string, string, string, string | null]> = {
  'claude-code': ['/home/ann/.claude.json', '/Users/ann/.claude.json', 'C:\\Users\\ann\\.claude.json', '.mcp.json'],
  codex: [
    '/home/ann/.codex/config.toml',
    '/Users/ann/.codex/config.toml',
    'C:\\Users\\ann\\.codex\\config.toml',
    '.codex/config.toml',
  ],
  cursor: [
    '/home/ann/.cursor/mcp.json',
    '/Users/ann/.cursor/mcp.json',
    'C:\\Users\\ann\\.cursor\\mcp.json',
    '.cursor/mcp.json',
  ],
  vscode: [
    '/home/ann/.config/Code/User/mcp.json',
    '/Users/ann/Library/Application Support/Code/User/mcp.json',
    'D:\\Roaming\\Code\\User\\mcp.json',
    '.vscode/mcp.json',
  ],
  'gemini-cli': [
    '/home/ann/.gemini/settings.json',
    '/Users/ann/.gemini/settings.json',
    'C:\\Users\\ann\\.gemini\\settings.json',
    '.gemini/settings.json',
  ],
  opencode: [
    '/home/ann/.config/opencode/opencode.json',
    '/Users/ann/.config/opencode/opencode.json',
    'C:\\Users\\ann\\.config\\opencode\\opencode.json',
    'opencode.json',
  ],
  zed: [
    '/home/ann/.config/zed/settings.json',
    '/Users/ann/.config/zed/settings.json',
    'D:\\Roaming\\Zed\\settings.json',
    '.zed/settings.json',
  ],
  windsurf: [
    '/home/ann/.codeium/windsurf/mcp_config.json',
    '/Users/ann/.codeium/windsurf/mcp_config.json',
    'C:\\Users\\ann\\.codeium\\windsurf\\mcp_config.json',
    null,
  ],
}

describe('the file of an assistant', () => {
  it('is known for all of them', () =>
    assert.deepEqual(
      ASSISTANTS.map(({ name }) => name),
      Object.keys(FILES),
    ))

  for (const assistant of ASSISTANTS)
    it(`is where ${assistant.label} has it on Linux, macOS and Windows`, () => {
      const found = [linux, mac, windows].map((machine) => assistant.userFiles(machine)[0])
      assert.deepEqual([...found, assistant.projectFiles?.[0] ?? null], FILES[assistant.name])
    })

  it('goes where the assistant is configured to look', () => {
    const env = { CLAUDE_CONFIG_DIR: '/c', CODEX_HOME: '/x', GEMINI_CLI_HOME: '/g', XDG_CONFIG_HOME: '/xdg' }
    const files = ASSISTANTS.map((assistant) => assistant.userFiles({ ...linux, env })[0])
    assert.deepEqual(
      files.filter((path) => !path.startsWith('/home/ann')),
      [
        '/c/.claude.json',
        '/x/config.toml',
        '/xdg/Code/User/mcp.json',
        '/g/.gemini/settings.json',
        '/xdg/opencode/opencode.json',
        '/xdg/zed/settings.json',
      ],
    )
  })
})

describe('an entry', () => {
  for (const assistant of ASSISTANTS)
    it(`of ${assistant.label} starts Gazeway, and names the variables that are handed on`, () => {
      const entry = assistant.entry(LAUNCH, ['XAI_API_KEY', 'GAZEWAY_UPSTREAM'])
      assert.ok(isOwn(entry), JSON.stringify(entry))
      const named = JSON.stringify(entry).match(/XAI_API_KEY|GAZEWAY_UPSTREAM/g) ?? []
      // Zed hands on its environment as it is.
      assert.deepEqual([...new Set(named)], assistant.name === 'zed' ? [] : ['XAI_API_KEY', 'GAZEWAY_UPSTREAM'])
    })

  it('is distinguished from that of another server with its name', () => {
    for (const own of [
      { command: 'gazeway' },
      { command: 'npx', args: ['-y', 'gazeway@0.1.0', '--upstream', 'sandbox'] },
      { command: ['npx', '-y', 'gazeway@latest'] },
      { command: 'node', args: ['/home/ann/gazeway/dist/cli.js'] },
      { command: 'C:\\npm\\gazeway' },
    ])
      assert.ok(isOwn(own), JSON.stringify(own))
    for (const other of [
      { command: 'npx', args: ['-y', 'gazeway-plus'] },
      { url: 'https://gazeway' },
      {},
      null,
      'gazeway',
      [],
    ])
      assert.ok(!isOwn(other), JSON.stringify(other))
  })

  it('names the command in a project, and Node and its own copy for a person', () => {
    const { clone, global, borrowed } = copies()
    const machine = { ...linux, project: borrowed.project }
    assert.deepEqual(launchOf(clone, 'project', machine), { command: 'gazeway', args: [] })
    for (const own of [clone, global.cli])
      assert.deepEqual(launchOf(own, 'user', machine), { command: process.execPath, args: [own] })
  })

  it('names the installed copy where the running one belongs to a project or to a cache', () => {
    const { global, borrowed, cached } = copies()
    const machine = { ...linux, project: join(borrowed.project, 'src') }
    for (const command of [borrowed.cli, cached]) {
      const env = { PATH: `${borrowed.bin}:.:${global.bin}` }
      assert.deepEqual(launchOf(command, 'user', { ...machine, env }).args, [global.cli])
      assert.throws(
        () => launchOf(command, 'user', { ...machine, env: { PATH: `${borrowed.bin}:.` } }),
        /cannot be what assistants start: .*npm install --global/,
      )
    }
  })
})

describe('the variables that are handed on', () => {
  it('are the requested ones, once each', () =>
    assert.deepEqual(handedOn(['A', 'B_2', 'A'], { XAI_API_KEY: 'x' }), ['A', 'B_2']))
  it('are otherwise the keys and settings that are set', () =>
    assert.deepEqual(
      handedOn(undefined, { GROQ_API_KEY: 'g', GAZEWAY_UPSTREAM: 'groq', XAI_API_KEY: ' ', HOME: '/h' }),
      ['GROQ_API_KEY', 'GAZEWAY_UPSTREAM'],
    ))
  it('are the key of the provider where none is set', () => {
    assert.deepEqual(handedOn(undefined, {}), ['XAI_API_KEY'])
    assert.deepEqual(handedOn(undefined, { GAZEWAY_UPSTREAM: 'groq' }), ['GROQ_API_KEY', 'GAZEWAY_UPSTREAM'])
    for (const GAZEWAY_UPSTREAM of ['ollama', 'http://127.0.0.1:1/v1'])
      assert.deepEqual(handedOn(undefined, { GAZEWAY_UPSTREAM }), ['GAZEWAY_UPSTREAM'])
  })
  it('are names, and a value is not said again', () => {
    for (const given of ['XAI_API_KEY=xai-secret', '', '1A', 'A B', '$A'])
      assert.throws(
        () => handedOn([given], {}),
        (error: Error & { param: string }) => {
          assert.match(error.message, /^--env: invalid name; must be .*XAI_API_KEY\.$/)
          assert.ok(!error.message.includes('secret'), error.message)
          return error.param === '--env'
        },
      )
  })
})

/** Copies of Gazeway: a clone, one in npm's global folder with its link, one of a project, and one in the cache of npx. */
function copies() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-copies-')))
  after(() => rmSync(folder, { recursive: true, force: true }))
  function copy(path: string): string {
    const cli = join(folder, path, 'dist/cli.js')
    mkdirSync(dirname(cli), { recursive: true })
    writeFileSync(cli, '')
    return cli
  }
  function link(bin: string, cli: string) {
    mkdirSync(join(folder, bin), { recursive: true })
    symlinkSync(cli, join(folder, bin, 'gazeway'))
    return { bin: join(folder, bin), cli }
  }
  mkdirSync(join(folder, 'project/src'), { recursive: true })
  return {
    clone: copy('clone'),
    global: link('prefix/bin', copy('prefix/lib/node_modules/gazeway')),
    borrowed: {
      ...link('project/node_modules/.bin', copy('project/node_modules/gazeway')),
      project: join(folder, 'project'),
    },
    cached: copy('.npm/_npx/0a1b/node_modules/gazeway'),
  }
}
