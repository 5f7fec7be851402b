import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createConfigStore, loadConfig } from '../../src/config/config.ts'
import { parseDocument, readText } from '../../src/config/document.ts'
import { updateDocument } from '../../src/config/file.ts'
import { newFolder } from './folder.ts'

const WRITER = fileURLToPath(new URL('writer.ts', import.meta.url))

async function openFolder(home = newFolder(), env: Record<string, string> = {}) {
  const request = { env: { GAZEWAY_HOME: home, ...env }, flags: {} }
  return { home, file: join(home, 'config.json'), store: createConfigStore(request, await loadConfig(request)) }
}

function startWriter(home: string, name: string, count: number): ChildProcess {
  return spawn(process.execPath, ['--import', 'tsx', WRITER, home, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

/** The numbers that a writer acknowledges, as they come. */
function acknowledged(writer: ChildProcess): AsyncIterable<string> {
  assert.ok(writer.stdout)
  return createInterface(writer.stdout)
}

/** Kills at another moment of the write that is under way for each `turn`: early, in the middle, late. */
function killAt(writer: ChildProcess, turn: number): void {
  const moment = performance.now() + turn * 4
  while (performance.now() < moment);
  writer.kill('SIGKILL')
}

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

describe('createConfigStore', () => {
  it('writes config.json for its owner alone and takes the change into force', async () => {
    const { home, file, store } = await openFolder(join(newFolder(), 'new'))
    const { config, sources } = await store.set({ 'http.port': 5, 'upstream.api_key': 'xai-secret' })
    assert.equal(config.http.port, 5)
    assert.equal(sources['http.port'], 'file')
    assert.equal(store.get().config.http.port, 5)
    assert.deepEqual(store.get().secrets, ['xai-secret'])
    assert.deepEqual(read(file), { http: { port: 5 }, upstream: { api_key: 'xai-secret' } })
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(home).mode & 0o777, 0o700)
    assert.deepEqual(readdirSync(home), ['config.json'])
  })

  it('keeps the environment in force over what it writes', async () => {
    const { file, store } = await openFolder(newFolder(), { GAZEWAY_PORT: '7' })
    const { config, sources } = await store.set({ 'http.port': 5 })
    assert.equal(config.http.port, 7)
    assert.equal(sources['http.port'], 'environment')
    assert.equal(read(file).http.port, 5)
  })

  it('sees what others wrote once it reloads or writes', async () => {
    const home = newFolder()
    const [first, second] = [await openFolder(home), await openFolder(home)]
    await first.store.set({ 'gaze.min_score': 0.5 })
    assert.equal(second.store.get().config.gaze.min_score, 0.6)
    assert.equal((await second.store.reload()).config.gaze.min_score, 0.5)
    await second.store.set({ 'http.port': 5 })
    assert.deepEqual(read(first.file), { gaze: { min_score: 0.5 }, http: { port: 5 } })
  })

  it('loses none of a hundred changes made at once', async () => {
    const { file, store } = await openFolder()
    await Promise.all(Array.from({ length: 100 }, (_, n) => store.set({ [`pricing.models.m-${n}`]: n })))
    assert.equal(Object.keys(read(file).pricing.models).length, 100)
  })

  it('writes nothing when one change of several is refused, and works on', async () => {
    const { home, store } = await openFolder()
    await assert.rejects(store.set({ 'http.port': 5, 'http.prot': 5 }), { code: 'unknown_config_key', status: 400 })
    assert.deepEqual(readdirSync(home), [])
    assert.equal((await store.set({ 'http.port': 6 })).config.http.port, 6)
  })

  it('never overwrites a broken file', async () => {
    const { home, file, store } = await openFolder()
    const text = '{"http": {"port": 99999}, "note": "mine"'
    writeFileSync(file, text)
    await assert.rejects(store.set({ 'gaze.min_score': 0.5 }), { code: 'config_invalid' })
    assert.equal(readFileSync(file, 'utf8'), text)
    assert.deepEqual(readdirSync(home), ['config.json'])
    assert.equal(store.get().config.gaze.min_score, 0.6)
  })

  it('says so when it cannot write', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'file'), '')
    await assert.rejects(
      updateDocument(join(folder, 'file', 'config.json'), (document) => document),
      {
        code: 'store_unavailable',
      },
    )
  })
})

describe('updateDocument', () => {
  it('refuses to write over what an editor saved meanwhile', async () => {
    const { home, file } = await openFolder()
    const saved = updateDocument(file, (document) => {
      writeFileSync(file, '{"http": {"port": 1}}')
      return { ...document, gaze: { min_score: 0.5 } }
    })
    await assert.rejects(saved, { code: 'conflict', status: 409 })
    assert.deepEqual(read(file), { http: { port: 1 } })
    assert.deepEqual(readdirSync(home), ['config.json'])
  })

  it('takes over the lock and clears the leftovers of a process that was killed', async () => {
    const { home, file, store } = await openFolder()
    const long = new Date(Date.now() - 3_600_000)
    mkdirSync(`${file}.lock`)
    writeFileSync(`${file}.1.0.tmp`, '{"http"')
    writeFileSync(join(home, 'other.tmp'), '')
    for (const left of [`${file}.lock`, `${file}.1.0.tmp`]) utimesSync(left, long, long)
    await store.set({ 'http.port': 5 })
    assert.deepEqual(readdirSync(home).sort(), ['config.json', 'other.tmp'])
  })

  it('writes through a link', async () => {
    const { home, file, store } = await openFolder()
    const kept = join(newFolder(), 'kept.json')
    writeFileSync(kept, '{}')
    symlinkSync(kept, file)
    await store.set({ 'http.port': 5 })
    assert.deepEqual(read(kept), { http: { port: 5 } })
    assert.deepEqual(readdirSync(home), ['config.json'])
  })

  it('loses nothing when two processes set a hundred keys each at once, and shows a reader no broken document', async () => {
    const { home, file } = await openFolder()
    const writers = ['a', 'b'].map((name) => startWriter(home, name, 100))
    const exits = Promise.all(
      writers.map((writer) => {
        writer.stdout?.resume()
        return once(writer, 'exit')
      }),
    )
    while (writers.some((writer) => writer.exitCode === null && writer.signalCode === null)) {
      const text = readText(file)
      if (text !== null) parseDocument(text, file)
      await setImmediate()
    }
    assert.deepEqual(await exits, [
      [0, null],
      [0, null],
    ])
    const expected = ['a', 'b'].flatMap((name) => Array.from({ length: 100 }, (_, n) => `${name}-${n + 1}`))
    assert.deepEqual(Object.keys(read(file).pricing.models).sort(), expected.sort())
    assert.deepEqual(readdirSync(home), ['config.json'])
  })

  it('leaves the old or the new document when it is killed', async () => {
    for (let kill = 1; kill <= 8; kill++) {
      const { home, file } = await openFolder()
      const aliases = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`alias-${n}`, `model-${n}`]))
      writeFileSync(file, JSON.stringify({ upstream: { aliases } }))
      const writer = startWriter(home, 'killed', 10_000)
      const exited = once(writer, 'exit')
      let last = 0
      for await (const line of acknowledged(writer)) {
        last = Number(line)
        if (last === 2) killAt(writer, kill)
      }
      await exited
      const { config } = await loadConfig({ env: { GAZEWAY_HOME: home }, flags: {} })
      assert.equal(Object.keys(config.upstream.aliases).length, 3_000)
      const models = Object.keys(config.pricing.models).length
      assert.ok(models === last || models === last + 1, `${models} stored, ${last} acknowledged`)
      assert.equal(config.gaze.records_needed, models)
    }
  })
})
