import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { configFile } from '../../src/config/config.ts'
import { updateDocument } from '../../src/config/file.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'
import { newFolder } from './folder.ts'

function openFolder(home = newFolder()) {
  return { home, file: configFile(home) }
}

const programOf = (name: string) => bundledProgram(fileURLToPath(new URL(name, import.meta.url)))
/** Names of the files in a folder, without that of the lock. */
const filesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => name !== 'config.json-lock')
    .sort()
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

/** Id of a user without rights of its own. */
const ORDINARY = 65_534

/** Works without the rights of root. */
async function asOrdinaryUser<T>(work: () => Promise<T>): Promise<T> {
  process.seteuid?.(ORDINARY)
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}

describe('updateDocument', () => {
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

  it('replaces no read-only file', async () => {
    const { file } = openFolder()
    writeFileSync(file, '{}', { mode: 0o444 })
    await assert.rejects(
      updateDocument(file, () => ({ log: { level: 'debug' } })),
      /config\.json: not written, as it is read-only; make it writable first\./,
    )
    assert.equal(readFileSync(file, 'utf8'), '{}')
  })

  it('says so where the file is a mount of its own, which stays as it is', async (t) => {
    const { home, file } = openFolder()
    const source = join(home, 'source.json')
    for (const path of [source, file]) writeFileSync(path, '{}')
    if (spawnSync('mount', ['--bind', source, file]).status !== 0) return t.skip('mounting is not permitted here')
    try {
      const change = updateDocument(file, () => ({ log: { level: 'warn' } }))
      await assert.rejects(change, { code: 'store_unavailable', message: /mount the folder that holds it/ })
      assert.deepEqual(read(file), {})
    } finally {
      spawnSync('umount', [file])
    }
  })

  it('refuses to write over what an editor saved meanwhile', async () => {
    const { home, file } = openFolder()
    const saved = updateDocument(file, (document) => {
      writeFileSync(file, '{"http": {"port": 1}}')
      return { ...document, gaze: { min_score: 0.5 } }
    })
    await assert.rejects(saved, { code: 'conflict', status: 409 })
    assert.deepEqual(read(file), { http: { port: 1 } })
    assert.deepEqual(filesIn(home), ['config.json'])
  })

  it('loses nothing that a person saves, at whatever moment', async () => {
    const { file } = openFolder()
    await updateDocument(file, () => ({}))
    let changing = true
    const changes = (async () => {
      for (let n = 0; n < 40; n++)
        await updateDocument(file, (document) => ({ ...document, gaze: { records_needed: 10 + n } })).catch((error) =>
          assert.equal(error.code, 'conflict'),
        )
      changing = false
    })()
    for (let port = 1; changing; port = (port % 60_000) + 1) {
      writeFileSync(file, JSON.stringify({ ...read(file), http: { port } }))
      for (let turn = 0; turn < port % 50; turn++) {
        await setImmediate()
        assert.equal(read(file).http.port, port, 'what was saved is still there')
      }
    }
    await changes
  })

  it('clears the leftovers of a process that was killed', async () => {
    const { home, file } = openFolder()
    const long = new Date(Date.now() - 3_600_000)
    writeFileSync(`${file}.1.0123456789ab.tmp`, '{"http"')
    writeFileSync(join(home, 'other.tmp'), '')
    utimesSync(`${file}.1.0123456789ab.tmp`, long, long)
    await updateDocument(file, (document) => ({ ...document, http: { port: 5 } }))
    assert.deepEqual(filesIn(home), ['config.json', 'other.tmp'])
  })

  it('waits while another process has the lock, which ends with that process, and lets one writer in at a time', async (t) => {
    const { file } = openFolder()
    const holder = spawn(process.execPath, [programOf('lock-holder.ts'), file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.after(() => holder.kill('SIGKILL'))
    await once(holder.stdout, 'data')
    let isHeld = true
    const names = ['a', 'b', 'c', 'd']
    const changes = names.map((name) =>
      updateDocument(file, ({ pricing, ...others }) => {
        assert.ok(!isHeld, 'two have the lock')
        return { ...others, pricing: { ...pricing, models: { ...pricing?.models, [name]: { input: 1, output: 1 } } } }
      }),
    )
    for (let turn = 0; turn < 20; turn++) await setImmediate()
    isHeld = false
    holder.kill('SIGKILL')
    await Promise.all(changes)
    assert.deepEqual(Object.keys(read(file).pricing.models).sort(), names)
  })

  it('says so where the lock cannot be opened, or is not its own to write', async (t) => {
    const { file } = openFolder()
    mkdirSync(`${file}-lock`)
    await assert.rejects(
      updateDocument(file, (document) => document),
      {
        code: 'store_unavailable',
        message: /config\.json-lock cannot be locked \(.*unable to open database file\)\.$/,
      },
    )
    if (process.geteuid?.() === 0) return t.skip('root may write everything')
    const theirs = openFolder().file
    writeFileSync(`${theirs}-lock`, '', { mode: 0o400 })
    await assert.rejects(
      updateDocument(theirs, (document) => document),
      { code: 'store_unavailable', message: /config\.json-lock: not written \(EACCES\); it belongs to another user/ },
    )
  })

  it('leaves the owner of the folder the lock that root has made', async (t) => {
    if (process.geteuid?.() !== 0) return t.skip('only root makes files of others')
    const { home, file } = openFolder()
    chownSync(home, ORDINARY, ORDINARY)
    const refused = updateDocument(file, () => {
      throw new Error('refused')
    })
    await assert.rejects(refused)
    await asOrdinaryUser(() => updateDocument(file, () => ({ log: { level: 'warn' } })))
    assert.deepEqual(read(file), { log: { level: 'warn' } })
  })

  it('loses nothing when two processes set ten keys each at once', async () => {
    const { home, file } = openFolder()
    const program = programOf('writer.ts')
    const writers = ['a', 'b'].map((name) =>
      spawn(process.execPath, [program, home, name, '10'], { stdio: ['ignore', 'ignore', 'inherit'] }),
    )
    assert.deepEqual(await Promise.all(writers.map((writer) => once(writer, 'exit'))), [
      [0, null],
      [0, null],
    ])
    const expected = ['a', 'b'].flatMap((name) => Array.from({ length: 10 }, (_, n) => `${name}-${n + 1}`))
    assert.deepEqual(Object.keys(read(file).pricing.models).sort(), expected.sort())
    assert.deepEqual(filesIn(home), ['config.json'])
  })

  it('writes through a link', async () => {
    const { home, file } = openFolder()
    const kept = join(newFolder(), 'kept.json')
    writeFileSync(kept, '{}')
    symlinkSync(kept, file)
    await updateDocument(file, (document) => ({ ...document, http: { port: 5 } }))
    assert.deepEqual(read(kept), { http: { port: 5 } })
    assert.deepEqual(filesIn(home), ['config.json'])
  })
})
