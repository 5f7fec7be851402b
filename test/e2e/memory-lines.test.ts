import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runHere } from './in-process.ts'
import { CLI, connect, newPlace, putStore } from './server.ts'

/** A place whose store is there: to make it takes longer than most commands. */
function machine() {
  const place = newPlace()
  putStore(place)
  return place
}

describe('gazeway memory', () => {
  it('takes the file of server-memory, and gives it back as lines that another store takes', async () => {
    const [from, to] = [machine(), machine()]
    const file = join(from.home, 'graph.jsonl')
    writeFileSync(
      file,
      JSON.stringify({ type: 'entity', name: 'Grace', entityType: 'person', observations: ['likes tea'] }),
    )
    const imported = await runHere(from, ['memory', 'import', file, '--namespace', 'graph'])
    assert.deepEqual([imported.code, imported.stdout], [0, 'Memories stored: 1, unchanged: 0, expired: 0.\n'])
    const exported = await runHere(from, ['memory', 'export'])
    const { key, namespace, value, tags } = JSON.parse(exported.stdout)
    assert.deepEqual([key, namespace, value, tags], ['Grace', 'graph', 'likes tea', ['person']])
    writeFileSync(file, exported.stdout)
    assert.equal((await runHere(to, ['memory', 'import', file])).code, 0)
    const { created_at, updated_at, ...again } = JSON.parse((await runHere(to, ['memory', 'export'])).stdout)
    const first = JSON.parse(exported.stdout)
    assert.deepEqual({ ...again, created_at: first.created_at, updated_at: first.updated_at }, first)
  })

  it('lists, finds, shows, edits and deletes memories, those of the named project', async () => {
    const place = machine()
    const file = join(place.home, 'facts.jsonl')
    const facts = [null, '/shop'].map((project) => ({ key: 'deploy', value: `from ${project}`, project }))
    writeFileSync(file, facts.map((fact) => JSON.stringify(fact)).join('\n'))
    await runHere(place, ['memory', 'import', file])
    const memory = async (...args: string[]) => (await runHere(place, ['memory', ...args])).stdout
    assert.match(await memory('list'), /^default\/deploy {2}version 1 {2}no project {2}from null\n$/)
    assert.match(await memory('search', 'deploy', '--project', '/shop'), /from \/shop/)
    assert.match(await memory('edit', 'deploy', 'by hand', '--project', '/shop'), /version 2/)
    const shown = JSON.parse(await memory('show', 'deploy', '--project', '/shop'))
    assert.deepEqual([shown.value, shown.project], ['by hand', '/shop'])
    assert.match(await memory('delete', 'deploy', '--project', '/shop'), /of \/shop/)
    assert.equal((await runHere(place, ['memory', 'show', 'deploy', '--project', '/shop'])).code, 1)
    assert.equal(JSON.parse(await memory('show', 'deploy')).value, 'from null')
    assert.match(await memory('move', 'deploy', '--to', '/blog'), /^(?!Moved)/, 'there is no such project')
    await memory('move', 'deploy', '--to', place.project)
    assert.match(await memory('list'), new RegExp(`deploy {2}version 1 {2}${place.project} `))
    const gone = await runHere(place, ['memory', 'show', 'unknown'])
    assert.deepEqual([gone.code, gone.stdout], [1, ''])
  })

  it('edits a memory that expires, and says where a superseded one went and what is not shown', async () => {
    const place = machine()
    const file = join(place.home, 'facts.jsonl')
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const many = Array.from({ length: 101 }, (_, i) => ({ key: `fact/${i}`, value: `walrus ${i}`, tags: ['m'] }))
    writeFileSync(
      file,
      [{ key: 'port', value: '8811', expires_at }, ...many].map((fact) => JSON.stringify(fact)).join('\n'),
    )
    await runHere(place, ['memory', 'import', file])
    const memory = (...args: string[]) => runHere(place, ['memory', ...args])
    const expiry = async () => Date.parse(JSON.parse((await memory('show', 'port')).stdout).expires_at)
    assert.equal((await memory('edit', 'port', '8812')).code, 0)
    assert.ok(Math.abs((await expiry()) - Date.parse(expires_at)) < 60_000)
    const { client, call } = await connect(place)
    await call('gateway_memory_store', { key: 'address', value: '127.0.0.1:8812', supersedes: 'port', project: null })
    await client.close()
    for (const args of [
      ['show', 'port'],
      ['edit', 'port', '8813'],
      ['move', 'port', '--to', 'none'],
    ])
      assert.match((await memory(...args)).stderr, /The memory port was superseded by address: name that\./)
    const list = await memory('list')
    assert.deepEqual([list.stdout.split('\n').length, list.stderr.slice(0, 29)], [101, 'These are the newest 100. gaz'])
    assert.equal((await memory('search', 'walrus')).stderr, '… of 101 that match\n')
    assert.deepEqual((await memory('search', 'narwhal')).stderr.slice(0, 18), 'No memory matches.')
    assert.equal((await memory('delete', '--tag', 'm')).stdout, 'Deleted 101 memories with all their versions.\n')
    assert.match((await memory('list')).stdout, /^default\/address {2}version 1 {2}no project {2}127.0.0.1:8812\n$/)
    assert.equal((await memory('search')).stderr, "gazeway: missing required argument 'words'\n")
    const nothing = await memory('list', '--namespace', 'graph')
    assert.deepEqual([nothing.code, nothing.stdout, nothing.stderr.slice(0, 22)], [0, '', 'There are no memories '])
  })

  it('takes no memory of no project for one of a project that is named, and says what there is', async () => {
    const place = machine()
    const file = join(place.home, 'facts.jsonl')
    const facts = [
      { key: 'deploy', value: 'on Thursdays', project: null },
      { key: 'port', value: '8811', project: '/shop' },
    ]
    writeFileSync(file, facts.map((fact) => JSON.stringify(fact)).join('\n'))
    await runHere(place, ['memory', 'import', file])
    const refused = async (project: string, ...args: string[]) => {
      const { code, stdout, stderr } = await runHere(place, ['memory', ...args, '--project', project])
      assert.deepEqual([code, stdout], [1, ''], args.join(' '))
      return stderr
    }
    const one = [
      ['show', 'deploy'],
      ['edit', 'deploy', 'on Fridays'],
      ['move', 'deploy', '--to', '/shop'],
      ['delete', 'deploy'],
    ]
    for (const args of one.slice(0, 3))
      assert.match(await refused('/shop', ...args), /no memory deploy of the project \/shop\..* --project none\./)
    await refused('/shop', 'delete', 'deploy')
    for (const args of [...one, ['list'], ['search', 'deploy'], ['delete', '--tag', 'log']]) {
      assert.match(await refused('shop', ...args), /There is no project shop\. gazeway project list shows/)
      assert.match(await refused(place.project, ...args), /has no memories\. gazeway project list shows/)
    }
    const { value, version } = JSON.parse((await runHere(place, ['memory', 'show', 'deploy'])).stdout)
    assert.deepEqual([value, version], ['on Thursdays', 1])
    assert.equal((await runHere(place, ['memory', 'edit', 'deploy', 'on Fridays', '--project', 'none'])).code, 0)
  })

  it('lists and deletes those of a project beside many newer and large ones of another', async () => {
    const place = machine()
    const file = join(place.home, 'large.jsonl')
    // More than a page of 4 MiB.
    const large = Array.from({ length: 20 }, (_, i) => ({ key: `k${i}`, value: 'x'.repeat(250_000), tags: ['log'] }))
    const of = (project: string) => large.map((memory) => ({ ...memory, project }))
    const lines = [{ key: 'deploy', value: 'on Thursdays', project: '/shop' }, ...of('/blog'), ...of('/shop')]
    writeFileSync(file, lines.map((line) => JSON.stringify(line)).join('\n'))
    await runHere(place, ['memory', 'import', file])
    const memory = async (...args: string[]) => (await runHere(place, ['memory', ...args, '--project', '/shop'])).stdout
    assert.match(await memory('list'), /default\/deploy {2}version 1 {2}\/shop {2}on Thursdays/)
    assert.match(await memory('delete', '--tag', 'log'), /^Deleted 20 memories/)
    assert.equal(await memory('list'), 'default/deploy  version 1  /shop  on Thursdays\n')
  })

  it('takes back what a session stored by itself, and leaves what was there before as it was', async () => {
    const place = machine()
    const { client, call } = await connect(place)
    const store = (key: string, value: string, more = {}) => call('gateway_memory_store', { key, value, ...more })
    const tags = ['captured', 'session:one']
    await store('by hand', 'port 8811', { tags: ['net'], also: ['socket'] })
    await store('by hand', 'port 8812', { tags, also: ['listener'] })
    await store('by hand', 'port 8813', { tags })
    await store('first', 'the walrus listens', { tags })
    await store('second', 'the walrus listens', { tags, supersedes: 'first' })
    const taken = await runHere(place, ['memory', 'delete', '--tag', 'session:one'])
    assert.equal(
      taken.stdout,
      'Deleted 2 memories with all their versions. 1 others are as they were without the session.\n',
      taken.stderr,
    )
    const recall = async (key: string, version?: number) =>
      (await call('gateway_memory_recall', { key, version })).structuredContent
    const { value, tags: labels, version } = (await recall('by hand')).memory
    assert.deepEqual([value, labels, version], ['port 8811', ['net'], 4])
    const left = [1, 2, 3].map(async (number) => (await recall('by hand', number)).found)
    assert.deepEqual(await Promise.all(left), [true, false, false])
    assert.equal((await recall('first', 1)).found, false)
    const found = async (query: string) =>
      (await call('gateway_memory_search', { query })).structuredContent.results.length
    assert.deepEqual(await Promise.all(['socket', 'listener', 'walrus'].map(found)), [1, 0, 0])
    await client.close()
  })

  it('deletes a superseded memory', async () => {
    const place = machine()
    const { client, call } = await connect(place)
    await call('gateway_memory_store', { key: 'old', value: 'port 8811' })
    await call('gateway_memory_store', { key: 'new', value: 'port 8812', supersedes: 'old' })
    assert.match(
      (await runHere(place, ['memory', 'delete', 'old'])).stdout,
      /^Deleted old of .*, with all its versions/,
    )
    const { found } = (await call('gateway_memory_recall', { key: 'old', version: 1 })).structuredContent
    assert.equal(found, false)
    assert.equal((await runHere(place, ['memory', 'delete', 'old'])).code, 1)
    await client.close()
  })

  it('ends quietly when its reader has gone, and says in one line when a disk is full', async () => {
    const place = machine()
    const file = join(place.home, 'many.jsonl')
    writeFileSync(
      file,
      Array.from({ length: 50 }, (_, i) => JSON.stringify({ key: `k${i}`, value: 'x'.repeat(20_000) })).join('\n'),
    )
    assert.equal((await runHere(place, ['memory', 'import', file])).code, 0)
    const exported = (to: string) =>
      spawnSync('sh', ['-c', `"$0" "$1" memory export ${to}`, process.execPath, CLI], {
        env: place.env,
        cwd: place.project,
        encoding: 'utf8',
      })
    assert.equal(exported('| head -c 10').stderr, '')
    const full = exported('> /dev/full')
    assert.deepEqual([full.status, full.stderr], [1, 'gazeway: The output could not be written (ENOSPC).\n'])
  })

  it('says what is wrong with a file, and what is accepted', async () => {
    const place = machine()
    const file = join(place.home, 'bad.jsonl')
    writeFileSync(file, '{"key":"a","value":1}\nnonsense\n')
    for (const [args, code, message] of [
      [['memory', 'import', file], 1, /^gazeway: Line 2 is not JSON\. Nothing was imported/],
      [['memory', 'import', join(place.home, 'none')], 1, /none does not exist. Give a file of JSON Lines\./],
      [['memory', 'import', place.home], 1, / is not a regular file\. Give a file of JSON Lines\.$/m],
      [['memory', 'import'], 2, /JSON Lines file\.$/m],
      [['memory', 'import', file, '--namespace', ''], 2, /--namespace: must be 1 to 128 characters\./],
      [
        ['memory', 'nothing'],
        2,
        /unknown command memory nothing; must be one of export, import, list, search, show, edit, move, delete\.$/m,
      ],
    ] as const) {
      const outcome = await runHere(place, [...args])
      assert.equal(outcome.code, code, outcome.stderr)
      assert.match(outcome.stderr, message)
    }
    assert.equal((await runHere(place, ['memory', 'export'])).stdout, '')
  })
})
