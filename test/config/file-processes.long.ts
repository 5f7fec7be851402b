import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { configFile, loadConfig } from '../../src/config/config.ts'
import { parseDocument, readText } from '../../src/config/document.ts'
import { updateDocument } from '../../src/config/file.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'
import { newFolder } from './folder.ts'

const WRITER = bundledProgram(fileURLToPath(new URL('writer.ts', import.meta.url)))
const HOLDER = bundledProgram(fileURLToPath(new URL('lock-holder.ts', import.meta.url)))

function openFolder(home = newFolder()) {
  return { home, file: configFile(home) }
}

function startWriter(home: string, name: string, count: number): ChildProcess {
  return spawn(process.execPath, [WRITER, home, name, String(count)], {
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

describe('updateDocument in other processes', () => {
  it('gives up while another has the lock, and says that it may be the folder', async (t) => {
    const { file } = openFolder()
    const holder = spawn(process.execPath, [HOLDER, file], { stdio: ['ignore', 'pipe', 'inherit'] })
    t.after(() => holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    await assert.rejects(
      updateDocument(file, (document) => document),
      { code: 'store_unavailable', message: /another process has locked it; .* Or its folder has no locks/ },
    )
  })

  it('loses nothing when two processes set a hundred keys each at once, and shows a reader no broken document', async () => {
    const { home, file } = openFolder()
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
    assert.deepEqual(readdirSync(home).sort(), ['config.json', 'config.json-lock'])
  })

  it('leaves the old or the new document when it is killed', async () => {
    for (const kill of [1, 3, 5, 8]) {
      const { home, file } = openFolder()
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
