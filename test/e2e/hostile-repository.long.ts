import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import { processKeys } from '../../src/inference/clouds/aws-process.ts'
import { openStore } from '../../src/store/open-store.ts'
import { scriptArgs } from '../doubles/script.ts'
import { until } from '../doubles/until.ts'
import { chunks, sse } from '../doubles/upstream.ts'
import { askClaude, CLAUDE, fromReadme, toolCall } from './claude.ts'
import { onDouble } from './gateway-process.ts'
import { CLI, connect, finish, newPlace, type Place, run, watch } from './server.ts'
import { envelope, spawnStateless } from './stateless.ts'

/** Names of commands that a repository may hope are looked for in it. */
const COMMANDS = ['gazeway', 'node', 'npx', 'npm', 'git', 'sh']

/** Settings of git that name programs. */
const GIT = ['core.fsmonitor', 'core.pager', 'diff.external', 'diff.trap.textconv', 'filter.trap.clean']

/**
 * A place whose project holds a trap wherever a program could be looked for, and the user's own folder of commands.
 *
 * @param of.git settings of git that are traps: none where Claude Code runs git itself
 */
function hostilePlace(
  of: { git: readonly string[] } = { git: GIT },
): Place & { bin: string; path: string; traps: string; sprung: () => string[] } {
  const place = newPlace()
  const { project, home } = place
  const log = join(home, 'sprung')
  const write = (path: string, content: string) => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), content)
  }
  const shell = (path: string) => {
    write(path, `#!/bin/sh\necho ${path} >> '${log}'\n`)
    chmodSync(join(project, path), 0o755)
  }
  const script = (path: string) =>
    write(path, `require('node:fs').appendFileSync(${JSON.stringify(log)}, ${JSON.stringify(`${path}\n`)})\n`)
  for (const name of COMMANDS) for (const folder of ['node_modules/.bin', '.', 'bin']) shell(join(folder, name))
  for (const folder of ['.', 'node_modules/gazeway', 'plugin']) {
    write(join(folder, 'package.json'), JSON.stringify({ name: 'gazeway', version: '9.9.9', bin: 'dist/cli.js' }))
    script(join(folder, 'dist/cli.js'))
    script(join(folder, 'gazeway.mjs'))
  }
  for (const name of ['pino', '@photostructure/sqlite']) script(`node_modules/${name}/index.js`)
  script('preload.cjs')
  write('.npmrc', 'registry=http://127.0.0.1:9/\nscript-shell=./sh\nnode-options=--require ./preload.cjs\n')
  // What it holds stays held, and who may review is its own matter; it names no program.
  write('review.json', JSON.stringify({ version: 1, allowed_signers: 'signers', hold: ['git push'] }))
  write('signers', '')
  write('.env', 'NODE_OPTIONS=--require ./preload.cjs\n')
  write('node.config.json', JSON.stringify({ nodeOptions: { require: ['./preload.cjs'] } }))
  // Changed, so that git would run its filter.
  write('src/retry.ts', 'export const retries = 4\n')
  for (const key of of.git) {
    write('.gitattributes', '* filter=trap diff=trap\n')
    shell(`.git/${key}`)
    execFileSync('git', ['-C', project, 'config', key, join(project, '.git', key)])
  }

  const bin = join(home, 'bin')
  mkdirSync(bin)
  symlinkSync(CLI, join(bin, 'gazeway'))
  symlinkSync(process.execPath, join(bin, 'node'))
  const sprung = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [])
  return { ...place, bin, path: `${bin}:${process.env.PATH}`, traps: join(project, 'node_modules/.bin'), sprung }
}

/** The plugin as a marketplace installs it: a copy of its folder alone. */
function installedPlugin({ home }: Place): string {
  const folder = join(home, 'plugins/gazeway')
  cpSync('plugin', folder, { recursive: true })
  return folder
}

it('holds traps that work', async () => {
  const place = hostilePlace()
  await finish(spawn('/bin/sh', ['-c', 'gazeway'], { cwd: place.project, env: { PATH: place.traps } }))
  execFileSync('git', ['-C', place.project, 'status', '--short'])
  for (const trap of ['node_modules/.bin/gazeway', '.git/core.fsmonitor', '.git/filter.trap.clean'])
    assert.ok(place.sprung().includes(trap), trap)
})

