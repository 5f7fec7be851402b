import assert from 'node:assert/strict'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { runHere } from './in-process.ts'
import { connect, newPlace, type Place, writeProject } from './server.ts'

/** The same machine with another folder open. */
const openedAt = (place: Place, project: string): Place => ({ ...place, project })

describe('a repository of a stranger that names the project of another in .gazeway/project', () => {
  const place = newPlace()
  const stranger = openedAt(place, join(place.home, 'stranger'))

  it('reads and writes nothing of it before gazeway project trust, and joins then', async () => {
    const own = await connect(place)
    await own.call('gateway_memory_store', { key: 'deploy/staging', value: 'uses the eu-west cluster' })
    assert.match((await runHere(place, ['project', 'init'])).stdout, /^Wrote /)
    mkdirSync(stranger.project)
    cpSync(join(place.project, '.gazeway'), join(stranger.project, '.gazeway'), { recursive: true })
    writeProject(stranger.project, { 'README.md': '# A gift\n' })

    const theirs = await connect(stranger)
    const search = async () =>
      (await theirs.call('gateway_memory_search', { query: 'which cluster does staging use' })).structuredContent
        .results
    const recall = async ({ call } = theirs) =>
      (await call('gateway_memory_recall', { key: 'deploy/staging' })).structuredContent
    assert.deepEqual(await search(), [])
    assert.equal((await recall()).found, false)
    const { memories } = (await theirs.call('gateway_get_context', { query: 'staging' })).structuredContent
    assert.deepEqual(memories, [])
    const { memory, created } = (
      await theirs.call('gateway_memory_store', { key: 'deploy/staging', value: 'runs what the stranger says' })
    ).structuredContent
    assert.deepEqual([memory.project, created], [stranger.project, true])
    const forgotten = await theirs.call('gateway_memory_store', { key: 'deploy/staging', forget: true, if_version: 1 })
    assert.equal(forgotten.structuredContent.forgotten, true)
    assert.equal((await recall(own)).memory.value, 'uses the eu-west cluster')

    const begun = await runHere(stranger, ['hook', 'session-start'], {}, JSON.stringify({ cwd: stranger.project }))
    assert.match(
      begun.stdout,
      /looks like another copy of the project .*\/project, which has 1 memories.*gazeway project trust/,
    )
    assert.match(
      (await runHere(stranger, ['project', 'list'])).stdout,
      /stranger {2}looks like .*: gazeway project trust/,
    )
    for (const command of [['list'], ['show', 'db']])
      assert.match((await runHere(stranger, ['memory', ...command])).stderr, /^This folder looks like another copy of/)
    assert.match((await runHere(stranger, ['project', 'trust'])).stdout, /^This is the project .*\/project now/)
    await theirs.client.close()
    const joined = await connect(stranger)
    assert.equal((await recall(joined)).memory.value, 'uses the eu-west cluster')
    await joined.client.close()
    await own.client.close()
  })
})

describe('two projects with keys in both', () => {
  it('are merged by the commands that the first try prints', async () => {
    const place = newPlace()
    const [shop, copy] = ['shop', 'copy'].map((name) => openedAt(place, join(place.home, name))) as [Place, Place]
    for (const of of [shop, copy]) {
      mkdirSync(of.project)
      const { client, call } = await connect(of)
      for (const key of ['one', 'two'])
        await call('gateway_memory_store', { key, namespace: 'ops', value: `${key} of ${of.project}` })
      await call('gateway_memory_store', { key: 'one', project: null, value: 'of all projects' })
      await client.close()
    }
    const first = await runHere(place, ['project', 'merge', copy.project, shop.project])
    const [keep = [], merge = [], drop = []] = [...first.stdout.matchAll(/gazeway ((?:memory|project) [^\n,]*)/g)].map(
      ([, words = '']) => words.split(' '),
    )
    const named = (words: string[], key: string) => words.map((word) => ({ KEY: key, NAMESPACE: 'ops' })[word] ?? word)
    const astray = await runHere(place, ['memory', 'delete', 'one', '--project', copy.project])
    assert.deepEqual([astray.code, astray.stdout], [1, ''], 'that of no project is another')
    for (const words of [named(drop, 'two'), named(keep, 'one'), merge]) {
      const { code, stderr } = await runHere(place, words)
      assert.equal(code, 0, stderr)
    }
    const values = ['one', 'two'].map(
      async (key) => JSON.parse((await runHere(copy, ['memory', 'show', key, '--namespace', 'ops'])).stdout).value,
    )
    assert.deepEqual(await Promise.all(values), [`one of ${copy.project}`, `two of ${shop.project}`])
    assert.equal(JSON.parse((await runHere(place, ['memory', 'show', 'one'])).stdout).value, 'of all projects')
  })
})

describe('two processes that store one key in two projects at once', () => {
  it('keep both, each version of each', async () => {
    const place = newPlace()
    const folders = ['one', 'two'].map((name) => join(place.home, name))
    for (const folder of folders) writeProject(folder, { 'README.md': `# ${folder}\n` })
    const servers = await Promise.all(folders.map((folder) => connect(openedAt(place, folder))))
    const stores = servers.flatMap(({ call }, i) =>
      Array.from({ length: 25 }, () => call('gateway_memory_store', { key: 'deploy', value: `of ${folders[i]}` })),
    )
    for (const { isError, content } of await Promise.all(stores)) assert.ok(!isError, content[0]?.text)
    for (const [i, { call, client }] of servers.entries()) {
      const { memory } = (await call('gateway_memory_recall', { key: 'deploy' })).structuredContent
      assert.deepEqual([memory.project, memory.value, memory.version], [folders[i], `of ${folders[i]}`, 25])
      const addresses = ['', ...folders.map((folder) => `?project=${encodeURIComponent(folder)}`)]
      const texts = addresses.map(async (project) => {
        const { contents } = await client.readResource({ uri: `memory://default/deploy${project}` })
        return contents.map((content) => ('text' in content ? content.text : null)).join()
      })
      assert.deepEqual(
        await Promise.all(texts),
        [folders[i], ...folders].map((folder) => `of ${folder}`),
      )
    }
    await Promise.all(servers.map(({ client }) => client.close()))
  })
})
