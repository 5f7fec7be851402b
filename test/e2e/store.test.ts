import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { DatabaseSync } from '@photostructure/sqlite'
import { MIGRATIONS } from '../../src/store/migrations/migrations.ts'
import { canMount, mountDisk } from '../doubles/disk.ts'
import { until } from '../doubles/until.ts'
import { humanStream } from '../gaze/human-stream.ts'
import { restore } from '../store/dump.ts'
import { dumpFile } from '../store/landed.ts'
import { connect, newPlace, type Place, run, type ToolReply } from './server.ts'

const ASK = { messages: [{ role: 'user', content: 'Hello.' }] }

describe('the data folder', () => {
  it('is shared: servers see each other’s memories at once', async () => {
    const place = newPlace({ withoutStore: true })
    const [one, other] = await Promise.all([connect(place), connect(place)])
    await one.call('gateway_memory_store', { key: 'shared', value: 'first' })
    assert.equal((await other.call('gateway_memory_recall', { key: 'shared' })).structuredContent.memory.value, 'first')
    await other.call('gateway_memory_store', { key: 'shared', value: 'second' })
    assert.equal((await one.call('gateway_memory_search', { query: 'second' })).structuredContent.total, 1)
    assert.deepEqual(
      (await one.client.listResources()).resources.map(({ name }) => name),
      ['shared'],
    )
  })

  it('loses no write of servers that write at the same time', async () => {
    const place = newPlace({ withoutStore: true })
    const servers = await Promise.all([connect(place), connect(place), connect(place)])
    const writes = servers.flatMap(({ call }) =>
      Array.from({ length: 20 }, (_, value) => call('gateway_memory_store', { key: 'counter', value })),
    )
    const versions = (await Promise.all(writes)).map(({ structuredContent }) => structuredContent.memory.version)
    assert.deepEqual(
      versions.sort((a, b) => a - b),
      Array.from({ length: 60 }, (_, n) => n + 1),
    )
  })

  it('is all that is written to', async () => {
    const place = newPlace({ withoutStore: true })
    const before = snapshot(place)
    const { call, client } = await connect(place, { args: ['--upstream', 'sandbox'] })
    await call('gateway_memory_store', { key: 'a', value: 'b' })
    await call('gateway_get_context')
    await call('gateway_llm_query', { query: 'What is tracked?' })
    await call('gateway_memory_search', { query: 'b' })
    assert.deepEqual(snapshot(place), before, 'while it runs')
    await client.close()
    assert.deepEqual(snapshot(place), before, 'and after')
    assert.ok(readdirSync(place.data).includes('gazeway.db'), 'the store is in the data folder')
  })

  it('is cleared of what is past its retention, by a tool server as by a service', async () => {
    const place = newPlace({ withoutStore: true })
    mkdirSync(place.data, { mode: 0o700 })
    writeFileSync(join(place.data, 'config.json'), JSON.stringify({ gaze: { retention_days: 1 } }))
    const server = await connect(place, { args: ['--upstream', 'sandbox'] })
    const records = humanStream(1, { records: 3, start: '2020-01-01T00:00:00.000Z' })
    await server.call('gateway_store_gaze_data', { records })
    const kept = async () => (await server.call('gateway_retrieve_gaze_data')).structuredContent.total
    assert.equal(await kept(), 3)
    // The first sweep comes 10 s after the first call.
    await until(async () => (await kept()) === 0, { seconds: 30 })
    await server.client.close()
    assert.equal(server.stderr(), '')
  })

  it('is migrated by a command of its own, before anything starts on it', async () => {
    const place = newPlace({ withoutStore: true })
    mkdirSync(place.data, { mode: 0o700 })
    const file = join(place.data, 'gazeway.db')
    await restore(`sqlite:${file}`, readFileSync(dumpFile('036_retention', 'sqlite'), 'utf8'))
    const behind = Object.keys(MIGRATIONS).length - Object.keys(MIGRATIONS).indexOf('036_retention') - 1
    for (const done of [`Migrations made: ${behind}.`, 'It has the tables of this version.']) {
      const { code, stdout, stderr } = await run(place, ['store', 'migrate'])
      assert.deepEqual([code, stdout, stderr], [0, `sqlite:${file}: ${done}\n`, ''])
    }
  })

  it('is not made by a server that is only asked what it can do', async () => {
    const place = newPlace({ withoutStore: true })
    const { client } = await connect(place)
    await client.listTools()
    await client.listPrompts()
    await client.close()
    assert.throws(() => statSync(place.data), { code: 'ENOENT' })
  })

  for (const [what, store] of [
    ['below a file', 'README.md/store.db'],
    ['a folder', 'src'],
  ] as const)
    it(`costs its tools, not the server, when the store is ${what}`, async () => {
      const place = newPlace({ withoutStore: true })
      const { call, client } = await connect(place, { args: ['--store', `sqlite:${join(place.project, store)}`] })
      for (const reply of [
        await call('gateway_memory_store', { key: 'a', value: 'b' }),
        await call('gateway_memory_recall', { key: 'a' }),
      ])
        assertFault(reply, 'store_unavailable', /folder exists and is writable/)
      await assert.rejects(client.listResources(), /cannot be opened/)
      assert.equal((await client.listTools()).tools.length, 12)
    })

  it('costs its tools, not the server, when it is below a file', async () => {
    const place = newPlace({ withoutStore: true })
    const { call, client } = await connect(place, { args: ['--data', join(place.project, 'README.md', 'data')] })
    assertFault(await call('gateway_memory_store', { key: 'a', value: 'b' }), 'store_unavailable', /README\.md/)
    assert.equal((await client.listTools()).tools.length, 12)
  })

  it('is left alone when the store in it is damaged', async () => {
    const place = newPlace({ withoutStore: true })
    const file = join(place.project, 'README.md')
    const before = readFileSync(file)
    const { call } = await connect(place, { args: ['--store', `sqlite:${file}`] })
    assertFault(await call('gateway_memory_store', { key: 'a', value: 'b' }), 'store_corrupt', /not a SQLite database/)
    const { structuredContent: context } = await call('gateway_get_context', { focus: 'README.md' })
    assert.equal(context.places[0].path, 'README.md', 'the work context does without it')
    assert.match(
      context.notes[0],
      /attention and memories are unknown: The store README\.md: it is not a SQLite database/,
    )
    assert.deepEqual(readFileSync(file), before)
  })

  it('is left alone when the store in it is another program’s, which costs its tools, not the server', async () => {
    const place = newPlace({ withoutStore: true })
    const file = join(place.project, 'theirs.db')
    const theirs = new DatabaseSync(file)
    theirs.exec('create table Tasks (title text)')
    theirs.close()
    const before = readFileSync(file)
    const { call, client } = await connect(place, { args: ['--store', `sqlite:${file}`] })
    const reply = await call('gateway_memory_store', { key: 'a', value: 'b' })
    assertFault(reply, 'store_unavailable', /tables of another program \(tasks\). Give Gazeway a database of its own/)
    assert.equal((await client.listTools()).tools.length, 12)
    await client.close()
    assert.deepEqual(readFileSync(file), before)
  })
})

