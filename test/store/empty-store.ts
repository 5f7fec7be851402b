import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'

/** Empty store that the files of a run copy; `npm test` names it, and the first process that needs it makes it. */
const SHARED = process.env.GAZEWAY_TEST_STORE
let empty: Promise<Buffer> | undefined

/**
 * Opens an empty SQLite store in a new file: a copy of one that was migrated once, because migrations take fifty times as
 * long as all else of it.
 */
export async function openEmptyStore(file: string): Promise<Store> {
  writeStore(file, await emptyStore())
  return openStore(`sqlite:${file}`)
}

/** Gives a data folder an empty store, unless it has one, for a gateway that is to open it. */
export async function putEmptyStore(folder: string): Promise<void> {
  const file = join(folder, 'gazeway.db')
  if (!existsSync(file)) writeStore(file, await emptyStore())
}

/** The file of a store right after its migrations. */
export function emptyStore(): Promise<Buffer> {
  empty ??= SHARED === undefined ? migrated() : shared(SHARED)
  return empty
}

/** Writes a store's file, for this user alone. */
export function writeStore(file: string, bytes: Buffer): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, bytes, { mode: 0o600 })
}

async function shared(file: string): Promise<Buffer> {
  if (existsSync(file)) return readFileSync(file)
  const bytes = await migrated()
  // Others may read it meanwhile, or make it, too.
  const draft = `${file}-${process.pid}`
  writeFileSync(draft, bytes)
  renameSync(draft, file)
  return bytes
}

async function migrated(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-empty-'))
  const file = join(folder, 'gazeway.db')
  try {
    await (await openStore(`sqlite:${file}`)).close()
    return readFileSync(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
