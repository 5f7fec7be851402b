import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { GazewayError } from '../../src/errors.ts'
import { renameInUse } from '../../src/store/rename-in-use.ts'
import { nullIfMissing } from '../../src/text/missing-file.ts'

/** The store in a backup. */
export const STORE_FILE = 'gazeway.db'
/** Files of the data folder that belong to a store: its settings, and the key that statements are signed with. */
export const KEPT_FILES = ['config.json', 'signing-key.json'] as const
/** The digests of a backup, as `sha256sum --check` reads them. */
export const SUMS_FILE = 'SHA256SUMS'

/** Names of backups sort by their time. */
const NAME = /^gazeway-\d{8}T\d{9}Z$/
/** Name of a backup that is being made, or removed. */
const PARTIAL = /^gazeway-\d{8}T\d{9}Z\.partial$/

/** Name of a backup that begins at a time. */
export const backupName = (at: Date): string => `gazeway-${at.toISOString().replace(/[-:.]/g, '')}`

/** Backups in a folder, the oldest first. */
export async function listBackups(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => NAME.test(name))
  return names.filter((name) => existsSync(join(folder, name, SUMS_FILE))).sort()
}

/** Removes a backup, which counts as none from the first moment on. */
export async function removeBackup(folder: string, name: string): Promise<void> {
  const partial = join(folder, `${name}.partial`)
  await renameInUse(() => rename(join(folder, name), partial), { isClosedStore: true })
  await rm(partial, { recursive: true, force: true })
}

/** Removes backups whose making or removal was interrupted. */
export async function removePartial(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (PARTIAL.test(name)) await rm(join(folder, name), { recursive: true, force: true })
}

/** Writes the digests of the files of a backup. */
export async function writeSums(backup: string, files: readonly string[]): Promise<void> {
  const lines = await Promise.all(files.map(async (file) => `${await digestOf(join(backup, file))}  ${file}\n`))
  await writeFile(join(backup, SUMS_FILE), lines.join(''), { mode: 0o600 })
}

/**
 * Compares the files of a backup with their digests. Each file that is restored has to have one.
 *
 * @returns their number
 * @throws GazewayError `store_corrupt` naming the file that was changed or is missing
 */
export async function checkSums(backup: string): Promise<number> {
  const fault = (found: string) => new GazewayError('store_corrupt', `${backup}: ${found}. Use an earlier backup.`)
  const text = await readFile(join(backup, SUMS_FILE), 'utf8').catch(nullIfMissing)
  if (text === null) throw fault(`${SUMS_FILE} is missing`)
  const digests = new Map<string, string>()
  for (const line of text.split('\n').filter((line) => line !== '')) {
    const [, digest, file] = /^([0-9a-f]{64}) {2}([\w.-]+)$/.exec(line) ?? []
    if (digest === undefined || file === undefined) throw fault(`${SUMS_FILE} was changed`)
    digests.set(file, digest)
  }
  for (const file of [STORE_FILE, ...KEPT_FILES])
    if (!digests.has(file) && existsSync(join(backup, file))) throw fault(`${SUMS_FILE} has no digest of ${file}`)
  for (const [file, digest] of digests) {
    const found = await digestOf(join(backup, basename(file))).catch(nullIfMissing)
    if (found === null) throw fault(`${file} is missing`)
    if (found !== digest) throw fault(`${file} was changed after it was written`)
  }
  return digests.size
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}
