import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { before, it } from 'node:test'
import { type Behaviour, chunks, sse } from '../doubles/upstream.ts'
import { askClaude, fromReadme, toolCall } from './claude.ts'
import { onDouble } from './gateway-process.ts'
import { connect, newPlace, run, writeProject } from './server.ts'

const OF_GAZEWAY = 'mcp__plugin_gazeway_gazeway__'
const STORE = `${OF_GAZEWAY}gateway_memory_store`
const RECALL = `${OF_GAZEWAY}gateway_memory_recall`
const ARGS = ['--plugin-dir', resolve('plugin'), '--allowedTools', `Write,Read,${STORE},${RECALL}`]

type Call = [name: string, input: object]
interface Asked {
  messages: { role: string; content: unknown }[]
  tools?: unknown[]
}

onDouble('Claude Code with the plugin and a memory', (gateway, upstream) => {
  const place = newPlace()
  /** Requests of the session that offer tools. */
  const asked: Asked[] = []
  before(async () => {
    // Made by a first server.
    const { client, call } = await connect(place)
    await call('gateway_memory_recall', { key: 'none' })
    await client.close()
  })

  /** Lets Claude Code work in a folder. The model makes the calls of `next`, one at a time, until it returns null. */
  async function session(project: string, next: (body: Asked) => Call | null): Promise<string> {
    asked.length = 0
    let made = 0
    const behaviour: Behaviour = (response, request) => {
      const body = request.body as Asked
      if (!body.tools?.length) return sse(chunks(['Done.']))(response, request)
      asked.push(body)
      const call = next(body)
      return sse(call ? toolCall(...call, `call_${++made}`) : chunks(['Done.']))(response, request)
    }
    upstream().on('/chat/completions', behaviour)
    const variables = { ...fromReadme(gateway()), GAZEWAY_HOME: place.data }
    const { is_error, permission_denials } = await askClaude(variables, { ...place, project }, 'Go on.', ARGS)
    assert.deepEqual([is_error, permission_denials], [false, []])
    return JSON.stringify(asked[0]?.messages)
  }

  /** Makes some calls, one after another. */
  const inTurn =
    (...calls: Call[]) =>
    () =>
      calls.shift() ?? null

  for (const kilobytes of [57, 87])
    it(`gets a result of ${kilobytes} KB whole`, async () => {
      const lines = Array.from(
        { length: 2000 },
        (_, n) => `Parcel ${n} went by sea to the port of Genoa, where it waits for the next ship to the south.`,
      )
      const last = 'The last parcel is in Riga.'
      const text = lines.join('\n')
      const value = `${text.slice(0, text.lastIndexOf('\n', kilobytes * 1000 - last.length - 1))}\n${last}`
      assert.equal(Math.round(value.length / 1000), kilobytes)
      const { client, call } = await connect(place)
      await call('gateway_memory_store', { key: 'parcels', value, project: null })
      await client.close()
      await session(place.project, inTurn([RECALL, { key: 'parcels' }]))
      const results = asked.at(-1)?.messages.filter(({ role }) => role === 'tool') ?? []
      const said = results.map(({ content }) => JSON.stringify(content)).find((of) => of.includes('Parcel 499'))
      const shown = [...(said ?? '').matchAll(/Parcel (\d+) went by sea/g)].map(([, n]) => Number(n))
      assert.deepEqual(
        shown,
        value
          .split('\n')
          .slice(0, -1)
          .map((_, n) => n),
      )
      assert.ok(said?.includes(last))
      await run(place, ['memory', 'delete', 'parcels'])
    })

  it('stores what lasts by itself, says so at the next start, and has it removed by one command', async () => {
    const config = join(place.data, 'config.json')
    writeFileSync(config, JSON.stringify({ memory: { capture: 'auto' } }))
    const facts = [
      { key: 'build/command', value: 'npm run seed -- --small fills the local database', also: ['fixtures'] },
      { key: 'database/seed', value: 'npm run seed -- --small fills the local database', also: ['fill'] },
    ]
    const work = inTurn(['Write', { file_path: join(place.project, 'notes.txt'), content: 'x' }])
    await session(place.project, (body) => {
      const said = JSON.stringify(body.messages)
      const [, first = '', second = ''] = /the tags \\+"(captured)\\+" and \\+"(session:[\w-]+)\\+"/.exec(said) ?? []
      if (first === '') return work()
      const fact = facts.shift()
      return fact ? [STORE, { ...fact, tags: [first, second] }] : null
    })
    assert.equal(facts.length, 0, 'the stop hook had the model store')
    const heard = JSON.stringify(asked.at(-1)?.messages)
    assert.match(heard, /similar[^[]*\[[^\]]*build\/command/, 'the second is named as a near-duplicate of the first')

    const begun = await session(place.project, inTurn())
    const [, keys, tag = ''] = /stored by itself: (.*?)\. .*?--tag (session:[\w-]+)/.exec(begun) ?? []
    assert.equal(keys, 'database/seed, build/command')
    assert.match((await run(place, ['memory', 'delete', '--tag', tag])).stdout, /^Deleted 2 memories/)
    assert.doesNotMatch(await session(place.project, inTurn()), /stored by itself/)
    writeFileSync(config, '{}')
  })

  it('keeps two projects apart, and knows one in a worktree and after its folder has moved', async () => {
    const [shop, bank, moved] = ['shop', 'bank', 'moved'].map((name) => join(place.home, name)) as [
      string,
      string,
      string,
    ]
    for (const [folder, value] of [
      [shop, 'is blue'],
      [bank, 'is green'],
    ] as const) {
      writeProject(folder, { 'README.md': `# ${value}\n` })
      await session(folder, inTurn([STORE, { key: 'deploy/production', value }]))
      assert.match(JSON.stringify(asked.at(-1)?.messages), /Stored deploy\/production|created\\*":true/)
    }
    const worktree = join(place.home, 'worktree')
    const git = (...args: string[]) => execFileSync('git', ['-C', shop, ...args], { stdio: 'ignore' })
    git('worktree', 'add', worktree)
    const inShop = /deploy\/production: is blue(?!.*is green)/
    assert.match(await session(worktree, inTurn()), inShop)
    git('worktree', 'remove', '--force', worktree)
    renameSync(shop, moved)
    assert.match(await session(moved, inTurn()), inShop)
    assert.match(await session(bank, inTurn()), /deploy\/production: is green(?!.*is blue)/)
  })
})
