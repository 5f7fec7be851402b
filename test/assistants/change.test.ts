import assert from 'node:assert/strict'
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import type { Assistant, Machine, Scope } from '../../src/assistants/assistant.ts'
import { ASSISTANTS } from '../../src/assistants/assistants.ts'
import {
  type Change,
  isInstalled,
  removeChange,
  setupChange,
  targetsOf,
  type Wanted,
} from '../../src/assistants/change.ts'
import { claudeCode } from '../../src/assistants/claude-code.ts'
import { codex } from '../../src/assistants/codex.ts'
import { cursor } from '../../src/assistants/cursor.ts'
import { opencode } from '../../src/assistants/opencode.ts'
import { vscode } from '../../src/assistants/vscode.ts'
import { jsoncText } from './jsonc-text.ts'
import { tomlText } from './toml-text.ts'

const WANTED: Wanted = {
  launch: { command: 'npx', args: ['-y', 'gazeway'] },
  variables: ['XAI_API_KEY'],
}

let folder: string
let machine: Machine

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'gazeway-assistants-')))
  const [home, project] = [join(folder, 'home'), join(folder, 'project')]
  for (const made of [home, project]) mkdirSync(made)
  machine = { platform: 'linux', home, env: {}, project }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function targetOf(assistant: Assistant, scope: Scope) {
  const [target] = targetsOf(assistant, scope, machine)
  assert.ok(target, `${assistant.name} has a file for a ${scope}`)
  return target
}

const pathOf = (assistant: Assistant, scope: Scope = 'user') => targetOf(assistant, scope).path

