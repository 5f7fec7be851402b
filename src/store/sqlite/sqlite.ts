import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Kysely, sql, type Transaction } from 'kysely'
import { GazewayError } from '../../errors.ts'
import { inTime } from '../../wire/with-timeout.ts'
import { makeFolder } from '../make-folder.ts'
import { migrate } from '../migrate.ts'
import type { Schema } from '../schema.ts'
import type { Store } from '../store.ts'
import { type Database, driver } from './driver.ts'
import { readerDialect } from './reader.ts'
import type { ReaderData } from './reader-messages.ts'
import { BUSY_TIMEOUT_MS, type Connections, nodeSqliteDialect, PATIENCE_MS, untilFree } from './sqlite-dialect.ts'
import { isDamaged, refusesWrites, storeError } from './sqlite-errors.ts'

/**
 * Pages of the log that a checkpoint moves into the file. Smaller than SQLite's default of 1000, because a checkpoint
 * blocks everything else.
 */
const LOG_PAGES = 300
/**
 * Changed pages that a transaction keeps in memory, 16 MB. Further pages are written to the log early, and again after
 * each later change.
 */
const HELD_PAGES = 4000
/** Free pages that a file keeps at least. */
const RESERVED_PAGES = 1_000
/** Longest wait for another process that migrates the store; a step over a large table takes minutes. */
const MIGRATION_PATIENCE_MS = 1_800_000
/** Time limit of the health check. */
const CHECK_TIMEOUT_MS = 2_000

/**
 * Opens a SQLite store, and creates and migrates it. Several processes may open the same file, with a log (WAL): this
 * requires SQLite 3.51.3, since older ones could lose commits; see `driver.ts`.
 *
 * @throws GazewayError `store_unavailable`, `store_corrupt` or `store_too_new`, naming the file, which is then
 *   unchanged
 */
export async function openSqlite(file: string): Promise<Store> {
  const database = open(file)
  let isMigrating = true
  const patienceMs = () => (isMigrating ? MIGRATION_PATIENCE_MS : PATIENCE_MS)
  const connections: Connections = { writing: database, openReading: null, latestWrite: null, patienceMs }
  const db = new Kysely<Schema>({ dialect: nodeSqliteDialect(file, connections) })
  try {
    // In a new file only, so that what is deleted later can be given back: in others the pragma is a write, or nothing.
    if (statSync(file).size === 0) await sql`pragma auto_vacuum = incremental`.execute(db)
    await migrate(db, 'sqlite', file)
    isMigrating = false
    // The first of several processes changes the mode of a new file and locks the others out meanwhile.
    await untilFree(file, () => database.exec('pragma journal_mode = WAL; pragma synchronous = FULL'))
    database.exec(`pragma wal_autocheckpoint = ${LOG_PAGES}`)
    // After the migrations, which may sort more than fits into memory. Otherwise a batch of records writes a rollback
    // file.
    database.exec('pragma temp_store = memory')
    database.exec(`pragma cache_spill = ${HELD_PAGES}`)
    // Overwrites what is deleted in pages that are written anyway. Pages that become free keep it until they are used again.
    database.exec('pragma secure_delete = fast')
    // After the log exists: without a log, reads and writes exclude each other.
    connections.openReading = () => openReading(file)
  } catch (error) {
    await db.destroy()
    throw storeError(error, file)
  }
  const reads = new Kysely<Schema>({ dialect: readerDialect(file, () => readerData(file)) })
  let takesWrites = isWritable(file)
  const write: Store['write'] = async (work) => {
    try {
      const result = await db.transaction().execute(work)
      takesWrites = true
      return result
    } catch (error) {
      if (refusesWrites(error)) takesWrites = false
      throw error
    }
  }
  return {
    engine: 'sqlite',
    db,
    reads,
    lookups: reads,
    write,
    snapshot: (work) => reads.transaction().setAccessMode('read only').execute(work),
    check: async () =>
      (await inTime(
        CHECK_TIMEOUT_MS,
        answers(file, async () => {
          await (takesWrites ? sql`select 1`.execute(db) : write(leaveNothing))
          await connections.latestWrite
        }),
      )) ?? false,
    shrink: (pages) => write(async () => shrink(database, pages)),
    async close() {
      try {
        await reads.destroy()
      } finally {
        await db.destroy()
      }
    },
  }
}

