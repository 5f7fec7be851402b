import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, watch, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, it } from 'node:test'
import { parse } from 'smol-toml'
import { runHere } from './in-process.ts'
import { CLI, connect, finish, newPlace, type Place, run } from './server.ts'

const CURSOR =
  '{\n  // mine\n  "mcpServers": {\n    "git": { "command": "git", "env": { "GIT_TOKEN": "ghp-never-shown" } }\n  }\n}\n'
const CODEX = 'model = "m" # as always\n'

let place: Place
let cursor: string
let codex: string

beforeEach(() => {
  place = newPlace()
  cursor = write('.cursor/mcp.json', CURSOR)
  codex = write('.codex/config.toml', CODEX)
})

function write(name: string, content: string): string {
  const path = join(place.home, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  return path
}

const read = (path: string) => readFileSync(path, 'utf8')
// Nothing of what is installed on the machine that tests: only traces in the home folder count.
const NOWHERE = { PATH: '/nowhere' }
const gazeway = (args: string[], env = {}) => runHere(place, args, { ...NOWHERE, ...env })
/** Answers its questions. */
const answering = (input: string, args: string[]) => run(place, args, NOWHERE, input)

describe('gazeway setup', () => {
  it('connects what is installed once a person agrees, and remove makes the files what they were', async () => {
    const setUp = await answering('y\n', ['setup'])
    assert.equal(setUp.code, 0, setUp.stderr)
    assert.match(setUp.stdout, /Change these 2 files\? \[y\/N\]/)
    assert.match(setUp.stdout, /Codex: .*config\.toml written; backup: .*config\.toml\.before-gazeway\n/)
    assert.match(
      setUp.stdout,
      /load the server gazeway\. The entry passes XAI_API_KEY, GAZEWAY_HOME to the server: export XAI_API_KEY before/,
    )
    const launch = { command: process.execPath, args: [CLI] }
    const env = { XAI_API_KEY: '${env:XAI_API_KEY}', GAZEWAY_HOME: '${env:GAZEWAY_HOME}' }
    const [, entry = ''] = /("gazeway": \{[\s\S]*\n {4}\})/.exec(read(cursor)) ?? []
    assert.deepEqual(JSON.parse(`{${entry}}`), { gazeway: { type: 'stdio', ...launch, env } })
    assert.deepEqual(structuredClone(parse(read(codex)).mcp_servers), {
      gazeway: { ...launch, env_vars: ['XAI_API_KEY', 'GAZEWAY_HOME'] },
    })
    assert.deepEqual([read(`${cursor}.before-gazeway`), read(`${codex}.before-gazeway`)], [CURSOR, CODEX])

    const again = await gazeway(['setup', '--yes'])
    assert.deepEqual(
      [again.code, again.stdout.match(/already has the entry/g)?.length],
      [0, 2],
      again.stdout + again.stderr,
    )

    const removed = await answering('yes\n', ['remove'])
    assert.equal(removed.code, 0, removed.stderr)
    assert.deepEqual([read(cursor), read(codex)], [CURSOR, CODEX])
    const nothing = await gazeway(['remove', '--yes'])
    assert.deepEqual([nothing.code, nothing.stdout], [0, 'Nothing to remove: no file has the entry.\n'])
  })

  it('shows what changes, without what is secret, and with --print leaves it at that', async () => {
    const { code, stdout, stderr } = await gazeway(['setup', 'cursor', '--print'])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^Cursor\n--- .*mcp\.json\n\+\+\+ .*mcp\.json\n@@ .*@@\n[\s\S]*\n\+ {4}"gazeway": \{\n/)
    assert.match(stdout, /"GIT_TOKEN": "\*\*\*"/)
    assert.match(stdout, /"XAI_API_KEY": "\$\{env:XAI_API_KEY\}"/)
    assert.doesNotMatch(stdout, /never-shown|Change/)
    assert.deepEqual([read(cursor), readdirSync(dirname(cursor))], [CURSOR, ['mcp.json']])
  })

  it('passes on the variables that are set or named, and writes no value', async () => {
    const env = { GROQ_API_KEY: 'gsk-never-written', GAZEWAY_UPSTREAM: 'groq' }
    await gazeway(['setup', 'codex', '--yes'], env)
    assert.match(read(codex), /env_vars = \["GROQ_API_KEY", "GAZEWAY_UPSTREAM", "GAZEWAY_HOME"\]\n$/)
    assert.doesNotMatch(read(codex), /never-written/)
    await gazeway(['setup', 'codex', '--yes', '--env', 'OPENAI_API_KEY', '--env', 'GAZEWAY_STORE'], env)
    assert.match(read(codex), /env_vars = \["OPENAI_API_KEY", "GAZEWAY_STORE"\]\n$/)
    await gazeway(['remove', 'codex', '--yes'])
    assert.equal(read(codex), CODEX)
  })

  it('writes for everyone who works on a project, and remove leaves no trace', async () => {
    const before = readdirSync(place.project)
    const { code, stdout, stderr } = await gazeway(
      ['setup', '--scope', 'project', '--yes', 'cursor', 'vscode', 'claude-code'],
      {
        XAI_API_KEY: 'xai-never-written',
      },
    )
    assert.equal(code, 0, stderr)
    assert.match(stdout, /Claude Code: .*\.mcp\.json written\n/)
    for (const file of ['.cursor/mcp.json', '.vscode/mcp.json', '.mcp.json']) {
      const content = read(join(place.project, file))
      const { mcpServers, servers = mcpServers } = JSON.parse(content)
      assert.deepEqual([servers.gazeway.command, servers.gazeway.args], ['gazeway', []])
      assert.doesNotMatch(content, /never-written/)
    }
    assert.equal((await gazeway(['remove', '--scope', 'project', '--yes'])).code, 0)
    assert.deepEqual(readdirSync(place.project), before)
  })

  it('changes nothing after a no, or without an answer', async () => {
    const no = await answering('n\n', ['setup'])
    assert.deepEqual([no.code, /Nothing was changed\.\n$/.test(no.stdout)], [0, true], no.stdout)
    const silence = await answering('', ['setup'])
    assert.deepEqual(
      [silence.code, silence.stderr],
      [1, 'gazeway: No answer, so nothing was changed; use --yes to write without asking.\n'],
    )
    assert.deepEqual([read(cursor), read(codex)], [CURSOR, CODEX])
  })

  it('says which files it cannot change and why, and changes the others', async () => {
    writeFileSync(codex, 'model = ')
    const zed = join(place.home, '.config/zed')
    mkdirSync(zed, { recursive: true })
    symlinkSync(join(place.home, 'nowhere'), join(zed, 'settings.json'))
    const { code, stderr } = await gazeway(['setup', '--yes'])
    assert.equal(code, 1)
    assert.match(
      stderr,
      /^gazeway: .*config\.toml: line \d, .*not valid TOML.*nothing was changed\.\ngazeway: .*settings\.json is a link\. .*\n$/,
    )
    assert.equal(read(codex), 'model = ')
    assert.match(read(cursor), /"gazeway"/)
  })

  it('writes over nothing that was saved while it asked', async () => {
    const child = spawn(process.execPath, [CLI, 'setup', 'cursor'], {
      cwd: place.project,
      env: { ...place.env, PATH: '/nowhere' },
    })
    await asked(child)
    writeFileSync(cursor, '{ "theme": "light" }')
    const { code, stderr } = await finish(child, 'y\n')
    assert.match(stderr, /mcp\.json was changed by another program meanwhile; nothing was written\. Retry\.\n$/)
    assert.deepEqual([code, read(cursor), readdirSync(dirname(cursor))], [1, '{ "theme": "light" }', ['mcp.json']])
  })

  it('leaves the old file or the new one where it is killed', async () => {
    for (let changes = 1; changes <= 6; changes++) {
      const child = spawn(process.execPath, [CLI, 'setup', 'cursor', '--yes'], {
        cwd: place.project,
        env: { ...place.env, PATH: '/nowhere' },
      })
      let seen = 0
      const watcher = watch(dirname(cursor), () => ++seen === changes && child.kill('SIGKILL'))
      await finish(child)
      watcher.close()
      const content = read(cursor)
      assert.ok(content === CURSOR || /\n {4}"gazeway": \{[\s\S]*\n {2}\}\n\}\n$/.test(content), content)
    }
    await gazeway(['setup', '--yes'])
    await gazeway(['remove', '--yes'])
    assert.equal(read(cursor), CURSOR)
  })

  it('leaves a home as it was that it may not write to', async () => {
    const folder = dirname(place.home)
    const isRoot = process.getuid?.() === 0
    for (const [path, mode] of [
      [folder, 0o755],
      [dirname(cursor), 0o555],
      [place.home, 0o555],
    ] as const)
      chmodSync(path, mode)
    const options = {
      cwd: place.project,
      env: { ...place.env, PATH: '/nowhere' },
      ...(isRoot && { uid: 65534, gid: 65534 }),
    }
    const { code, stderr } = await finish(
      spawn(process.execPath, [CLI, 'setup', 'cursor', 'gemini-cli', '--yes'], options),
    )
    for (const path of [dirname(cursor), place.home]) chmodSync(path, 0o755)
    assert.match(stderr, /mcp\.json: not written, as it is read-only; make it writable first\.\n/)
    assert.match(stderr, /\.gemini.settings\.json: not written \(EACCES\)/)
    assert.deepEqual([code, read(cursor), readdirSync(dirname(cursor))], [1, CURSOR, ['mcp.json']])
    assert.ok(!existsSync(join(place.home, '.gemini')), 'nothing was made')
  })

  it('says that nothing is installed where nothing is', async () => {
    place = newPlace()
    const { code, stderr } = await gazeway(['setup'])
    assert.match(
      stderr,
      /^gazeway: No assistant was found\. Name those that you have: claude-code, codex, .*windsurf\.\n$/,
    )
    assert.deepEqual([code, readdirSync(place.home)], [1, []])
  })

  it('replaces an entry in which anything else was added', async () => {
    await gazeway(['setup', 'cursor', '--yes'])
    const before = read(cursor)
    writeFileSync(cursor, before.replace('"XAI_API_KEY"', '"NODE_OPTIONS": "--require ./it.cjs", "XAI_API_KEY"'))
    const { stdout } = await gazeway(['setup', 'cursor', '--yes'])
    assert.match(stdout, /-\s+"NODE_OPTIONS": [\s\S]*mcp\.json written/)
    assert.equal(read(cursor), before)
  })

  it('replaces no read-only file', async () => {
    chmodSync(cursor, 0o444)
    const { code, stderr } = await gazeway(['setup', 'cursor', '--yes'])
    assert.match(stderr, /mcp\.json: not written, as it is read-only; make it writable first\.\n$/)
    assert.deepEqual([code, read(cursor), readdirSync(dirname(cursor))], [1, CURSOR, ['mcp.json']])
  })

  it('has doctor warn where an assistant starts another copy, and be silent where it starts this one', async () => {
    const doctor = async () => (await gazeway(['doctor', '--upstream', 'sandbox'])).stdout
    writeFileSync(cursor, '{ "mcpServers": { "gazeway": { "command": "npx", "args": ["-y", "gazeway"] } } }')
    assert.match(
      await doctor(),
      /^warn {2}installation +this is .*cli\.js; Cursor starts another copy .*gazeway setup/m,
    )
    await gazeway(['setup', 'cursor', '--yes'])
    assert.doesNotMatch(await doctor(), /installation/)
    const bin = join(place.home, 'bin')
    mkdirSync(join(place.home, 'other/dist'), { recursive: true })
    mkdirSync(bin)
    writeFileSync(join(place.home, 'other/dist/cli.js'), '')
    symlinkSync(join(place.home, 'other/dist/cli.js'), join(bin, 'gazeway'))
    const { stdout } = await gazeway(['doctor', '--upstream', 'sandbox'], { PATH: bin })
    assert.match(stdout, /^warn {2}installation +.* the command gazeway is .*other.dist.cli\.js\./m)
  })

  it('finds the entry in whichever of its files an assistant has it', async () => {
    const jsonc = write('.config/opencode/opencode.jsonc', '{ "mcp": {} }\n')
    await gazeway(['setup', 'opencode', '--yes'])
    // opencode makes the other file itself.
    const json = write('.config/opencode/opencode.json', '{}\n')
    assert.match((await gazeway(['setup', 'opencode', '--yes'])).stdout, /opencode\.jsonc already has the entry/)
    assert.equal((await gazeway(['remove', '--yes'])).code, 0)
    assert.deepEqual([read(jsonc), read(json)], ['{ "mcp": {} }\n', '{}\n'])
  })

  it('works for a person whose folders have spaces and letters beyond ASCII, from the first start on', async () => {
    const home = join(place.home, 'Jörg Müller (Żółć)')
    const data = join(home, 'App Data', 'データ')
    mkdirSync(join(home, '.cursor'), { recursive: true })
    const there: Place = { ...place, home, data, env: { ...place.env, ...NOWHERE, HOME: home, GAZEWAY_HOME: data } }
    const setUp = await run(there, ['setup', '--yes'])
    assert.equal(setUp.code, 0, setUp.stderr)
    const { command, args } = JSON.parse(read(join(home, '.cursor/mcp.json'))).mcpServers.gazeway
    assert.deepEqual([command, args.at(0)], [process.execPath, CLI])
    const added = `${JSON.stringify({ key: 'deploy/staging', value: 'uses the eu-west cluster' })}\n`
    writeFileSync(join(home, 'fünf Fakten.jsonl'), added)
    const stored = await run(there, ['memory', 'import', join(home, 'fünf Fakten.jsonl')])
    assert.equal(stored.code, 0, stored.stderr)
    assert.ok(existsSync(join(data, 'gazeway.db')), 'the store is made where the variable says')
    const { call } = await connect(there)
    const { structuredContent } = await call('gateway_memory_recall', { key: 'deploy/staging' })
    assert.equal(structuredContent.memory?.value, 'uses the eu-west cluster')
  })

  it('takes no home folder for a project', async () => {
    place = { ...place, project: place.home }
    const { code, stderr } = await gazeway(['setup', 'cursor', '--scope', 'project', '--yes'])
    assert.deepEqual([code, /^gazeway: --scope: this is your home folder/.test(stderr)], [2, true], stderr)
    assert.equal(read(cursor), CURSOR)
  })

  const mistakes: [args: string[], line: RegExp][] = [
    [['setup', 'emacs'], /unknown assistant emacs; must be one of claude-code, codex, cursor/],
    [['remove', 'emacs'], /unknown assistant emacs; must be one of claude-code/],
    [['setup', '--scope', 'machine'], /--scope: invalid value; must be user or project\./],
    [['setup', '--env', 'XAI_API_KEY=xai-never-shown'], /--env: .*must be a name alone/],
    [['setup', '--nothing'], /unknown option '--nothing'; must be one of .*--scope, --env, --print, --yes/],
  ]
  for (const [args, line] of mistakes)
    it(`says in one line what is accepted instead of ${args.join(' ')}`, async () => {
      const { code, stdout, stderr } = await gazeway(args)
      assert.match(stderr, /^gazeway: [^\n]+\n$/)
      assert.match(stderr, line)
      assert.doesNotMatch(stderr, /never-shown/)
      assert.deepEqual([code, stdout], [2, ''])
    })
})

/** Resolves once the command has shown what changes, and asks. */
function asked(child: ChildProcessWithoutNullStreams): Promise<void> {
  let shown = ''
  return new Promise((resolve, reject) => {
    child.once('close', () => reject(new Error(`It ended without a question: ${shown}`)))
    child.stdout.on('data', (chunk) => {
      shown += chunk
      if (shown.includes('[y/N]')) resolve()
    })
  })
}
