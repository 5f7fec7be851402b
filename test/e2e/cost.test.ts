import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { startTakingFacts } from '../../adapters/command/background-sweeps.ts'
import { answerPostCommit } from '../../adapters/command/hook-post-commit.ts'
import type { HookedAgent } from '../../adapters/command/hooked-agents.ts'
import { noteSessions } from '../../adapters/command/note-session.ts'
import { connectionFiles, keepConnection } from '../../src/coding-agents/connection.ts'
import { writePending } from '../../src/coding-sessions/pending-facts.ts'
import type { SessionFacts } from '../../src/coding-sessions/session-facts.ts'
import { takePending } from '../../src/coding-sessions/take-pending.ts'
import { loadConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/config/log.ts'
import { type RunningGateway, startGateway } from '../adapters/gateway.ts'
import { createRepository } from '../review/repository.ts'
import { runHere } from './in-process.ts'
import { newPlace, PATIENCE_MS, type Place, putStore } from './server.ts'

const log = createLog({ level: 'silent', secrets: () => [] })

/** Facts that wait in the data folder of a machine, oldest first. */
function pendingOf({ data }: Place): SessionFacts[] {
  const folder = join(data, 'coding-sessions', 'pending')
  return readdirSync(folder)
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).facts)
}

describe('hooks of a coding agent, and gazeway cost', () => {
  let gateway: RunningGateway
  before(async () => {
    gateway = await startGateway('sandbox', {}, { upstream: { unknown_price: 'flat' } })
  })
  after(() => gateway.close())

  /** A machine with an agent in a repository; `env` is the agent's. */
  async function machine(t: TestContext, env: Record<string, string>) {
    const repository = createRepository(t)
    const place = newPlace()
    const loaded = (more: Record<string, string> = {}) =>
      loadConfig({ env: { ...place.env, ...env, ...more }, flags: { data: place.data } })
    return {
      ...repository,
      place,
      hook: async (sessionId: string, more?: Record<string, string>, agent: HookedAgent = 'claude-code') =>
        noteSessions(
          await loaded(more),
          log,
          { folder: repository.root, sessions: [{ sessionId, agent }] },
          PATIENCE_MS,
        ),
      postCommit: async (more?: Record<string, string>) =>
        answerPostCommit(await loaded(more), log, repository.root, PATIENCE_MS),
      call: async (session: string) => {
        const reply = await fetch(`${gateway.url}/v1/messages`, {
          method: 'POST',
          headers: { 'x-api-key': gateway.key, 'content-type': 'application/json', 'x-gazeway-session': session },
          body: JSON.stringify({ model: 'm', max_tokens: 50, messages: [{ role: 'user', content: 'Pay.' }] }),
        })
        assert.equal(reply.status, 200)
        await gateway.gateway.calls.flush()
      },
      cost: async (...args: string[]) => {
        const { url } = gateway
        const remote = { GAZEWAY_REMOTE: url, GAZEWAY_REMOTE_KEY: gateway.key }
        return runHere(place, ['cost', '--repo', repository.root, ...args], remote)
      },
    }
  }
  const agent = () => ({ ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: gateway.key })

  it('puts the money beside the branch and the commits of three sessions', async (t) => {
    const { git, commit, hook, postCommit, call, cost } = await machine(t, agent())
    git('remote', 'add', 'origin', `https://${'x'.repeat(20)}:secret@github.com/ann/shop.git`)
    const base = commit('First')
    git('checkout', '-q', '-b', 'feature/pay')
    await hook('one')
    await call('one')
    const pay = commit('Pay | `fast`')
    await postCommit({ CLAUDE_CODE_SESSION_ID: 'one' })
    await hook('two')
    await call('two')
    await call('two')
    await hook('three')
    const draft = commit('Refund')
    await hook('two')
    git('commit', '-q', '--amend', '--allow-empty', '-m', 'Refund all')
    const refund = git('rev-parse', 'HEAD')
    await hook('two')
    await call('three')

    const { stdout, code, stderr } = await cost('--branch', 'feature/pay')
    assert.deepEqual([code, stderr], [0, ''])
    assert.match(stdout, /^SESSION +BEGAN +CALLS +INPUT +OUTPUT +COST\none .*\ntwo .*\nthree .*\n\n/)
    assert.match(stdout, /\nfeature\/pay cost \$0\.\d+ in 3 sessions\.\n$/)
    assert.ok(!stdout.includes('secret'))

    const json = JSON.parse((await cost('--by', 'commit', '--json')).stdout)
    assert.equal(json.repository, 'github.com/ann/shop')
    assert.deepEqual(
      json.lines.map(({ key, calls }: { key: string; calls: number }) => [key, calls]),
      [
        [pay, 1],
        [refund, 2],
        [null, 1],
      ],
    )
    const { items } = await gateway.gateway.calls.history({ limit: 50 })
    const micros = items.reduce((sum, call) => sum + Math.round((call.upstream_cost_usd ?? 0) * 1e6), 0)
    assert.equal(Math.round(json.total.cost_usd * 1e6), micros)

    const { stdout: markdown } = await cost('--pr', `${base}..HEAD`)
    const rows = markdown.split('\n')
    assert.equal(rows[0], '| Commit | Subject | Sessions | Calls | Cost |')
    assert.match(
      rows[2] ?? '',
      new RegExp(`^\\| \`${pay.slice(0, 10)}\` \\| Pay \\\\\\| \\\\\`fast\\\\\` \\| 1 \\| 1 \\| \\$0\\.\\d+ \\|$`),
    )
    assert.match(rows[3] ?? '', new RegExp(`^\\| \`${refund.slice(0, 10)}\` \\| Refund all \\| 1 \\| 2 \\| `))
    assert.match(markdown, /\*\*\$0\.\d+\*\* for 2 commits; agents worked on 2\.\n$/)
    assert.ok(!markdown.includes(draft.slice(0, 10)))
  })

  it('finds the sessions of a repository at any host, and of a branch that no terminal should show', async (t) => {
    const { git, commit, hook, call, cost } = await machine(t, agent())
    commit('First')
    git('remote', 'add', 'origin', 'git@gitea:ann/shop.git')
    await hook('short')
    await call('short')
    git('remote', 'set-url', 'origin', 'https://git.example.org:8443/ann/shop.git')
    git('checkout', '-q', '-b', 'evil\u009b31m')
    await hook('port')
    await call('port')
    const found = async () => JSON.parse((await cost('--json')).stdout)
    const sessions = ({ lines }: { lines: { key: string }[] }) => lines.map(({ key }) => key)
    const atPort = await found()
    assert.deepEqual([atPort.repository, sessions(atPort)], ['git.example.org:8443/ann/shop', ['port']])
    git('remote', 'set-url', 'origin', 'git@gitea:ann/shop.git')
    assert.deepEqual(sessions(await found()), ['short'])
  })

  it('says what notes a session where none is known', async (t) => {
    const { commit, call, cost } = await machine(t, {})
    commit('First')
    await call('unnoted')
    for (const args of [[], ['--pr', 'HEAD..HEAD']]) {
      const { code, stderr } = await cost(...args)
      const hint =
        'No session is known to have worked there. Hooks of the agent note it: docs/guides/coding-sessions.md\n'
      assert.deepEqual([code, stderr], [0, hint])
    }
  })

  it('keeps facts in the data folder without a gateway, for the one of this machine', async (t) => {
    const { git, commit, hook, call, place } = await machine(t, {})
    const first = commit('First')
    await hook('alone')
    git('checkout', '-q', '-b', 'feature/pay')
    const pay = commit('Pay')
    await hook('alone')
    await hook('alone')
    const facts = pendingOf(place)
    assert.deepEqual(
      facts.map(({ repository, branch, commits = [] }) => [repository, branch, commits.map(({ sha }) => sha)]),
      [
        [`root:${first}`, 'main', []],
        [`root:${first}`, 'main', []],
        [`root:${first}`, 'feature/pay', [pay]],
        [`root:${first}`, 'feature/pay', []],
      ],
    )
    const { store } = gateway.gateway
    assert.equal(await takePending(store, place.data, new Date()), 0, 'its calls are still to come')
    await call('alone')
    assert.equal(await takePending(store, place.data, new Date()), 4)
    assert.deepEqual(pendingOf(place), [])
    const { lines } = await gateway.gateway.codingSessions.costs({ repository: `root:${first}`, by: 'session' })
    assert.deepEqual(
      lines.map(({ key, calls }) => [key, calls]),
      [['alone', 1]],
    )
    await writePending(gateway.gateway.loaded.dataDir, 'alone', [{ branch: 'feature/tax' }], new Date())
    await startTakingFacts(gateway.gateway).stop()
    const session = await gateway.gateway.codingSessions.read('alone', undefined)
    assert.equal(typeof session === 'object' && session?.branch, 'feature/tax', 'a service takes them as it starts')
  })

  it('sends the folder only where it may, and finds the sessions of a commit that a person makes', async (t) => {
    const { commit, hook, postCommit, place, root } = await machine(t, {})
    commit('First')
    await hook('one')
    await hook('two')
    assert.ok(!JSON.stringify(pendingOf(place)).includes(root), 'the folder stays on the machine')
    const pay = commit('By hand')
    await postCommit()
    const noted = pendingOf(place).filter(({ commits }) => commits?.some(({ sha }) => sha === pay))
    assert.equal(noted.length, 2, 'two agents in one folder')
    await postCommit({ CODEX_THREAD_ID: 'codex' })
    assert.deepEqual(
      pendingOf(place)
        .at(-1)
        ?.commits?.map(({ subject }) => subject),
      ['By hand'],
    )
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ sessions: { send_paths: true } }))
    await hook('one')
    assert.equal(pendingOf(place).at(-1)?.path, root)
  })

  it('keeps a commit by hand for all sessions on its branch before it asks a gateway, which may be slow', async (t) => {
    const { git, commit, hook, postCommit, place } = await machine(t, {})
    const kept: string[][] = []
    const server = createServer((_, response) => {
      const folder = join(place.data, 'coding-sessions', 'pending')
      const all = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
      kept.push(all.flatMap(({ session_id, facts }) => (facts.commits?.length > 0 ? [session_id] : [])).sort())
      response.writeHead(503).end()
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    t.after(() => server.close())
    commit('First')
    await hook('main')
    git('checkout', '-q', '-b', 'feature/pay')
    await hook('pay')
    await hook('refund')
    commit('By hand')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    await postCommit({ ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: 'gzw_key' })
    assert.deepEqual(kept, [
      ['pay', 'refund'],
      ['pay', 'refund'],
    ])
  })

  it('says nothing to a server that is no Gazeway, and keeps the clock of the one that is', async (t) => {
    const asked: { path: string; body: string; key?: string }[] = []
    let isGazeway = false
    const AHEAD_MS = 3_600_000
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        const [path = '', key] = [request.url, request.headers.authorization]
        asked.push({ path, body: Buffer.concat(chunks).toString(), ...(key && { key }) })
        response.setHeader('date', new Date(Date.now() + AHEAD_MS).toUTCString())
        response.statusCode = isGazeway ? 200 : 404
        response.end(JSON.stringify(isGazeway ? { message: 'hello' } : {}))
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    t.after(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { commit, hook, place } = await machine(t, { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'gzw_key' })
    commit('First')
    await hook('one')
    assert.deepEqual(asked, [{ path: '/api/hello', body: '' }])
    isGazeway = true
    await hook('one')
    const { path, body } = asked.at(-1) ?? assert.fail('nothing was sent')
    assert.equal(path, '/api/coding-sessions/one/facts')
    const aheadMs = Date.parse(JSON.parse(body).at) - Date.now()
    assert.ok(aheadMs > AHEAD_MS / 2 && aheadMs < AHEAD_MS * 2)
    assert.deepEqual(pendingOf(place), [])

    // What `gazeway connect` keeps: agents that it connects have no key in their environment.
    const connected = await machine(t, { ANTHROPIC_BASE_URL: `${url}/`, ANTHROPIC_AUTH_TOKEN: '' })
    connected.commit('First')
    const keep = (agent: string, key: string) =>
      keepConnection(
        connectionFiles(connected.place.data, agent, null),
        { agent, project: null, url, key_id: null, files: [] },
        key,
      )
    await keep('claude-code', 'gzw_claude')
    await keep('codex', 'gzw_codex')
    await connected.hook('one')
    assert.equal(asked.at(-1)?.key, 'Bearer gzw_claude')
    await connected.postCommit({ CODEX_THREAD_ID: 'two' })
    assert.deepEqual([asked.at(-1)?.path, asked.at(-1)?.key], ['/api/coding-sessions/two/facts', 'Bearer gzw_codex'])
    await connected.hook('three', {}, 'codex')
    assert.deepEqual([asked.at(-1)?.path, asked.at(-1)?.key], ['/api/coding-sessions/three/facts', 'Bearer gzw_codex'])
    const by = connected.commit('By hand')
    await connected.postCommit()
    const noted = asked.filter(({ body }) => body.includes(by)).map(({ path: to, key: of }) => [to.split('/')[3], of])
    assert.deepEqual(noted.sort(), [
      ['one', 'Bearer gzw_claude'],
      ['three', 'Bearer gzw_codex'],
      ['two', 'Bearer gzw_codex'],
    ])
  })

  it('keeps a post-commit hook that is there, and refuses to change a program', async (t) => {
    const { root } = await machine(t, {})
    const place = { ...newPlace(), project: root }
    const install = () => runHere(place, ['hook', 'install'])
    const file = join(root, '.git', 'hooks', 'post-commit')
    const ran = join(root, 'ran')
    assert.match((await install()).stdout, /^Wrote \.git\/hooks\/post-commit: each commit is noted/)
    assert.match((await install()).stdout, /notes commits already/)
    writeFileSync(file, `#!/usr/bin/env bash\ntouch '${ran}'\n`)
    await install()
    assert.match(readFileSync(file, 'utf8'), /^#!\/usr\/bin\/env bash\n.*\n.* gazeway hook post-commit .*\ntouch /)
    execFileSync('sh', [file], { env: { PATH: '/usr/bin:/bin' } })
    assert.ok(existsSync(ran), 'it still runs, where gazeway is not installed')
    writeFileSync(file, '#!/usr/bin/env python3\n')
    const { code, stderr } = await install()
    assert.deepEqual([code, readFileSync(file, 'utf8')], [1, '#!/usr/bin/env python3\n'])
    assert.match(stderr, /Have it run: gazeway hook post-commit/)
  })

  it('has git note the commits of a rebase once, at its end', async (t) => {
    const { root, git, commitFiles } = createRepository(t)
    commitFiles({ 'a.ts': '' }, 'First')
    git('checkout', '-q', '-b', 'feature/pay')
    commitFiles({ 'b.ts': '' }, 'Pay')
    commitFiles({ 'c.ts': '' }, 'Refund')
    git('checkout', '-q', 'main')
    commitFiles({ 'd.ts': '' }, 'Other')
    git('checkout', '-q', 'feature/pay')
    const place = { ...newPlace(), project: root }
    await runHere(place, ['hook', 'install'])
    const ran = join(place.home, 'ran')
    const program = join(place.home, 'gazeway')
    writeFileSync(program, `#!/bin/sh\necho "$* on $(git symbolic-ref --short HEAD)" >> '${ran}'\n`, { mode: 0o755 })
    const PATH = `${place.home}:${process.env.PATH}`
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']
    const inRepository = { cwd: root, env: { ...process.env, PATH } }
    execFileSync('git', [...identity, 'rebase', '-q', 'main'], inRepository)
    assert.equal(readFileSync(ran, 'utf8'), 'hook post-commit on feature/pay\n')
    execFileSync('git', [...identity, 'commit', '-q', '--amend', '-m', 'Refund all'], inRepository)
    assert.equal(readFileSync(ran, 'utf8'), 'hook post-commit on feature/pay\n'.repeat(2))
  })

  it('refuses a range of more than 1,000 commits, and prints one of as many', async (t) => {
    const { root, git, commitFiles } = createRepository(t)
    commitFiles({ 'a.ts': '' }, 'First')
    const commit = (i: number) =>
      `commit refs/heads/long\ncommitter Ada <ada@example.org> ${1_790_000_000 + i} +0000\ndata 1\nx\n${i === 0 ? 'from refs/heads/main\n' : ''}`
    const input = Array.from({ length: 1001 }, (_, i) => commit(i)).join('')
    execFileSync('git', ['fast-import', '--quiet'], { cwd: root, input })
    git('checkout', '-q', 'long')
    const place = newPlace()
    putStore(place)
    const cost = (range: string) => runHere(place, ['cost', '--repo', root, '--pr', range])
    const refused = await cost('main..HEAD')
    assert.deepEqual([refused.code, refused.stdout], [2, ''])
    assert.match(refused.stderr, /^gazeway: --pr: main\.\.HEAD has more than 1000 commits\. Choose a later BASE/)
    const { code, stdout } = await cost('main~0..HEAD~1')
    assert.equal(code, 0)
    assert.equal(stdout.split('\n').filter((line) => line.startsWith('| `')).length, 1000)
    assert.match(stdout, /for 1000 commits; agents worked on 0\./)
  })

  it('names what it cannot read', async () => {
    const place = newPlace()
    const outside = await runHere(place, ['cost', '--repo', 'missing'])
    assert.equal(outside.code, 2)
    assert.match(
      outside.stderr,
      /^gazeway: missing is in no git repository\. Name one with --repo, such as github\.com/,
    )
    const faults: [string[], RegExp][] = [
      [['--since', 'soon'], /--since: must be a duration such as 7d/],
      [['--by', 'week'], /must be|Allowed choices/],
      [['--pr', 'main'], /--pr: must be BASE\.\.HEAD/],
    ]
    for (const [flags, fault] of faults) {
      const { code, stderr } = await runHere(place, ['cost', '--repo', 'github.com/ann/shop', ...flags])
      assert.notEqual(code, 0)
      assert.match(stderr, fault)
    }
  })
})