/** Data with which the reader's thread opens the file. */
function readerData(file: string): ReaderData {
  const found = location(file)
  return { location: String(found), isUrl: found instanceof URL }
}

/**
 * Opens a SQLite file for reading. Creates nothing beside it, unless there is a log to read.
 *
 * @throws GazewayError `store_unavailable`
 */
export function readSqlite(file: string): Kysely<Schema> {
  const database = opened(file, () => driver.open(hasLog(file) ? file : unchanging(file), { readOnly: true }))
  return new Kysely<Schema>({
    dialect: nodeSqliteDialect(file, {
      writing: database,
      openReading: null,
      latestWrite: null,
      patienceMs: () => PATIENCE_MS,
    }),
  })
}

function open(file: string): Database {
  return opened(file, () => {
    makeFolder(dirname(file))
    // For this user only; the log takes the file's mode.
    if (!existsSync(file)) closeSync(openSync(file, 'a', 0o600))
    return driver.open(location(file))
  })
}

function openReading(file: string): Database {
  const database = opened(file, () => driver.open(location(file), { readOnly: true }))
  database.exec(`pragma busy_timeout = ${BUSY_TIMEOUT_MS}; pragma temp_store = memory`)
  return database
}

function opened(file: string, make: () => Database): Database {
  try {
    const database = make()
    database.exec('pragma busy_timeout = 5000')
    return database
  } catch (error) {
    throw new GazewayError(
      'store_unavailable',
      isForeign(file)
        ? `The store ${file} belongs to another user. Give it to this one, with the files -wal and -shm beside it.`
        : `The store ${file} cannot be opened. Check that its folder exists and is writable.`,
      { cause: error, file },
    )
  }
}

function isForeign(file: string): boolean {
  try {
    closeSync(openSync(file, 'r+'))
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES'
  }
}

/**
 * Location of the file for SQLite. A file that cannot be written has no room for a log and no writer, so it is opened
 * as immutable (https://sqlite.org/wal.html#read_only_databases).
 */
function location(file: string): string | URL {
  return hasLog(file) || (isWritable(dirname(file)) && isWritable(file)) ? file : unchanging(file)
}

/** Tells whether a file has an unmerged log, or another process has it open. */
const hasLog = (file: string): boolean =>
  existsSync(`${file}-shm`) || (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0

function unchanging(file: string): URL {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return url
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Gives free pages back, inside a transaction. The reserve is a tenth of the file, and at least 4 MB. */
function shrink(database: Database, pages: number): boolean {
  const figure = (name: string) => Number(Object.values(database.prepare(`pragma ${name}`).get() ?? {})[0] ?? 0)
  // Files of before cannot give pages back until a backup of them was restored.
  if (figure('auto_vacuum') !== 2) return false
  const spare = figure('freelist_count') - Math.max(RESERVED_PAGES, Math.floor(figure('page_count') / 10))
  if (spare <= 0) return false
  database.exec(`pragma incremental_vacuum(${Math.min(pages, spare)})`)
  return spare > pages
}

/** Performs a write that changes nothing. */
async function leaveNothing(trx: Transaction<Schema>): Promise<void> {
  await trx.insertInto('sweeps').values({ name: '', next_at: '' }).execute()
  await trx.deleteFrom('sweeps').where('name', '=', '').execute()
}

async function answers(file: string, ask: () => Promise<unknown>): Promise<boolean> {
  try {
    await ask()
    // A deleted file still answers, but its writes are lost when the process ends. A damaged one answers most queries.
    return existsSync(file) && !isDamaged(file)
  } catch {
    // The health check reports only the failure; callers of the store get the reason.
    return false
  }
}
