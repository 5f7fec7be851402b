import { randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { GazewayError } from '../errors.ts'
import { syncFolder } from './make-folder.ts'

/** How long a temporary file may be in use, in milliseconds; older ones are of killed processes. */
const LEFTOVER_MS = 60_000
/** What is added to the name of a file for its temporary one. Others keep files beside theirs, too. */
const TEMPORARY = /^\.\d+\.[0-9a-f]{12}\.tmp$/

/** What a file gets of another. */
export interface Like {
  mode: number
  /** Left out: the user of this process. */
  owner?: { uid: number; gid: number }
}

/**
 * Replaces a file, or makes it: writes beside it, flushes, renames over it and flushes the folder. A crash leaves the old
 * content or the new one.
 *
 * @param like mode and owner; by default it is this user's alone
 * @param check runs last before the rename; when it throws, nothing is replaced
 * @throws the system's error, for {@link notWritten}, and whatever `check` throws
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { check, like }: { check?: () => void; like?: Like } = {},
): Promise<void> {
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
    check?.()
    // At once: in a turn of the event loop an editor could save what this would write over.
    renameSync(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(file))
}

/** Why a file was not written and what to do, from the system's error. */
export function notWritten(cause: unknown, file: string): GazewayError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new GazewayError('store_full', `${file}: not written, the disk is full; free some space.`, { cause })
  // It cannot be renamed over.
  if (code === 'EBUSY' || code === 'EXDEV') {
    const message = `${file}: not written, as it is a mount of its own; mount the folder that holds it instead.`
    return new GazewayError('store_unavailable', message, { cause })
  }
  const message = `${file}: not written (${code}); its folder must be writable by this user.`
  return new GazewayError('store_unavailable', message, { cause })
}

/** The file of another user stays theirs where root changes it. */
async function makeLike(handle: FileHandle, { mode, owner }: Like): Promise<void> {
  const { uid, gid } = await handle.stat()
  if (owner !== undefined && (owner.uid !== uid || owner.gid !== gid)) await handle.chown(owner.uid, owner.gid)
  await handle.chmod(mode & 0o777)
}

/** Removes what killed processes left behind. */
async function removeLeftovers(file: string): Promise<void> {
  const folder = dirname(file)
  const name = basename(file)
  for (const found of await readdir(folder)) {
    if (!found.startsWith(name) || !TEMPORARY.test(found.slice(name.length))) continue
    const path = join(folder, found)
    if (Date.now() - (await stat(path)).mtimeMs > LEFTOVER_MS) await rm(path, { force: true })
  }
}
