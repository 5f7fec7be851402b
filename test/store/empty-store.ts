import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'

let empty: Promise<Buffer> | undefined

/**
 * Opens an empty SQLite store in a new file: a copy of one that this process migrated once, because migrations take ten
 * times as long as all else of it.
 */
export async function openEmptyStore(file: string): Promise<Store> {
  empty ??= migrated()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, await empty, { mode: 0o600 })
  return openStore(`sqlite:${file}`)
}

/** The file of a store right after its migrations. */
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
