import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Place } from '../../../src/context/context.ts'
import { indexFileOf, readIndexFile, writeIndexFile } from '../../../src/context/search/index-file.ts'
import { openSegment } from '../../../src/context/search/segment.ts'
import { createSegmentBuilder } from '../../../src/context/search/segment-builder.ts'
import { bundledProgram } from '../../doubles/bundled-program.ts'
import { contextWith, createProject } from '../project.ts'

function filesOf(places: readonly Place[]): string[] {
  return places.flatMap((place) => [
    ...(place.kind === 'file' && place.why.includes('matches the query') ? [place.path] : []),
    ...filesOf(place.children ?? []),
  ])
}

/** A project, its data folder, and searches of ever new processes' making. */
function project(t: TestContext, files: Record<string, string>, name = 'project') {
  const made = createProject(t, files, name)
  const data = join(made.outside, 'data')
  mkdirSync(data, { mode: 0o700 })
  const file = indexFileOf(data, made.root)
  const search = async (query: string, root = made.root) => {
    const { places, notes } = await contextWith({ dataFolder: data }).get({ query }, [root])
    return { found: filesOf(places), notes }
  }
  return { ...made, data, file, search }
}

function bytesOf(root: string, text: string): Uint8Array {
  const builder = createSegmentBuilder()
  builder.add({ path: 'a.ts', key: 'x' }, text)
  return builder.finish(root)
}

