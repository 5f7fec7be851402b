import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import pg from 'pg'
import { createCalls } from '../../src/calls/calls.ts'
import { createMemory, MemoryInput } from '../../src/memory/memory.ts'
import { MIGRATIONS } from '../../src/store/migrations/migrations.ts'
import { openStore } from '../../src/store/open-store.ts'
import { type PostgresServer, startPostgres } from '../contract/postgres-server.ts'
import { callAt } from '../contract/retention.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'
import { until } from '../doubles/until.ts'

const INSTANCE = bundledProgram(fileURLToPath(new URL('instance.ts', import.meta.url)))

let server: PostgresServer
const running = new Set<ChildProcess>()
before(async () => {
  server = await startPostgres({ durable: true })
})
after(async () => {
  for (const child of running) child.kill('SIGKILL')
  await server.remove()
})

/** A gateway's services in a process of their own, under load until it is told to end. */
function startInstance(url: string, name: string) {
  const child = spawn(process.execPath, [INSTANCE, url, name], { stdio: ['pipe', 'pipe', 'pipe'] })
  running.add(child)
  const told = { memory: [] as string[], call: [] as string[], shared: 0, failed: [] as string[] }
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    const [what = '', ...of] = line.split(' ')
    if (what === 'shared') told.shared++
    else told[what as 'memory' | 'call' | 'failed'].push(of.join(' '))
  })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const ended = once(child, 'close').then(([code]) => {
    running.delete(child)
    return { code, complaints }
  })
  return {
    told,
    ended,
    kill: () => child.kill('SIGKILL'),
    finish: () => child.stdin.end(),
    /** Waits until it has acknowledged so many more calls. */
    async acknowledges(more: number): Promise<void> {
      const enough = told.call.length + more
      await until(() => told.call.length >= enough, { what: `${more} more acknowledged calls`, seconds: 30 })
    },
  }
}

type Instance = ReturnType<typeof startInstance>

/** Nothing acknowledged is lost, and nothing is there twice. */
async function verify(url: string, instances: readonly Instance[]): Promise<void> {
  const store = await openStore(url)
  const memories = await store.db.selectFrom('memories').select(['key', 'version', 'bytes', 'namespace']).execute()
  const version = new Map(memories.map((row) => [row.key, row.version]))
  const calls = await store.db.selectFrom('calls').select('call_id').execute()
  const stored = new Set(calls.map((row) => row.call_id))
  const lost = instances.flatMap(({ told }) => [
    ...told.memory.filter((key) => version.get(key) !== 1),
    ...told.call.filter((id) => !stored.has(id)),
  ])
  assert.deepEqual(lost, [])
  assert.deepEqual(
    memories.filter((row) => row.key !== 'shared' && row.version !== 1),
    [],
  )
  const acknowledged = instances.reduce((sum, { told }) => sum + told.shared, 0)
  // Of each stream, the write that its failure or its end cut off may have been kept without being heard of.
  const unheard = instances.reduce((sum, { told }) => sum + told.failed.length + 4, 0)
  const shared = version.get('shared') ?? 0
  assert.ok(shared >= acknowledged && shared <= acknowledged + unheard, `${shared} of ${acknowledged} + ${unheard}`)

  const memory = createMemory({ store, now: () => new Date() })
  const { count, bytes } = await memory.stats()
  assert.equal(count, memories.length)
  assert.equal(
    bytes,
    memories.reduce((sum, row) => sum + row.bytes, 0),
  )
  const { totals } = await createCalls({ store, onError: (error) => assert.fail(String(error)) }).stats({})
  assert.equal(totals.calls, calls.length)
  await store.close()
}

