import { randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { access, constants, type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { GazewayError } from '../errors.ts'
import { nullIfMissing } from '../text/missing-file.ts'
import { syncFolder } from './make-folder.ts'
import { renameInUse } from './rename-in-use.ts'

/** Age in milliseconds from which a temporary file is a leftover of a killed process. */
const LEFTOVER_MS = 60_000
/** Suffix of a temporary file. Matched exactly, because other programs have temporary files as well. */
const TEMPORARY = /^\.\d+\.[0-9a-f]{12}\.tmp$/

/** Mode and owner to give the new file. */
export interface Like {
  mode: number
  /** Defaults to the user of this process. */
  owner?: { uid: number; gid: number }
}

/**
 * Replaces or creates a file atomically: writes a temporary file, flushes it, renames it and flushes the folder. A
 * crash leaves the old or the new content.
 *
 * @param like mode and owner; by default only for this user
 * @param check runs right before each try to rename; when it throws, nothing is replaced
 * @throws GazewayError `store_unavailable` for a read-only file; the system's error, for {@link notWritten}, and
 *   whatever `check` throws
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { check, like }: { check?: () => void; like?: Like } = {},
): Promise<void> {
  await requireNotReadOnly(file)
  await removeLeftovers(file)
  const temporary = `${file}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
  try {
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(content)
      if (like !== undefined) await makeLike(handle, like)
      await handle.sync()
    } finally {
      await handle.close()
    }
    await renameInUse(() => {
      check?.()
      // Synchronous: if the event loop ran first, an editor could save changes that this would overwrite.
      renameSync(temporary, file)
    })
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(file))
}

/**
 * Checks that an existing file may be written. A rename would replace a read-only one, as it only needs a writable folder.
 *
 * @throws GazewayError `store_unavailable` for a file that is read-only, also to root
 */
export async function requireNotReadOnly(file: string): Promise<void> {
  const stats = await stat(file).catch(() => null)
  if (stats === null) return
  const isPermitted = await access(file, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (isPermitted && (stats.mode & 0o222) !== 0) return
  throw new GazewayError('store_unavailable', `${file}: not written, as it is read-only; make it writable first.`)
}

/** Converts the system's error to a message that says why a file was not written and what to do. */
export function notWritten(cause: unknown, file: string, platform = process.platform): GazewayError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
  if (code === 'ENOSPC' || code === 'EDQUOT') return diskFull(cause, file)
  if (platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(code)) {
    const message = `${file}: not written (${code}); close the programs that have it open. Its folder must be writable by this user.`
    return new GazewayError('store_unavailable', message, { cause })
  }
  // A mounted file cannot be replaced by a rename.
  if (code === 'EBUSY' || code === 'EXDEV') {
    const message = `${file}: not written, as it is a mount of its own; mount the folder that holds it instead.`
    return new GazewayError('store_unavailable', message, { cause })
  }
  const message = `${file}: not written (${code}); its folder must be writable by this user.`
  return new GazewayError('store_unavailable', message, { cause })
}

/** Error of a file that a full disk has no room for. */
export const diskFull = (cause: unknown, file: string): GazewayError =>
  new GazewayError('store_full', `${file}: not written, the disk is full; free some space.`, { cause })

/** Applies mode and owner, so that a file of another user keeps its owner when root changes it. */
async function makeLike(handle: FileHandle, { mode, owner }: Like): Promise<void> {
  const { uid, gid } = await handle.stat()
  if (owner !== undefined && (owner.uid !== uid || owner.gid !== gid)) await handle.chown(owner.uid, owner.gid)
  await handle.chmod(mode & 0o777)
}

/** Removes leftovers of killed processes. */
async function removeLeftovers(file: string): Promise<void> {
  const folder = dirname(file)
  const name = basename(file)
  for (const found of await readdir(folder)) {
    if (!found.startsWith(name) || !TEMPORARY.test(found.slice(name.length))) continue
    const path = join(folder, found)
    // Another process may have renamed its own since.
    const stats = await stat(path).catch(nullIfMissing)
    if (stats !== null && Date.now() - stats.mtimeMs > LEFTOVER_MS) await rm(path, { force: true })
  }
}
