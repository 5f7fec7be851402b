import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { before, describe, it } from 'node:test'
import { readChange } from '../../src/review/change.ts'
import { openCheckout } from '../../src/review/checkout.ts'
import { until } from '../doubles/until.ts'
import { createPerson, lineOf, receiptOf } from '../review/people.ts'
import { createRepository } from '../review/repository.ts'
import { finish, newPlace, watch } from './server.ts'

describe('the package', () => {
  const place = newPlace({ withoutStore: true })
  const empty = join(place.home, 'empty')
  // The registry's answers may come from where `npm ci` has put them; nothing else of the person's set-up is used.
  const cache = execFileSync('npm', ['config', 'get', 'cache'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const env = { ...place.env, npm_config_cache: cache.trim(), npm_config_update_notifier: 'false' }
  let tarball: string
  let files: { path: string; mode: number }[]
  let size: number

  before(async () => {
    mkdirSync(empty)
    // What is packed is what the other tests ran; a new build would pull it away from under them.
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', place.home]
    const { code, stdout, stderr } = await finish(spawn('npm', args, { env }))
    assert.equal(code, 0, stderr)
    const [packed] = JSON.parse(stdout)
    files = packed.files
    size = packed.size
    tarball = join(place.home, packed.filename)
  })

  it('holds the built command and what its users read, and nothing else', () => {
    const read =
      /^(package\.json|README\.md|LICENSE|THIRD-PARTY-LICENSES|CHANGELOG\.md|mcp\.example\.json|server\.json)$/
    const built =
      /^dist\/(cli\.js|(?:cl100k_base|code|docs)\.json\.br|chunks\/[\w.-]+\.js|threads\/[\w.-]+\.cjs|console\/[\w./-]+|[\w./-]+\.LEGAL\.txt)$/
    const others = files.map(({ path }) => path).filter((path) => !read.test(path) && !built.test(path))
    assert.deepEqual(others, [])
    for (const path of ['dist/cli.js', 'README.md', 'LICENSE', 'THIRD-PARTY-LICENSES'])
      assert.ok(
        files.some((file) => file.path === path),
        `${path} is in it`,
      )
  })

  it('takes 3.6 megabytes at most, for npx downloads it', () => {
    // A third of it is the code that a running tool server keeps through an update, compressed.
    assert.ok(size <= 3_600_000, `${size} bytes`)
  })

  it('names no place on the machine that built it', () => {
    execFileSync('tar', ['xzf', tarball, '-C', place.temporary])
    const folder = join(place.temporary, 'package')
    const own = [resolve('.'), userInfo().homedir].filter((path) => path.length > 5)
    for (const name of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue
      const text = readFileSync(join(name.parentPath, name.name), 'utf8')
      for (const path of own) assert.ok(!text.includes(path), `${name.name} holds ${path}`)
    }
  })

  it('starts with npx in an empty folder', async () => {
    const args = ['exec', '--yes', '--prefer-offline', '--no-audit', '--no-fund', '--', `file:${tarball}`]
    const server = watch(spawn('npm', [...args, '--upstream', 'sandbox'], { cwd: empty, env }), 120_000)
    const { serverInfo } = await server.initialize()
    assert.deepEqual(
      [serverInfo.name, serverInfo.version],
      ['gazeway', JSON.parse(readFileSync('package.json', 'utf8')).version],
    )
    server.callTool(1, 'gateway_memory_store', { key: 'from/npx', value: 1 })
    assert.equal((await server.answer(1)).result.structuredContent.created, true)
    server.child.stdin.end()
    assert.equal((await server.exit).code, 0)
    server.assertProtocolOnly()
    assert.deepEqual(readdirSync(empty), [])
  })

  it('judges what landed in a clone, as the job of the guide does, with nothing but the package', async (t) => {
    const tools = join(place.home, 'tools')
    const quiet = ['--prefer-offline', '--no-audit', '--no-fund']
    const installed = await finish(
      spawn('npm', ['install', '--prefix', tools, ...quiet, `file:${tarball}`], { cwd: empty, env }),
    )
    assert.equal(installed.code, 0, installed.stderr)
    const own = newPlace({ withoutStore: true })
    const [, yaml = ''] = /```yaml\n([\s\S]*?)```/.exec(readFileSync('docs/guides/review.md', 'utf8')) ?? []
    const steps = [...yaml.matchAll(/^- run: (.*)$/gm)].map(([, step = '']) => step)
    assert.equal(steps.length, 2)
    const ann = createPerson('ann@example.org')
    const repository = createRepository(t)
    const { git } = repository
    const depth = Number(/fetch-depth: (\d+)/.exec(yaml)?.[1])
    // The action fetches everything at 0.
    const shallow = depth === 0 ? '' : `--depth ${depth}`
    const checkout = `git clone -q ${shallow} file://${repository.root} checkout`
    const path = `${join(tools, 'node_modules/.bin')}:${own.env.PATH}`

    /** Runs the job on the last commit of main, which gets the receipt as its note. */
    async function job(receipt: string) {
      git('notes', '--ref', 'reviews', 'add', '-f', '-m', receipt, 'main')
      rmSync(join(own.temporary, 'checkout'), { recursive: true, force: true })
      const script = [checkout, 'cd checkout', ...steps].join('\n')
      const { code, stdout, stderr } = await finish(
        spawn('bash', ['-ec', script], { cwd: own.temporary, env: { ...own.env, PATH: path } }),
      )
      return { code, said: stdout + stderr }
    }

    const base = repository.commitFiles({
      'review.json': JSON.stringify({ version: 1, allowed_signers: 'allowed_signers', level: 'seen' }),
      allowed_signers: lineOf(ann),
      'pay.ts': 'check()\nsend()\n',
    })
    git('checkout', '-q', '-b', 'topic')
    repository.commitFiles({ 'pay.ts': 'check()\nsend(1)\n' })
    const now = new Date().toISOString()
    const change = await readChange(await openCheckout(repository.root), base, 'topic')
    const times = { started_at: now, decided_at: now, active_ms: 1000 }
    const { mediaType, envelope } = await receiptOf(change, ann, { review: { times } })
    const receipt = JSON.stringify({ mediaType, envelope })
    const passed = { code: 0, said: 'Passed: 1 hunk, read by ann@example.org.\n' }

    git('checkout', '-q', 'main')
    git('merge', '-q', '--squash', 'topic')
    repository.commit('Squash')
    assert.deepEqual(await job(receipt), passed, 'squash')
    git('reset', '-q', '--hard', base)
    const other = repository.commitFiles({ 'other.ts': 'landed before\n' })
    git('merge', '-q', '--no-ff', '-m', 'Queue', 'topic')
    assert.deepEqual(await job(receipt), passed, 'merge queue')
    git('reset', '-q', '--hard', other)
    git('cherry-pick', 'topic')
    assert.deepEqual(await job(receipt), passed, 'rebase')
    repository.write('pay.ts', 'check()\nsend(1000000)\n')
    git('commit', '-qa', '--amend', '--no-edit')
    assert.deepEqual(await job(receipt), {
      code: 1,
      said: 'pay.ts:2: in no receipt that counts\nFailed: 1 unread of 1 hunk.\n',
    })
    assert.ok(!existsSync(own.data), 'it needs no store')
  })

  it('serves on where an upgrade takes its files away', async () => {
    const own = newPlace({ withoutStore: true })
    execFileSync('tar', ['xzf', tarball, '-C', own.home])
    const folder = join(own.home, 'package')
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    const args = [join(folder, 'dist/cli.js'), '--log-level', 'debug']
    const server = watch(spawn(process.execPath, args, { cwd: own.project, env: own.env }))
    await server.initialize()
    server.send({ id: 'tools', method: 'tools/list' })
    await until(() => /All code is kept/.test(server.stderr()), { what: server.stderr, seconds: 30 })
    server.callTool(1, 'gateway_memory_store', { key: 'kept', value: 1 })
    assert.equal((await server.answer(1)).result.structuredContent.created, true)
    rmSync(folder, { recursive: true })
    server.callTool(2, 'gateway_memory_recall', { key: 'kept' })
    assert.equal((await server.answer(2)).result.structuredContent.memory.value, 1)
    // Nothing had used its code before.
    server.callTool(3, 'gateway_get_context', { query: 'kept', root: own.project })
    const { result } = await server.answer(3)
    assert.ok(!result.isError, JSON.stringify(result))
    server.child.stdin.end()
    assert.equal((await server.exit).code, 0)
    server.assertProtocolOnly()
  })

  it('is clean in the eyes of publint', async () => {
    const { code, stdout, stderr } = await finish(spawn(resolve('node_modules/.bin/publint'), ['run', tarball]))
    assert.equal(code, 0, stdout + stderr)
    assert.match(stdout, /All good/)
  })
})
