import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { GazewayError } from '../errors.ts'
import { makeFolder, syncFolder } from '../store/make-folder.ts'
import { renameInUse } from '../store/rename-in-use.ts'
import { notWritten, replaceFile } from '../store/replace-file.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { KeyRow } from '../store/tables/keys-tables.ts'
import { keyIdOf } from './key-token.ts'

/** File of the first key in the data folder. */
const FILE = 'admin.key'

/**
 * Adds the first key to a store that never had one, and writes its token to `admin.key` (mode 0600, flushed). If
 * several processes start together, one of them does so. Replaces an `admin.key` of another store.
 *
 * @param made the key to add
 * @returns the token; null when the store has a key, even a revoked one
 * @throws GazewayError `store_unavailable` when the data folder is not writable; the store is unchanged then
 */
export async function keepFirstKey(
  store: Store,
  dataDir: string,
  made: { token: string; row: KeyRow },
): Promise<string | null> {
  if (await hasKeys(store.db)) return null
  const file = join(dataDir, FILE)
  const draft = `${file}.${made.row.id.slice(-12)}.tmp`
  try {
    // The file is written before the key is valid. Otherwise a full disk could leave a key whose token nobody knows.
    await writing(file, () => writeDraft(dataDir, draft, made.token))
    if (!(await claimFirst(store, made.row))) return null
    try {
      await writing(file, () => renameInUse(() => rename(draft, file)))
    } catch (error) {
      await store.db.deleteFrom('keys').where('id', '=', made.row.id).execute()
      throw error
    }
    await writing(file, () => syncFolder(dataDir))
    return made.token
  } finally {
    // Without a folder there is no draft to remove.
    await rm(draft, { force: true }).catch(() => {})
  }
}

/**
 * Writes the new token of a rotated key to `admin.key`, where that file holds the key.
 *
 * @returns the file; null when it is absent or holds another key
 * @throws GazewayError `store_unavailable` or `store_full` when the file cannot be written
 */
export async function renewKeyFile(dataDir: string, id: string, token: string): Promise<string | null> {
  const file = join(dataDir, FILE)
  const before = await readFile(file, 'utf8').catch(() => '')
  if (keyIdOf(before.trim()) !== id) return null
  await replaceFile(file, `${token}\n`).catch((error: unknown) => {
    throw notWritten(error, file)
  })
  return file
}

/** Inserts `row` when it is the first key. The unique column `first` decides on engines with concurrent writers. */
function claimFirst(store: Store, row: KeyRow): Promise<boolean> {
  return store.write(async (trx) => {
    if (await hasKeys(trx)) return false
    const claimed = await trx
      .insertInto('keys')
      .values({ ...row, first: 1 })
      .onConflict((conflict) => conflict.column('first').doNothing())
      .returning('id')
      .execute()
    return claimed.length === 1
  })
}

async function hasKeys(db: Kysely<Schema>): Promise<boolean> {
  return (await db.selectFrom('keys').select('id').limit(1).execute()).length > 0
}

async function writeDraft(folder: string, draft: string, token: string): Promise<void> {
  makeFolder(folder)
  const handle = await open(draft, 'wx', 0o600)
  try {
    await handle.writeFile(`${token}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function writing(file: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
    throw new GazewayError(
      'store_unavailable',
      `${file}: not written (${code}); its folder must be writable by this user. ` +
        'Otherwise create a key with gazeway key create, or set GAZEWAY_API_KEY.',
      { cause },
    )
  }
}
