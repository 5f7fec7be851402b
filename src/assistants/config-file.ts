import { existsSync, lstatSync, readFileSync, rmdirSync, type Stats, statSync, unlinkSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { GazewayError } from '../errors.ts'
import { makeFolder } from '../store/make-folder.ts'
import { type Like, notWritten, replaceFile, requireNotReadOnly } from '../store/replace-file.ts'
import { isMissing } from '../text/missing-file.ts'

/** Largest file accepted, in bytes. Configuration files are smaller. */
const MAX_BYTES = 64 << 20
const BOM = '\uFEFF'

/** A file as it was read. */
export interface ConfigFile {
  path: string
  /** Null when it does not exist. */
  bytes: Buffer | null
  /** Content without a byte order mark; empty when it does not exist. */
  text: string
  hasBom: boolean
}

/**
 * Reads an assistant's file.
 *
 * @param within folder below which no parent may be a link: a project comes from others
 * @throws GazewayError `config_invalid` for anything but a text file: a link, a folder, not UTF-8; `forbidden` when it
 *   is not readable
 */
export function readConfigFile(path: string, within?: string): ConfigFile {
  if (within !== undefined) refuseLinks(path, within)
  const stats = statsOf(path)
  if (stats === null) return { path, bytes: null, text: '', hasBom: false }
  if (stats.isSymbolicLink())
    throw refused(path, 'is a link', 'Change the file that it leads to by hand, as `--print` shows it')
  if (!stats.isFile()) throw refused(path, 'is no file', 'Move it away')
  if (stats.nlink > 1) throw refused(path, 'is a hard link', 'Replacing it would break the link: change it by hand')
  if (stats.size > MAX_BYTES) throw refused(path, `is larger than ${MAX_BYTES >> 20} MB`, 'Change it by hand')
  const bytes = readBytes(path)
  const text = decoded(path, bytes)
  const hasBom = text.startsWith(BOM)
  return { path, bytes, text: hasBom ? text.slice(1) : text, hasBom }
}

/** Encodes a new text for a file. */
export const bytesOf = ({ hasBom }: ConfigFile, text: string): Buffer => Buffer.from(hasBom ? BOM + text : text)

/**
 * Replaces or deletes an assistant's file atomically.
 *
 * @param next null deletes the file
 * @param backup path for a copy of its current content; null for none
 * @param within as when it was read
 * @param isPrivate true for content that no other user may read
 * @throws GazewayError `conflict` when it has changed since it was read, `store_unavailable` also for a read-only file,
 *   `store_full`; nothing is changed then
 */
export async function writeConfigFile(
  seen: ConfigFile,
  next: Buffer | null,
  { backup, within, isPrivate }: { backup: string | null; within?: string | undefined; isPrivate?: boolean },
): Promise<void> {
  const { path, bytes } = seen
  const check = () => {
    const now = readConfigFile(path, within).bytes
    if (now === null ? bytes === null : bytes?.equals(now)) return
    throw new GazewayError('conflict', `${path} was changed by another program meanwhile; nothing was written. Retry.`)
  }
  try {
    makeFolder(dirname(path), within === undefined ? 0o700 : 0o777)
    const like = likeOf(path, within === undefined ? 0o600 : 0o666 & ~process.umask())
    check()
    await requireNotReadOnly(path)
    if (backup !== null && bytes !== null) await replaceFile(backup, bytes, { like })
    if (next !== null)
      return await replaceFile(path, next, { check, like: isPrivate ? { ...like, mode: like.mode & 0o700 } : like })
    check()
    unlinkSync(path)
    if (within !== undefined) removeEmptyFolder(dirname(path), within)
  } catch (error) {
    throw error instanceof GazewayError ? error : notWritten(error, path)
  }
}

/**
 * Rejects links between the project and the file.
 *
 * @throws GazewayError `config_invalid`
 */
function refuseLinks(path: string, within: string): void {
  const parts = relative(within, dirname(path)).split(sep)
  parts.forEach((_, index) => {
    const folder = resolve(within, ...parts.slice(0, index + 1))
    if (folder !== resolve(within) && statsOf(folder)?.isSymbolicLink())
      throw refused(folder, 'is a link', 'Nothing is written through it: change the file by hand')
  })
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (cause) {
    if (isMissing(cause)) return null
    throw unreadable(path, cause)
  }
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

function decoded(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw refused(path, 'is not UTF-8', 'Save it as UTF-8')
  }
}

/** Mode and owner for the file. A new one takes the owner of its folder, in case root creates it for someone else. */
function likeOf(path: string, mode: number): Like {
  const isThere = existsSync(path)
  const { uid, gid, mode: found } = statSync(isThere ? path : dirname(path))
  const owner = process.getuid?.() === 0 || isThere ? { owner: { uid, gid } } : {}
  return { mode: isThere ? found : mode, ...owner }
}

/** Removes a project's folder when it is empty. */
function removeEmptyFolder(folder: string, within: string): void {
  if (resolve(folder) === resolve(within)) return
  try {
    rmdirSync(folder)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['ENOTEMPTY', 'EEXIST', 'EPERM', 'EACCES', 'EBUSY'].includes(code)) throw error
  }
}

const refused = (path: string, fault: string, advice: string): GazewayError =>
  new GazewayError('config_invalid', `${path} ${fault}. ${advice}; nothing was changed.`)

const unreadable = (path: string, cause: unknown): GazewayError =>
  new GazewayError(
    'forbidden',
    `${path}: cannot be read (${(cause as NodeJS.ErrnoException).code}); it must be readable by this user.`,
    { cause },
  )