const mounts = canMount()
describe('a disk', { skip: !mounts && 'only root with CAP_SYS_ADMIN can mount a small disk to fill' }, () => {
  it('that is full costs what is written then, and nothing else', async (t) => {
    const place = newPlace({ withoutStore: true })
    mountDisk(t, place.data, 'size=2m')
    const { call } = await connect(place, { args: ['--upstream', 'sandbox'] })
    await call('gateway_memory_store', { key: 'before', value: 'kept' })

    const free = fillDisk(place)
    const big = { key: 'big', value: 'x'.repeat(200_000) }
    assertFault(await call('gateway_memory_store', big), 'store_full', /disk is full.*Free some space/)
    assert.equal((await call('gateway_memory_recall', { key: 'big' })).structuredContent.found, false)
    assert.equal((await call('gateway_memory_recall', { key: 'before' })).structuredContent.memory.value, 'kept')
    assert.equal((await call('gateway_memory_search', { query: 'kept' })).structuredContent.total, 1)

    free()
    assert.equal((await call('gateway_memory_store', big)).structuredContent.created, true)
    assert.deepEqual(soundness(place), ['ok'])
  })

  it('that is full keeps call records waiting, and says so', async (t) => {
    const place = newPlace({ withoutStore: true })
    mountDisk(t, place.data, 'size=2m')
    const { call, stderr } = await connect(place, { args: ['--upstream', 'sandbox', '--log-level', 'error'] })
    await call('gateway_upstream_api_history')
    const free = fillDisk(place)
    const asked = await Promise.all(Array.from({ length: 200 }, () => call('gateway_chat_completion', ASK)))
    for (const reply of asked) assert.notEqual(reply.isError, true, 'the model’s answer is not lost')
    assert.ok(
      asked.some(({ structuredContent }) => structuredContent.conversation_id === null),
      'what cannot be kept is not gone on with',
    )
    await until(() => /"level":"error".*"msg":"Failed to write call records\."/.test(stderr()), { what: stderr })
    free()
    assert.equal((await call('gateway_upstream_api_history')).structuredContent.total, 200)
    assert.deepEqual(soundness(place), ['ok'])
  })

  it('that is full from the start makes no half of a store', async (t) => {
    const place = newPlace({ withoutStore: true })
    mountDisk(t, place.data, 'size=2m')
    const free = fillDisk(place)
    const { call } = await connect(place)
    const reply = await call('gateway_memory_store', { key: 'a', value: 'b' })
    assert.equal(reply.isError, true)
    assert.match(reply.content[0]?.text ?? '', /^store_(full|unavailable): /)
    free()
    assert.equal((await call('gateway_memory_store', { key: 'a', value: 'b' })).structuredContent.created, true)
    assert.deepEqual(soundness(place), ['ok'])
  })

  it('that is full leaves nothing of a first key that could not be kept there', async (t) => {
    const place = newPlace({ withoutStore: true })
    mountDisk(t, place.data, 'size=2m')
    fillDisk(place)
    const store = `sqlite:${join(place.project, 'gazeway.db')}`
    const { code, stderr } = await run(place, ['--http', '--port', '0', '--upstream', 'sandbox', '--store', store])
    assert.equal(code, 1)
    assert.match(stderr, /^gazeway: \S+admin\.key: not written \(ENOSPC\)/)
    assert.deepEqual(readdirSync(place.data), ['filler'])
  })

  it('that is read-only costs the tools that need it, until it is writable', async (t) => {
    const place = newPlace({ withoutStore: true })
    mountDisk(t, place.data, 'size=2m,ro')
    const { call, client } = await connect(place, { args: ['--upstream', 'sandbox'] })
    assertFault(await call('gateway_memory_store', { key: 'a', value: 'b' }), 'store_unavailable', /writable|read-only/)
    assert.equal((await client.listTools()).tools.length, 12)
    execFileSync('mount', ['-o', 'remount,rw', place.data])
    assert.equal((await call('gateway_memory_store', { key: 'a', value: 'b' })).structuredContent.created, true)
  })
})