onDouble('Claude Code in a hostile repository', (gateway, upstream) => {
  /** Has Claude Code ask for the work context, write a file and stop. @returns its last request */
  async function turn(place: ReturnType<typeof hostilePlace>, tool: string, args: string[]): Promise<string> {
    const calls: [name: string, input: object][] = [
      [tool, { root: place.project }],
      ['Write', { file_path: join(place.home, 'notes.txt'), content: 'x' }],
      ['Bash', { command: `echo pushed > '${join(place.home, 'pushed')}' && git push`, description: 'Push' }],
    ]
    let asked = 0
    upstream().on('/chat/completions', (response, request) => {
      const { tools = [] } = request.body as { tools?: unknown[] }
      if (tools.length === 0) return sse(chunks(['Done.']))(response, request)
      // Claude Code asks before its servers are connected.
      const isConnected = JSON.stringify(request.body).includes('gateway_get_context')
      const read: [string, object] = ['Read', { file_path: join(place.project, 'README.md') }]
      const call = isConnected ? calls.shift() : read
      return sse(call ? toolCall(...call, `call_${asked++}`) : chunks(['Done.']))(response, request)
    })
    const variables = {
      ...fromReadme(gateway()),
      PATH: place.path,
      GAZEWAY_HOME: place.data,
      XAI_API_KEY: 'xai-secret',
    }
    const allowed = ['--allowedTools', tool, 'Write', 'Bash', '--add-dir', place.home]
    const { is_error, result } = await askClaude(variables, place, 'Look around.', [...args, ...allowed])
    assert.deepEqual(place.sprung(), [])
    assert.deepEqual([is_error, result], [false, 'Done.'])
    return JSON.stringify(upstream().received.at(-1)?.body)
  }

  it('runs the plugin, its server and its hooks, and nothing of the repository', async () => {
    const place = hostilePlace({ git: [] })
    const { call, client } = await connect(place)
    await call('gateway_memory_store', { key: 'deploy/staging', value: 'uses the eu-west cluster' })
    await client.close()

    const tool = 'mcp__plugin_gazeway_gazeway__gateway_get_context'
    const said = await turn(place, tool, ['--plugin-dir', installedPlugin(place)])

    assert.match(said, /deploy\/staging: uses the eu-west cluster/, 'the hook of the start ran')
    assert.match(said, /Stop hook feedback/, 'the hook of the end ran')
    assert.match(said, /git push is held/, 'the hook before a command ran')
    assert.ok(!existsSync(join(place.home, 'pushed')))
    assert.match(said, /retry\.ts[^\n]{0,80}modified/, 'the tool ran git')
  })

  for (const scope of ['user', 'project'])
    it(`runs what setup wrote for a ${scope}, and nothing of the repository`, async () => {
      const place = hostilePlace({ git: [] })
      const env = { PATH: `${place.traps}:${place.path}`, XAI_API_KEY: 'xai-secret' }
      const { code, stderr } = await run(place, ['setup', 'claude-code', '--scope', scope, '--yes'], env)
      assert.equal(code, 0, stderr)
      const config = scope === 'user' ? [] : ['--mcp-config', '.mcp.json', '--strict-mcp-config']
      const said = await turn(place, 'mcp__gazeway__gateway_get_context', config)
      assert.match(said, /retry\.ts[^\n]{0,80}modified/, 'the tool ran git')
    })
})