describe('kept index', () => {
  it('is taken by a later process, with what changed since', async (t) => {
    const { root, write, commitAll, search, file } = project(t, { 'a.ts': 'escrow', 'b.ts': 'ledger' })
    commitAll()
    assert.deepEqual((await search('escrow')).found, ['a.ts'])
    const before = statSync(file)
    write('b.ts', 'escrow')
    write('c.ts', 'escrow')
    rmSync(join(root, 'a.ts'))
    assert.deepEqual(
      new Set((await search('escrow')).found.filter((path) => path !== 'a.ts')),
      new Set(['b.ts', 'c.ts']),
    )
    assert.equal(statSync(file).ino, before.ino, 'it was not made again')
  })

  it('is readable by its user alone', async (t) => {
    const { file, data, search } = project(t, { 'a.ts': 'escrow' })
    await search('escrow')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(join(data, 'file-index')).mode & 0o777, 0o700)
  })

  it('holds nothing of secrets', async (t) => {
    const { file, search } = project(t, {
      'a.ts': 'escrow',
      '.env': 'hunter2word',
      'k.txt': 'hunter2word\n-----BEGIN PRIVATE KEY-----',
    })
    await search('escrow')
    assert.ok(readFileSync(file).includes('escrow'))
    assert.ok(!readFileSync(file).includes('hunter'))
  })

  it('is made again where it is damaged, cut off, empty, of another format, a link or a folder', async (t) => {
    const { file, search, outside } = project(t, { 'a.ts': 'escrow', 'b.ts': 'ledger' })
    await search('escrow')
    const good = readFileSync(file)
    const damaged = Buffer.from(good)
    damaged.writeUInt8(damaged.readUInt8(good.length - 20) ^ 255, good.length - 20)
    const older = Buffer.from(good)
    older.writeUInt32LE(older.readUInt32LE(0) - 1, 0)
    for (const [what, bytes] of Object.entries({
      damaged,
      cut: good.subarray(0, 200),
      empty: Buffer.alloc(0),
      older,
      text: Buffer.from('not an index at all'),
    })) {
      writeFileSync(file, bytes)
      assert.deepEqual((await search('escrow')).found, ['a.ts'], what)
      assert.deepEqual(readFileSync(file), good, what)
    }
    const elsewhere = join(outside, 'elsewhere')
    renameSync(file, elsewhere)
    symlinkSync(elsewhere, file)
    assert.deepEqual((await search('escrow')).found, ['a.ts'])
    assert.ok(statSync(file).isFile())
  })

  it('of one root never serves another', async (t) => {
    const { root, data, search, outside } = project(t, { 'a.ts': 'escrow' })
    const other = join(outside, 'other')
    mkdirSync(other)
    writeFileSync(join(other, 'a.ts'), 'ledger')
    await search('escrow')
    assert.notEqual(indexFileOf(data, root), indexFileOf(data, other))
    writeFileSync(indexFileOf(data, other), readFileSync(indexFileOf(data, root)))
    assert.equal(readIndexFile(indexFileOf(data, other), other), null)
    assert.deepEqual((await search('escrow', other)).found, [])
  })

  it('of a folder that another took the place of is not served', async (t) => {
    const { root, search, outside } = project(t, { 'a.ts': 'escrow' })
    await search('escrow')
    renameSync(root, join(outside, 'moved'))
    mkdirSync(root)
    writeFileSync(join(root, 'a.ts'), 'ledger')
    assert.deepEqual((await search('escrow')).found, [])
    assert.deepEqual((await search('ledger')).found, ['a.ts'])
  })

  it("excludes the data folder from its project's files", async (t) => {
    const { root, write } = createProject(t, {
      'a.ts': 'escrow',
      'data/gazeway.db': '',
      'notes/file-index/b.ts': 'escrow',
    })
    write('data/config.json', '{}')
    for (let i = 0; i < 2; i++) {
      const context = await contextWith({ dataFolder: join(root, 'data') }).get({ query: 'escrow index data' }, [root])
      assert.deepEqual(new Set(filesOf(context.places)), new Set(['a.ts', 'notes/file-index/b.ts']))
    }
    assert.equal(readdirSync(join(root, 'data/file-index')).length, 1)
  })

  it('says so where it cannot be kept, and serves all the same', async (t) => {
    const { data, search } = project(t, { 'a.ts': 'escrow' })
    writeFileSync(join(data, 'file-index'), 'no folder')
    const { found, notes } = await search('escrow')
    assert.deepEqual(found, ['a.ts'])
    assert.match(notes.join(), /cannot be saved \(EEXIST\)/)
  })

  it('goes without drafts of processes that died, and without indexes that were not used for long', async (t) => {
    const { data, file } = project(t, {})
    const folder = join(data, 'file-index')
    mkdirSync(folder)
    const long = new Date(Date.now() - 7_200_000)
    for (let i = 0; i < 40; i++) {
      writeFileSync(join(folder, `${i}.index`), '')
      utimesSync(join(folder, `${i}.index`), long, new Date(long.getTime() + i * 1000))
    }
    writeFileSync(join(folder, 'dead.draft'), '')
    utimesSync(join(folder, 'dead.draft'), long, long)
    writeFileSync(join(folder, 'alive.draft'), '')
    writeIndexFile(file, bytesOf('/x', 'escrow'))
    const left = readdirSync(folder)
    assert.equal(left.filter((name) => name.endsWith('.index')).length, 32)
    assert.ok(!left.includes('0.index') && left.includes('39.index'), 'the oldest went')
    assert.deepEqual(
      left.filter((name) => name.endsWith('.draft')),
      ['alive.draft'],
    )
  })

  it('is whole whenever it is read, while processes write it and die', async (t) => {
    const { file } = project(t, {})
    const writer = bundledProgram(fileURLToPath(new URL('./index-writer.ts', import.meta.url)))
    const texts = ['escrow '.repeat(3000), 'ledger '.repeat(9000)]
    const writers = texts.map((text) =>
      spawn(process.execPath, [writer, file, text.slice(0, 7), String(text.length / 7)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    )
    await Promise.all(writers.map((child) => once(child.stdout, 'data')))
    for (let i = 0; i < 200; i++) assert.ok(openSegment(new Uint8Array(readFileSync(file))), 'a whole index')
    const exits = writers.map((child) => once(child, 'exit'))
    for (const child of writers) child.kill('SIGKILL')
    await Promise.all(exits)
    assert.ok(readIndexFile(file, '/x'), 'after they were killed')
  })
})