/** Ends all connections to a database but that of `admin`. */
const killConnections = (admin: pg.Client) =>
  admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`)

async function finish(instances: readonly Instance[]): Promise<void> {
  for (const instance of instances) instance.finish()
  for (const { ended } of instances) assert.deepEqual(await ended, { code: 0, complaints: '' })
}

describe('three gateways on one PostgreSQL', () => {
  it('create its schema together, each step once', { timeout: 60_000 }, async () => {
    const url = await server.database()
    const stores = await Promise.all(Array.from({ length: 6 }, () => openStore(url)))
    for (const store of stores) {
      const rows = await store.db
        .withTables<{ kysely_migration: { name: string } }>()
        .selectFrom('kysely_migration')
        .select('name')
        .orderBy('name')
        .execute()
      assert.deepEqual(
        rows.map((row) => row.name),
        Object.keys(MIGRATIONS),
      )
      await store.close()
    }
  })

  it('lose nothing and repeat nothing while connections are cut', { timeout: 120_000 }, async () => {
    const url = await server.databaseWithTables()
    const instances = ['a', 'b', 'c'].map((name) => startInstance(url, name))
    await Promise.all(instances.map((instance) => instance.acknowledges(20)))
    const admin = new pg.Client(url)
    await admin.connect()
    for (let cut = 0; cut < 10; cut++) {
      await killConnections(admin)
      await Promise.all(instances.map((instance) => instance.acknowledges(1 + (cut % 3))))
    }
    await admin.end()
    await finish(instances)
    await verify(url, instances)
    assert.deepEqual(
      instances.flatMap(({ told }) => told.failed),
      [],
      'every cut was bridged',
    )
  })

  it('lose nothing and go on by themselves when the server is stopped and started', { timeout: 120_000 }, async () => {
    const url = await server.databaseWithTables()
    const instances = ['a', 'b', 'c'].map((name) => startInstance(url, name))
    for (let round = 0; round < 2; round++) {
      await Promise.all(instances.map((instance) => instance.acknowledges(20)))
      await server.stop()
      await server.start()
      await Promise.all(instances.map((instance) => instance.acknowledges(1)))
    }
    await finish(instances)
    await verify(url, instances)
  })

  it('lose nothing when one of them is killed, and the others go on', { timeout: 120_000 }, async () => {
    const url = await server.databaseWithTables()
    const [first, ...others] = ['a', 'b', 'c'].map((name) => startInstance(url, name)) as [Instance, Instance, Instance]
    await Promise.all([first, ...others].map((instance) => instance.acknowledges(20)))
    first.kill()
    await first.ended
    await Promise.all(others.map((instance) => instance.acknowledges(5)))
    await finish(others)
    await verify(url, [first, ...others])
  })
})

describe('a PostgreSQL that cannot be used', () => {
  it('is named without its password when nothing listens there', { timeout: 60_000 }, async () => {
    await assert.rejects(
      openStore('postgres://me:secret-word@127.0.0.1:1/records'),
      (error: Error & { code: string }) => {
        assert.equal(error.code, 'store_unavailable')
        assert.match(error.message, /postgres:\/\/127\.0\.0\.1:1\/records cannot be reached.*Check its address/)
        assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)}`, /secret-word/)
        return true
      },
    )
  })

  it('says at once that the password or the database is wrong', async () => {
    const url = new URL(await server.database())
    const wrong = new URL(url)
    wrong.password = 'wrong-secret'
    await assert.rejects(openStore(wrong.href), (error: Error & { code: string }) => {
      assert.equal(error.code, 'store_unavailable')
      assert.match(error.message, /refused the user or the password/)
      assert.doesNotMatch(error.message, /wrong-secret/)
      return true
    })
    url.pathname = '/nowhere'
    await assert.rejects(openStore(url.href), { code: 'store_unavailable', message: /no such database/ })
  })

  it('says what is wrong with its URL', async () => {
    for (const url of [
      'postgres://h:port/d',
      'postgres://h/d?pool_size=many',
      'postgres://h/d?sslrootcert=/no/such/file',
    ])
      await assert.rejects(openStore(url), { code: 'config_invalid', param: 'store' }, url)
  })

  it('stops a statement that takes too long', async () => {
    const store = await openStore(`${await server.databaseWithTables()}?statement_timeout=200`)
    await assert.rejects(sql`select pg_sleep(5)`.execute(store.db), { code: 'store_unavailable', message: /too long/ })
    assert.equal(await store.check(), true)
    await store.close()
  })

  it('keeps its own limits and way of writing times, whatever its role and database have', async () => {
    const url = await server.database()
    const admin = new pg.Client(url)
    await admin.connect()
    for (const setting of ["datestyle = 'German, DMY'", 'statement_timeout = 1', 'timezone = "Asia/Kathmandu"'])
      await admin.query(`alter database ${admin.database} set ${setting}`)
    await admin.end()
    const store = await openStore(`${url}?statement_timeout=0`)
    const memory = createMemory({ store, now: () => new Date('2026-11-21T07:17:52.123Z') })
    await memory.store(MemoryInput.parse({ key: 'k', value: 1 }))
    const found = await memory.recall({ namespace: 'default', key: 'k' })
    assert.equal(found.memory?.updated_at, '2026-11-21T07:17:52.123Z')
    await sql`select pg_sleep(0.1)`.execute(store.db)
    await store.close()
  })

  it('greets a server, or the pooler before it, with nothing but what all of them know', async () => {
    const { port } = new URL(await server.database())
    const greetings: string[] = []
    const pooler = createServer((client) => {
      client.once('data', (greeting) => {
        greetings.push(greeting.toString('latin1', 8))
        const upstream = connect(Number(port), '127.0.0.1', () => upstream.write(greeting))
        client.pipe(upstream).pipe(client)
        for (const socket of [client, upstream]) socket.on('error', () => {})
      })
    })
    await once(pooler.listen(0, '127.0.0.1'), 'listening')
    const through = new URL(await server.database())
    through.port = String((pooler.address() as AddressInfo).port)
    const store = await openStore(through.href)
    await store.close()
    pooler.close()
    assert.ok(greetings.length > 0)
    for (const greeting of greetings) {
      const names = greeting.split('\0').filter((text, i) => i % 2 === 0 && text !== '')
      // What PgBouncer takes without being told to.
      assert.deepEqual(names.sort(), ['application_name', 'client_encoding', 'database', 'user'])
    }
  })

  it('is written again once its address leads to one that is not read-only', async () => {
    const url = await server.database()
    const admin = new pg.Client(url)
    await admin.connect()
    // As behind an address that leads to a standby for a while: what connects then can only read, whatever comes later.
    const readOnly = (on: boolean) =>
      admin.query(`alter database ${admin.database} set default_transaction_read_only = ${on}`)
    const store = await openStore(url)
    await killConnections(admin)
    await readOnly(true)
    const read = () => store.db.selectFrom('sweeps').selectAll().execute()
    await Promise.all(Array.from({ length: 8 }, read))
    assert.equal(await store.check(), false)
    await readOnly(false)
    const memory = createMemory({ store, now: () => new Date() })
    await memory.store(MemoryInput.parse({ key: 'k', value: 1 }))
    await store.close()
    await admin.end()
  })

  it('is reported as read-only while it is', { timeout: 60_000 }, async () => {
    const url = await server.databaseWithTables()
    const store = await openStore(url)
    const admin = new pg.Client(url)
    await admin.connect()
    await admin.query(`alter database ${admin.database} set default_transaction_read_only = on`)
    await killConnections(admin)
    const memory = createMemory({ store, now: () => new Date() })
    await assert.rejects(memory.store(MemoryInput.parse({ key: 'k', value: 1 })), {
      code: 'store_unavailable',
      message: /read-only; point the store URL at the primary server/,
    })
    assert.equal(await store.check(), false)
    await store.close()
    await admin.end()
  })

  it('ends transactions that take too long without losing a record', { timeout: 60_000 }, async () => {
    const url = await server.databaseWithTables()
    const admin = new pg.Client(url)
    await admin.connect()
    const faults: unknown[] = []
    const store = await openStore(url)
    await admin.query(`alter database ${admin.database} set transaction_timeout = 300`)
    await killConnections(admin)
    const calls = createCalls({ store, onError: (error) => faults.push(error) })
    await admin.query('begin; lock table calls in access exclusive mode')
    calls.record(callAt(Date.now()))
    calls.record(callAt(Date.now()))
    const written = calls.flush()
    // One write, and another one of what it was given up for, are ended; the third is let through.
    const waiting = new Set<number>()
    await until(async () => {
      for (const { pid } of (await admin.query(`select pid from pg_locks where not granted`)).rows) waiting.add(pid)
      return waiting.size >= 3
    })
    await admin.query('rollback')
    await written
    assert.equal((await calls.history({ limit: 1 })).total, 2)
    assert.deepEqual(faults, [])
    await store.close()
    await admin.end()
  })

  it('fails its health check without delay while it is down, and a write after a while', {
    timeout: 60_000,
  }, async () => {
    const own = await startPostgres()
    const store = await openStore(await own.databaseWithTables())
    assert.equal(await store.check(), true)
    await own.stop()
    const asked = Date.now()
    assert.equal(await store.check(), false)
    assert.ok(Date.now() - asked < 10_000)
    const wanted = Date.now()
    const memory = createMemory({ store, now: () => new Date() })
    await assert.rejects(memory.store(MemoryInput.parse({ key: 'k', value: 1 })), {
      code: 'store_unavailable',
      status: 503,
    })
    assert.ok(Date.now() - wanted < 20_000)
    await store.close()
    await own.remove()
  })
})