describe('gazeway in a hostile repository', () => {
  for (const args of [
    ['doctor', '--upstream', 'sandbox'],
    ['setup', 'cursor', 'codex', '--yes'],
    ['remove', '--yes'],
    ['key', 'create', '--name', 'ann'],
    ['key', 'list'],
    ['memory', 'export'],
    ['prices'],
    ['hook', 'session-start'],
    ['hook', 'post-commit'],
    ['cost'],
  ])
    it(`runs nothing of it for ${args.join(' ')}, with its commands first on the search path`, async () => {
      const place = hostilePlace()
      await (await openStore(`sqlite:${join(place.data, 'gazeway.db')}`)).close()
      const env = { PATH: `${place.traps}:.:${place.path}` }
      const { code, stderr } = await run(place, args, env, JSON.stringify({ cwd: place.project, session_id: 'one' }))
      assert.equal(code, 0, stderr)
      assert.deepEqual(place.sprung(), [])
    })

  it('runs nothing of it where it judges its commits by review receipts', async () => {
    const place = hostilePlace()
    const policy = join(place.home, 'review.json')
    writeFileSync(policy, JSON.stringify({ version: 1, allowed_signers: 'signers' }))
    writeFileSync(join(place.home, 'signers'), '')
    for (const name of ['user.name', 'user.email']) execFileSync('git', ['-C', place.project, 'config', name, 'ada'])
    const commit = ['-c', 'core.fsmonitor=false', '-c', 'filter.trap.clean=cat', 'commit', '-qam', 'Change']
    execFileSync('git', ['-C', place.project, ...commit])
    const env = { PATH: `${place.traps}:.:${place.path}` }
    const args = ['review', 'verify', '/dev/null', '--range', 'HEAD^..HEAD', '--policy', policy]
    const { stdout } = await run(place, args, env)
    assert.match(stdout, /^src\/retry\.ts:1: in no receipt that counts\n/)
    assert.deepEqual(place.sprung(), [])
  })

  it('runs no git of it where npx has put its commands first on the search path', async () => {
    const place = hostilePlace()
    const { call, client } = await connect(place, { env: { PATH: `${place.traps}:.::${place.path}` } })
    const { content } = await call('gateway_get_context', { root: place.project })
    await client.close()
    assert.match(content[0]?.text ?? '', /retry\.ts.*modified/)
    assert.deepEqual(place.sprung(), [])
  })

  it('runs no copy of it from the plugin, which says what to do where none is installed', async () => {
    const place = hostilePlace()
    const { code, stderr } = await finish(
      spawn(process.execPath, [join(installedPlugin(place), 'gazeway.mjs'), '--version'], {
        cwd: place.project,
        env: { ...place.env, PATH: `${place.traps}:.:` },
      }),
    )
    assert.deepEqual([code, place.sprung()], [1, []])
    assert.match(stderr, /^gazeway: not installed\. .*npm install --global \.`\n$/)
  })
})

describe('the packed plugin', () => {
  const place = hostilePlace()
  const packed = join(place.home, 'packed')
  const bare = join(place.home, 'bare')
  before(() => {
    execFileSync(process.execPath, [...scriptArgs('scripts/pack-plugin.ts'), packed], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    mkdirSync(bare)
    symlinkSync(process.execPath, join(bare, 'node'))
  })

  it('runs its own build where nothing is installed but node, and nothing of the repository', async () => {
    const root = join(place.home, 'plugins/gazeway/0.1.0')
    cpSync(packed, root, { recursive: true })
    const env = {
      ...place.env,
      PATH: `${place.traps}:.:${bare}`,
      CLAUDE_PLUGIN_ROOT: root,
      GAZEWAY_UPSTREAM: 'sandbox',
    }
    const read = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'))
    const [file] = read('.mcp.json').mcpServers.gazeway.args
    const args = [file.replace('${CLAUDE_PLUGIN_ROOT}', root)]
    const server = watch(spawn(process.execPath, args, { cwd: place.project, env }))
    assert.equal((await server.initialize()).serverInfo.name, 'gazeway')
    server.send({ id: 'tools', method: 'tools/list' })
    assert.equal((await server.answer('tools')).result.tools.length, 12)
    server.callTool(1, 'gateway_memory_store', { key: 'deploy/staging', value: 'uses the eu-west cluster' })
    assert.equal((await server.answer(1)).result.structuredContent.created, true)
    server.child.stdin.end()
    assert.equal((await server.exit).code, 0)

    // As a client of Agent Plugins starts it: in the plugin's folder, which is no project.
    const { $schema, name } = read('plugin.json')
    const { mcpServers } = read('mcp.json')
    assert.deepEqual([$schema, name], ['https://agent-plugins.org/schemas/1.0.0/plugin.schema.json', 'gazeway'])
    const portable = mcpServers.gazeway.args.map((arg: string) => arg.replace('${PLUGIN_ROOT}', root))
    const other = watch(spawn(process.execPath, portable, { cwd: root, env: { ...env, PLUGIN_ROOT: root } }))
    await other.initialize()
    other.callTool(1, 'gateway_memory_store', { key: 'kept', value: 'by another assistant' })
    assert.equal((await other.answer(1)).result.structuredContent.memory.project, null)
    other.child.stdin.end()
    assert.equal((await other.exit).code, 0)

    const [{ hooks }] = read('hooks/hooks.json').hooks.SessionStart
    // A shell that itself is not looked for on this search path.
    const hook = spawn('/bin/sh', ['-c', hooks[0].command], { cwd: place.project, env: { ...env, PATH: bare } })
    const { code, stdout, stderr } = await finish(hook, JSON.stringify({ cwd: place.project }))
    assert.equal(code, 0, stderr)
    assert.match(stdout, /deploy\/staging: uses the eu-west cluster/)
    assert.deepEqual(place.sprung(), [])
  })

  it('can be installed from the checkout of a repository that holds it', () => {
    const checkout = join(place.home, 'checkout')
    const git = (...args: string[]) => execFileSync('git', ['-C', packed, ...args], { stdio: 'ignore' })
    git('init', '-q')
    git('add', '--force', '.')
    git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-qm', 'The plugin')
    git('clone', '-q', packed, checkout)
    const [node, script] = CLAUDE
    const env = { ...place.env, PATH: place.path }
    const claude = (...args: string[]) => execFileSync(node, [script, 'plugin', ...args], { env, encoding: 'utf8' })
    claude('marketplace', 'add', checkout)
    assert.match(claude('install', 'gazeway@gazeway'), /Successfully installed/)
    const installed = readdirSync(join(place.home, '.claude/plugins/cache'), { recursive: true, encoding: 'utf8' })
    assert.ok(installed.some((path) => path.endsWith('dist/cli.js')))
  })
})

describe('a place that starts a process', () => {
  const sources = ['src', 'tools', 'adapters'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )

  it('runs the command of an AWS profile at home, never in the opened folder', {
    skip: process.platform === 'win32',
  }, async () => {
    const command = `printf '{"Version":1,"AccessKeyId":"%s","SecretAccessKey":"s"}' "$(pwd -P)"`
    const profile = `[default]\ncredential_process = ${command}\n`
    const keys = await processKeys('default', profile, { AWS_CONFIG_FILE: '/nowhere' })
    assert.equal(keys?.AccessKeyId, realpathSync(homedir()))
  })

  it('starts the command of connect from the search path, never from the opened folder', async () => {
    const place = hostilePlace()
    const { code, stderr } = await run(place, ['connect', 'claude-code', '--', 'npm'], { PATH: place.bin })
    assert.equal(code, 127, stderr)
    assert.match(stderr, /npm was not started \(ENOENT\)/)
    assert.deepEqual(place.sprung(), [])
  })

  it('starts the process of a task by absolute paths, never from the opened folder', async () => {
    const place = hostilePlace()
    const PATH = `${place.traps}:.:${place.path}`
    const server = spawnStateless(place, { args: ['--upstream', 'sandbox'], env: { PATH } })
    const meta = envelope({}, { extensions: { 'io.modelcontextprotocol/tasks': {} } })
    const call = { name: 'gateway_llm_query', arguments: { query: 'Hello?' } }
    const { taskId } = (await server.ask('call', 'tools/call', call, meta)).result
    let polls = 0
    const { content } = await until(
      async () => (await server.ask(++polls, 'tasks/get', { taskId }, meta)).result.result,
      { seconds: 30 },
    )
    assert.match(content[0].text, /\[sandbox\]/)
    assert.deepEqual(place.sprung(), [])
  })

  it('is where these are run, and nowhere else: a new one needs a case above', () => {
    const starting = sources.filter(
      (file) => /\.tsx?$/.test(file) && /['"](?:node:)?(?:child_process|cluster)['"]/.test(readFileSync(file, 'utf8')),
    )
    assert.deepEqual(starting.sort(), [
      'adapters/command/connect-run.ts',
      'adapters/stdio/tasks/task-process.ts',
      'src/inference/clouds/aws-process.ts',
      'src/repository/git-command.ts',
    ])
  })

  it('names no package that is looked for in the opened project', () => {
    const files = ['plugin/.mcp.json', 'plugin/hooks/hooks.json', 'plugin/gazeway.mjs', 'mcp.example.json']
    for (const file of files) assert.doesNotMatch(readFileSync(resolve(file), 'utf8'), /\b(?:npx|bunx|dlx)\b/, file)
  })
})