function assertFault(reply: ToolReply, code: string, message: RegExp): void {
  assert.equal(reply.isError, true, `not refused: ${reply.content[0]?.text}`)
  assert.equal(reply._meta?.error.code, code, reply.content[0]?.text)
  assert.match(reply.content[0]?.text ?? '', message)
}

/** Every file outside the data folder, with its size and the time of its last change. */
function snapshot({ project, home, temporary }: Place): string[] {
  return [project, home, temporary].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => {
      const path = join(folder, String(name))
      const { size, mtimeMs } = statSync(path)
      return `${path} ${size} ${mtimeMs}`
    }),
  )
}

/** Leaves no byte free on the disk; returns what frees them again. */
function fillDisk({ data }: Place): () => void {
  const file = join(data, 'filler')
  const handle = openSync(file, 'w')
  try {
    for (;;) writeSync(handle, Buffer.alloc(4096))
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
  } finally {
    closeSync(handle)
  }
  return () => rmSync(file)
}

/** Result of SQLite's integrity check. */
function soundness({ data }: Place): unknown[] {
  const database = new DatabaseSync(join(data, 'gazeway.db'))
  const rows = database.prepare('pragma integrity_check').all() as { integrity_check: unknown }[]
  database.close()
  return rows.map((row) => row.integrity_check)
}
