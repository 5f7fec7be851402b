import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { SESSION_GROUPS } from '../../src/calls/session-groups.ts'
import { COST_PARTS } from '../../src/coding-sessions/cost-parts.ts'
import { type GatewayProcess, platformOf, startGatewayProcess } from './gateway-process.ts'
import { runHere } from './in-process.ts'
import { connect, newPlace } from './server.ts'
import { BEGUN, type SteeredModel, startSteeredModel } from './steered-model.ts'
import { changedFiles, settle, WORKING_AGENTS, type WorkingAgent, work } from './working-agents.ts'

const REPOSITORY = 'github.com/ann/shop'
const TOKEN = `ghp_${'A1b2'.repeat(9)}`
const MODEL = { input: 0.73, cached_input: 0.071, output: 3.31 }
const CONFIG = {
  wallet: { receipts: 'all' },
  pricing: { models: { 'llm-4.20-0309-reasoning': MODEL, 'llm-3-fast': { ...MODEL, input: 0.19 } } },
}
/** Branches on which each agent works. Each gets a commit of that name. */
const BRANCHES = ['pay', 'refund'] as const

/** Branch on which two work at once. */
const TOGETHER = 'together'

const micros = (usd: unknown): number => Math.round(Number(usd) * 1e6)
const sumOf = (amounts: readonly unknown[]): number => amounts.reduce((sum: number, usd) => sum + micros(usd), 0)

// biome-ignore lint/suspicious/noExplicitAny: what a test expects of a reply, it asserts
type Reply = any