function write(assistant: Assistant, content: string | Buffer, scope: Scope = 'user'): string {
  const path = pathOf(assistant, scope)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

const setup = (assistant: Assistant, scope: Scope = 'user', wanted = WANTED) =>
  setupChange(targetOf(assistant, scope), wanted)
const remove = (assistant: Assistant, scope: Scope = 'user') => removeChange(targetOf(assistant, scope))

/** All that is in a folder, with its content. */
function contentOf(of: string): Record<string, string> {
  const names = readdirSync(of, { recursive: true, encoding: 'utf8' }).sort()
  return Object.fromEntries(
    names.map((name) => [name, lstatSync(join(of, name)).isFile() ? readFileSync(join(of, name), 'hex') : '']),
  )
}

describe('setup and remove', () => {
  for (const assistant of ASSISTANTS)
    for (const scope of ['user', 'project'] as const) {
      if (scope === 'project' && assistant.projectFiles === null) continue
      it(`make the file of ${assistant.label} for a ${scope}, and take it away again`, async () => {
        await setup(assistant, scope)?.make()
        const path = pathOf(assistant, scope)
        assert.equal(statSync(path).mode & 0o777, scope === 'user' ? 0o600 : 0o666 & ~process.umask())
        assert.equal(setup(assistant, scope), null)
        await remove(assistant, scope)?.make()
        assert.ok(!existsSync(path), `${path} is still there`)
        assert.equal(remove(assistant, scope), null)
        if (scope === 'project') assert.deepEqual(contentOf(machine.project), {})
      })
    }

  it('leave a file byte for byte as it was, and a backup beside it', async () => {
    const before = Buffer.from('\uFEFF{\r\n\t// mine\r\n\t"mcpServers": { }\r\n}')
    const path = write(cursor, before)
    await setup(cursor)?.make()
    assert.deepEqual(readFileSync(`${path}.before-gazeway`), before)
    const held = readFileSync(path)
    assert.match(String(held), /^\uFEFF\{\r\n\t\/\/ mine\r\n\t"mcpServers": \{\r\n\t\t"gazeway": \{\r\n/)
    await remove(cursor)?.make()
    assert.deepEqual(readFileSync(path), before)
    assert.deepEqual(readFileSync(`${path}.with-gazeway`), held)
    assert.ok(!existsSync(`${path}.before-gazeway`), 'the backup is the file itself')
  })

  it('leave random files of JSON with comments byte for byte as they were', async () => {
    await fc.assert(
      fc.asyncProperty(jsoncText, (text) => comesBack(cursor, text)),
      { numRuns: 100 },
    )
  })

  it('leave random files of TOML byte for byte as they were', async () => {
    await fc.assert(
      fc.asyncProperty(tomlText, (text) => comesBack(codex, text)),
      { numRuns: 100 },
    )
  })

  async function comesBack(assistant: Assistant, text: string): Promise<void> {
    const path = write(assistant, text)
    await setup(assistant)?.make()
    assert.notEqual(readFileSync(path, 'utf8'), text)
    await remove(assistant)?.make()
    assert.equal(readFileSync(path, 'utf8'), text)
  }

  it('keep what others changed in the file between them', async () => {
    const path = write(cursor, '{\n  "mcpServers": {}\n}\n')
    await setup(cursor)?.make()
    const other = readFileSync(path, 'utf8').replace(/\n {4}\}\n {2}\}/, '\n    },\n    "git": {} // new\n  }')
    writeFileSync(path, other)
    await remove(cursor)?.make()
    assert.equal(readFileSync(path, 'utf8'), '{\n  "mcpServers": {\n    "git": {} // new\n  }\n}\n')
    assert.ok(existsSync(`${path}.before-gazeway`), 'what was before is not what is now')
  })

  it('keep what others added to a file that setup made', async () => {
    await setup(cursor)?.make()
    const path = pathOf(cursor)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^\{/, '{\n  "theme": "dark",'))
    await remove(cursor)?.make()
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { theme: 'dark' })
  })

  it('keep the mode of a file', async () => {
    const path = write(cursor, '{}')
    for (const mode of [0o640, 0o600]) {
      rmSync(path)
      writeFileSync(path, '{}', { mode })
      await setup(cursor)?.make()
      assert.deepEqual(
        [path, `${path}.before-gazeway`].map((file) => statSync(file).mode & 0o777),
        [mode, mode],
      )
      await remove(cursor)?.make()
      assert.equal(statSync(path).mode & 0o777, mode)
    }
  })

  for (const [what, more] of [
    ['another argument', { args: ['-y', 'gazeway', '--upstream', 'http://127.0.0.1:9'] }],
    ['another variable', { env: { XAI_API_KEY: '${env:XAI_API_KEY}', NODE_OPTIONS: '--require ./it.js' } }],
    ['a key in it', { env: { XAI_API_KEY: 'xai-literal' } }],
    ['another field', { envFile: '.env' }],
  ] as const)
    it(`replace an entry of Gazeway that has ${what}`, async () => {
      const entry = cursor.entry(WANTED.launch, ['XAI_API_KEY'])
      const before = JSON.stringify({ mcpServers: { gazeway: { ...entry, ...more } } })
      const path = write(cursor, before)
      await setup(cursor)?.make()
      assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')).mcpServers.gazeway, entry)
      assert.equal(readFileSync(`${path}.with-gazeway`, 'utf8'), before)
      assert.equal(setup(cursor), null)
    })

  it('leave a read-only file alone', async () => {
    const path = write(cursor, '{ "mcpServers": {} }')
    const refuses = async (change: Change | null) => {
      const before = readFileSync(path, 'utf8')
      chmodSync(path, 0o444)
      await assert.rejects(async () => change?.make(), /mcp\.json: not written, as it is read-only/)
      assert.deepEqual([readFileSync(path, 'utf8'), statSync(path).mode & 0o777], [before, 0o444])
      chmodSync(path, 0o644)
    }
    await refuses(setup(cursor))
    assert.deepEqual(readdirSync(dirname(path)), ['mcp.json'], 'not even a backup was written')
    await setup(cursor)?.make()
    await refuses(remove(cursor))
  })

  it('use the file of opencode that is there', async () => {
    const path = pathOf(opencode).replace(/json$/, 'jsonc')
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, '{ // mine\n}')
    assert.equal(pathOf(opencode), path)
    await setup(opencode)?.make()
    await remove(opencode)?.make()
    assert.equal(readFileSync(path, 'utf8'), '{ // mine\n}')
  })
})

