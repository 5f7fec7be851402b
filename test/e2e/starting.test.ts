import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { DatabaseSync } from '@photostructure/sqlite'
import { freePort } from '../doubles/free-port.ts'
import { until } from '../doubles/until.ts'
import { restore } from '../store/dump.ts'
import { dumpFile, STEPS } from '../store/landed.ts'
import { CLI, newPlace, PATIENCE_MS } from './server.ts'

const EARLIER = '036_retention'

const skip = process.platform !== 'linux' && 'open files are read from /proc'

/** Tells whether a process has a file open. */
const isOpen = (pid: number, file: string): boolean =>
  readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === file
    } catch {
      // It was closed since the folder was listed.
      return false
    }
  })

it('refuses connections on both ports while its store is migrated, and is ready then', { skip }, async (t) => {
  const place = newPlace({ withoutStore: true })
  const file = join(place.data, 'gazeway.db')
  mkdirSync(place.data, { mode: 0o700 })
  await restore(`sqlite:${file}`, readFileSync(dumpFile(EARLIER, 'sqlite'), 'utf8'))
  const store = new DatabaseSync(file)
  const applied = () =>
    store
      .prepare('select name from kysely_migration order by name')
      .all()
      .map(({ name }) => name)
  assert.equal(applied().at(-1), EARLIER)
  // The migration lasts as long as another writes.
  store.exec('pragma journal_mode = wal; begin immediate')

  const [port, platformPort] = [await freePort(), await freePort()]
  const ports = ['--port', `${port}`, '--platform', '--platform-port', `${platformPort}`]
  const child = spawn(process.execPath, [CLI, '--http', ...ports, '--upstream', 'sandbox'], {
    cwd: place.project,
    env: place.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(() => child.kill('SIGKILL'))
  const errors: string[] = []
  child.stderr.on('data', (chunk) => errors.push(String(chunk)))
  const answer = (at: number) =>
    fetch(`http://127.0.0.1:${at}/readyz`).then(
      async (reply) => [reply.status, await reply.json()],
      ({ cause }) => cause.code,
    )
  const waits = { what: () => errors.join(''), seconds: PATIENCE_MS / 1000 }
  await until(() => isOpen(child.pid as number, file), waits)
  assert.deepEqual([await answer(port), await answer(platformPort)], ['ECONNREFUSED', 'ECONNREFUSED'])
  assert.equal(applied().at(-1), EARLIER)
  assert.equal(child.exitCode, null, errors.join(''))

  store.exec('commit')
  await until(async () => (await answer(port)) !== 'ECONNREFUSED', waits)
  const ready = [200, { status: 'ready' }]
  await until(async () => JSON.stringify(await answer(port)) === JSON.stringify(ready), waits)
  assert.deepEqual([await answer(platformPort), applied()], [ready, [...STEPS].sort()])
  store.close()
  child.kill('SIGTERM')
  await once(child, 'close')
})