describe('real agents that are connected, on two branches each of one repository', () => {
  const agents = WORKING_AGENTS.filter(({ isInstalled }) => isInstalled)
  const place = newPlace()
  let model: SteeredModel
  let gateway: GatewayProcess
  let platform: string
  /** Output by the words of its task. */
  const said: Record<string, string> = {}

  const git = (...args: string[]) => execFileSync('git', ['-C', place.project, ...args], { encoding: 'utf8' }).trim()
  const gazeway = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await runHere(place, args)
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const ask = async (path: string, init: RequestInit = {}): Promise<Reply> => {
    const reply = await fetch(platform + path, { ...init, headers: { authorization: `Bearer ${gateway.key}` } })
    assert.equal(reply.status, 200, path)
    return reply.json()
  }
  const csv = async (path: string): Promise<Record<string, string>[]> => {
    const headers = { authorization: `Bearer ${gateway.key}`, accept: 'text/csv' }
    const [head = '', ...lines] = (await (await fetch(platform + path, { headers })).text()).trim().split('\r\n')
    return lines.map((line) => Object.fromEntries(line.split(',').map((cell, i) => [head.split(',')[i], cell])))
  }
  const nameOf = (agent: WorkingAgent, branch: string) => `${agent.name.replace('-', '_')}_${branch}`

  before(async () => {
    model = await startSteeredModel()
    mkdirSync(place.data, { mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify(CONFIG))
    gateway = await startGatewayProcess(place, {
      args: ['--platform', '--platform-port', '0', '--upstream', model.url],
    })
    platform = await platformOf(gateway)
    git('checkout', '-q', '-B', 'main')
    git('config', 'user.name', 'Ann')
    git('config', 'user.email', 'ann@example.org')
    git('remote', 'add', 'origin', `https://ann:${TOKEN}@github.com/ann/shop.git`)
    await gazeway('hook', 'install')
    for (const agent of agents) {
      settle(agent, place)
      await gazeway('connect', agent.name, '--yes', '--url', gateway.url, '--budget', '20/week', '--session', '2')
      for (const branch of BRANCHES) await workOn(agent, branch)
      await stopInStream(agent)
    }
    await workTogether()
  })
  after(async () => {
    await gateway?.stop()
    await model?.close()
  })

  /** Has an agent commit on a branch of its own, on the first one after it has had a subagent look. */
  async function workOn(agent: WorkingAgent, branch: (typeof BRANCHES)[number]): Promise<void> {
    const name = nameOf(agent, branch)
    git('checkout', '-q', '-b', name, 'main')
    const looks = branch === 'pay' ? agent.delegates(`task:look_${name}`) : []
    const commits = agent.runs(`echo ${branch} > ${branch}.ts && git add -A && git commit -q -m ${branch}`)
    model.tasks.set(`look_${name}`, [`Nothing speaks against ${name}.`])
    model.tasks.set(name, [...looks, commits, `${name} is done.`])
    said[name] = await work(agent, place, `task:${name}`)
  }

  /** Stops the session of an agent as an admin, in the middle of an answer. */
  async function stopInStream(agent: WorkingAgent): Promise<void> {
    const name = nameOf(agent, 'stopped')
    git('checkout', '-q', '-b', name, 'main')
    model.tasks.set(name, [agent.runs('true'), BEGUN])
    const working = work(agent, place, `task:${name}`)
    const early = working.then((output) => assert.fail(`${agent.name} has ended: ${output}`))
    const { aborted } = await Promise.race([model.hanging(), early])
    // Its settings change while it has them open.
    await gazeway('connect', agent.name, '--yes', '--url', gateway.url, '--model', 'llm-3-fast')
    const { items } = await ask(`/api/coding-sessions?client=${agent.name}&sort=last&limit=1`)
    await ask(`/api/coding-sessions/${items[0].id}/stop`, { method: 'POST' })
    await aborted
    said[name] = await working
  }

  /** Has two agents commit at the same time in one folder. */
  async function workTogether(): Promise<void> {
    git('checkout', '-q', '-b', TOGETHER, 'main')
    const pair = [agents[0], agents.at(-1)] as WorkingAgent[]
    const works = pair.map((agent, i) => {
      const name = `${TOGETHER}_${i}`
      const commit = `git add ${name}.ts && git commit -q -m ${name} -- ${name}.ts`
      // Git lets one of them commit at a time.
      const tries = `echo 1 > ${name}.ts; until ${commit}; do sleep 0.1; done`
      model.tasks.set(name, [agent.runs(tries), `${name} is done.`])
      return work(agent, place, `task:${name}`)
    })
    said[TOGETHER] = (await Promise.all(works)).join('\n')
  }

  it('end each task, whose commits and subagents their sessions name', async () => {
    for (const agent of agents)
      for (const branch of BRANCHES) {
        const name = nameOf(agent, branch)
        assert.match(said[name] ?? '', new RegExp(`${name} is done\\.`))
        const { items } = await ask(`/api/coding-sessions?branch=${name}&repository=${REPOSITORY}`)
        assert.deepEqual(
          items.map(({ client }: Reply) => client.name),
          [agent.name],
        )
        const session = await ask(`/api/coding-sessions/${items[0].id}`)
        const made = git('log', '--format=%H %s', `main..${name}`)
        assert.deepEqual(
          session.commits.map(({ sha, subject }: Reply) => `${sha} ${subject}`),
          [made],
        )
        assert.deepEqual([session.repository, session.branch], [REPOSITORY, name])
        const { lines } = JSON.parse(await gazeway('cost', '--branch', name, '--by', 'commit', '--json'))
        // All but the last words, which come after the commit.
        assert.deepEqual(
          lines.map(({ key, calls }: Reply) => [key, calls]),
          [
            [session.commits[0].sha, session.calls - 1],
            [null, 1],
          ],
        )
        const kinds = session.by_kind.map(({ key }: Reply) => key)
        assert.equal(kinds.includes(agent.subagentKind), branch === 'pay', `${name}: ${kinds}`)
        assert.equal(kinds.length, branch === 'pay' ? 2 : 1, `${name}: ${kinds}`)
      }
  })

  it('share a folder and a branch, where each session has its own commit, and the branch cost both', async () => {
    const { items } = await ask(`/api/coding-sessions?branch=${TOGETHER}`)
    const all = await Promise.all(items.map(({ id }: Reply) => ask(`/api/coding-sessions/${id}`)))
    const firsts = all.map(({ commits }) => commits.map(({ subject }: Reply) => subject))
    for (const name of [`${TOGETHER}_0`, `${TOGETHER}_1`]) {
      assert.match(said[TOGETHER] ?? '', new RegExp(`${name} is done\\.`))
      assert.ok(
        firsts.some((subjects) => subjects.includes(name)),
        `${name}: ${JSON.stringify(firsts)}`,
      )
    }
    const { lines, total } = JSON.parse(await gazeway('cost', '--branch', TOGETHER, '--by', 'commit', '--json'))
    assert.deepEqual([items.length, total.sessions, total.calls], [2, 2, 4])
    assert.equal(sumOf(lines.map(({ cost_usd }: Reply) => cost_usd)), sumOf(all.map(({ cost_usd }) => cost_usd)))
  })

  it('cost by each grouping what their receipts add up to, to the micro-dollar', async () => {
    const usage = await ask('/api/wallet/metered/usage?limit=1000')
    const receipts = sumOf(usage.items.map(({ billing }: Reply) => billing.upstream_cost_usd))
    assert.ok(usage.items.length >= agents.length * 8 && receipts > 0)
    assert.equal(new Set(usage.items.map(({ billing }: Reply) => billing.upstream_cost_usd)).size, usage.items.length)
    const sums: Record<string, number> = {}
    const add = (name: string, lines: readonly Reply[], of: (line: Reply) => unknown) => {
      sums[name] = sumOf(lines.map(of))
    }
    for (const by of COST_PARTS) {
      const { lines, total } = JSON.parse(await gazeway('cost', '--by', by, '--json'))
      add(`gazeway cost by ${by}`, lines, ({ cost_usd }) => cost_usd)
      add(`gazeway cost by ${by}, total`, [total], ({ cost_usd }) => cost_usd)
    }
    const branches = await Promise.all(
      git('branch', '--format=%(refname:short)')
        .split('\n')
        .map(async (branch) => JSON.parse(await gazeway('cost', '--branch', branch, '--json')).total),
    )
    add('gazeway cost of each branch', branches, ({ cost_usd }) => cost_usd)
    const { call } = await connect(place)
    const [month] = new Date().toISOString().split(/-\d\dT/)
    for (const by of [...SESSION_GROUPS, 'day', 'model', 'caller'] as const) {
      const stats = await ask(`/api/calls/stats?group_by=${by}`)
      add(`statistics by ${by}`, stats.groups, ({ upstream_cost_usd }) => upstream_cost_usd)
      const tool = await call('gateway_upstream_api_stats', { group_by: by })
      add(`tool by ${by}`, tool.structuredContent.groups, ({ upstream_cost_usd }) => upstream_cost_usd)
      const { groups } = await ask(`/api/wallet/metered/usage?group_by=${by}`)
      add(`usage by ${by}`, groups, ({ upstream_cost_usd }) => upstream_cost_usd)
    }
    for (const by of SESSION_GROUPS) {
      const { charges } = await ask(`/api/wallet/statements?period=${month}&group_by=${by}`)
      add(`statement by ${by}`, charges, ({ upstream_cost_usd }) => upstream_cost_usd)
      const table = await csv(`/api/wallet/statements?period=${month}&group_by=${by}`)
      add(`CSV of the statement by ${by}`, table, ({ upstream_cost_usd }) => upstream_cost_usd)
    }
    const { totals } = await ask(`/api/wallet/statements?period=${month}`)
    add('statement', [totals], ({ recorded_usd }) => recorded_usd)
    add('CSV of receipts', await csv('/api/wallet/metered/usage'), ({ upstream_cost_usd }) => upstream_cost_usd)
    const sessions = await ask('/api/coding-sessions')
    add('sessions', sessions.items, ({ cost_usd }) => cost_usd)
    assert.equal(sessions.items.length, agents.length * 3 + 2)
    for (const { id, cost_usd } of sessions.items) {
      const own = usage.items.filter(({ session }: Reply) => session === id)
      assert.equal(micros(cost_usd), sumOf(own.map(({ billing }: Reply) => billing.upstream_cost_usd)), id)
    }
    add('CSV of sessions', await csv('/api/coding-sessions'), ({ cost_usd }) => cost_usd)
    assert.deepEqual(sums, Object.fromEntries(Object.keys(sums).map((name) => [name, receipts])))
  })

  it('say in their own words that an admin has stopped them in the middle of an answer', () => {
    for (const agent of agents) assert.match(said[nameOf(agent, 'stopped')] ?? '', /An admin has stopped this session/)
  })

  it('have their files byte for byte as before, once they are disconnected, and keep no token of the remote', async () => {
    for (const agent of agents) {
      const [connected = ''] = Object.keys(agent.files)
      assert.deepEqual(Object.keys(changedFiles(agent, place)), [connected])
      await gazeway('disconnect', agent.name, '--yes')
      assert.deepEqual(changedFiles(agent, place), {})
    }
    const store = readFileSync(join(place.data, 'gazeway.db'), 'latin1')
    assert.ok(!store.includes(TOKEN) && !gateway.stderr().includes(TOKEN))
  })
})