describe('a file that is refused stays as it was', () => {
  const refusals: [
    name: string,
    assistant: Assistant,
    scope: Scope,
    prepare: (path: string) => void,
    message: RegExp,
  ][] = [
    [
      'one that is not valid',
      cursor,
      'user',
      (path) => writeFileSync(path, '{ "mcpServers": {'),
      /mcp\.json: line 1, column \d+: not valid JSON .*nothing was changed/,
    ],
    [
      'TOML that is not valid',
      codex,
      'user',
      (path) => writeFileSync(path, 'model = \n'),
      /config\.toml: line \d, column \d+: not valid TOML .*nothing was changed/,
    ],
    [
      'one with comments that its owner takes none in',
      claudeCode,
      'user',
      (path) => writeFileSync(path, '{} // mine'),
      /\.claude\.json: line 1, column 4: not valid JSON/,
    ],
    ['a link', cursor, 'user', (path) => symlinkSync('/dev/null', path), /mcp\.json is a link\. .*nothing was changed/],
    ['a link to nothing', cursor, 'user', (path) => symlinkSync('/nowhere', path), /mcp\.json is a link\./],
    ['a hard link', cursor, 'user', hardLink, /mcp\.json is a hard link\./],
    ['a folder', cursor, 'user', (path) => mkdirSync(path), /mcp\.json is no file\./],
    [
      'one that is not UTF-8',
      cursor,
      'user',
      (path) => writeFileSync(path, Buffer.from('{ "a": "\xe9" }', 'latin1')),
      /mcp\.json is not UTF-8\./,
    ],
    [
      'UTF-16',
      cursor,
      'user',
      (path) => writeFileSync(path, Buffer.from('\ufeff{}', 'utf16le')),
      /mcp\.json is not UTF-8\./,
    ],
    [
      'one with two servers of the name',
      cursor,
      'user',
      (path) => writeFileSync(path, '{"mcpServers":{"gazeway":{},"gazeway":{}}}'),
      /"gazeway" occurs 2 times/,
    ],
    [
      'one with another server of the name',
      cursor,
      'user',
      (path) => writeFileSync(path, '{"mcpServers":{"gazeway":{"command":"other"}}}'),
      /another server is named gazeway/,
    ],
    [
      'TOML with another server of the name',
      codex,
      'user',
      (path) => writeFileSync(path, '[mcp_servers.gazeway]\ncommand = "other"\n'),
      /another server is named gazeway/,
    ],
    ["a project's folder that is a link", vscode, 'project', (path) => linkedFolder(path), /\.vscode is a link\./],
  ]
  for (const [name, assistant, scope, prepare, message] of refusals)
    it(name, () => {
      const path = pathOf(assistant, scope)
      mkdirSync(dirname(path), { recursive: true })
      prepare(path)
      const before = contentOf(folder)
      assert.throws(() => setup(assistant, scope), { message })
      assert.deepEqual(contentOf(folder), before)
    })

  function hardLink(path: string): void {
    writeFileSync(`${path}.other`, '{}')
    linkSync(`${path}.other`, path)
  }

  function linkedFolder(path: string): void {
    const elsewhere = join(folder, 'elsewhere')
    mkdirSync(elsewhere)
    rmSync(dirname(path), { recursive: true })
    symlinkSync(elsewhere, dirname(path))
  }

  for (const later of ['{ "theme": "light" }', null])
    it(`that ${later === null ? 'went' : 'changed'} between showing and writing`, async () => {
      const path = write(cursor, '{}')
      const change = setup(cursor)
      if (later === null) rmSync(path)
      else writeFileSync(path, later)
      const before = contentOf(folder)
      await assert.rejects(async () => change?.make(), {
        code: 'conflict',
        message: /was changed by another program meanwhile/,
      })
      assert.deepEqual(contentOf(folder), before)
    })

  it('that came between showing and writing', async () => {
    const change = setup(cursor)
    write(cursor, '{ "theme": "light" }')
    await assert.rejects(async () => change?.make(), { code: 'conflict' })
    assert.equal(readFileSync(pathOf(cursor), 'utf8'), '{ "theme": "light" }')
  })

  it('that became a link between showing and writing', async () => {
    const path = write(cursor, '{}')
    const change = setup(cursor)
    writeFileSync(`${path}.target`, '{}')
    rmSync(path)
    symlinkSync(`${path}.target`, path)
    await assert.rejects(async () => change?.make(), { message: /is a link/ })
    assert.equal(readFileSync(`${path}.target`, 'utf8'), '{}')
  })
})

describe('an assistant that is installed', () => {
  it('has left its traces, or its command is on the search path', () => {
    assert.deepEqual(
      ASSISTANTS.filter((assistant) => isInstalled(assistant, machine)),
      [],
    )
    mkdirSync(join(machine.home, '.cursor'))
    const bin = join(folder, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'codex'), '')
    const found = ASSISTANTS.filter((assistant) =>
      isInstalled(assistant, { ...machine, env: { PATH: `/nowhere:${bin}` } }),
    )
    assert.deepEqual(found, [codex, cursor])
  })
})
