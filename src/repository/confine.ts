import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { access, open, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { GazewayError } from '../errors.ts'
import { isMissing } from '../text/missing-file.ts'

/**
 * Resolves the links of the root.
 *
 * @throws GazewayError `not_found` (param `root`) when it is not a readable directory
 */
export async function resolveRoot(root: string): Promise<string> {
  const real = await realpath(root).catch((cause: unknown) => {
    throw noSuchRoot(root, cause)
  })
  if (!(await stat(real)).isDirectory()) throw noSuchRoot(root, undefined)
  await access(real, constants.R_OK | constants.X_OK).catch((cause: unknown) => {
    throw noSuchRoot(root, cause)
  })
  return real
}

function noSuchRoot(root: string, cause: unknown): GazewayError {
  const { code } = Object(cause) as NodeJS.ErrnoException
  const isHidden = code !== undefined && !isMissing(cause)
  const message = isHidden
    ? `The project root ${root} cannot be read (${code}). Let this user enter it and the folders above it, or pass the absolute path of another.`
    : `The project root ${root} is not a directory that can be read. Pass the absolute path of one. If it was moved, ` +
      'start the session again where it is now.'
  return new GazewayError('not_found', message, { param: 'root', cause })
}

/** Makes `path` relative to `root`, with forward slashes; null when it is outside `root`. */
function pathInside(root: string, path: string): string | null {
  const inside = relative(root, resolve(root, path))
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)) return null
  return sep === '/' ? inside : inside.replaceAll(sep, '/')
}

/**
 * Makes `path` relative to the first of `roots` that contains it; null when none does. `roots` are names of one root.
 */
export function insideAny(roots: readonly string[], path: string): string | null {
  for (const root of roots) {
    const inside = pathInside(root, path)
    if (inside !== null) return inside
  }
  return null
}

/**
 * Makes the caller's focus relative to the root, and tells whether it exists. `aliases` are other names of the root
 * (before its links were resolved).
 *
 * @throws GazewayError `forbidden_path` (param `focus`) when it is outside the root, or is a link that leads outside
 */
export async function resolveFocus(
  root: string,
  focus: string,
  aliases: readonly string[],
): Promise<{ path: string; exists: boolean }> {
  const path = insideAny([root, ...aliases], focus)
  if (path === null || focus.includes('\0')) throw focusOutside(focus, root)
  const real = await realpath(join(root, path)).catch(() => null)
  if (real !== null && pathInside(root, real) === null) throw focusOutside(focus, root)
  return { path, exists: real !== null }
}

function focusOutside(focus: string, root: string): GazewayError {
  const message = `The focus ${focus} is outside the project root ${root}. Name a file or folder inside it.`
  return new GazewayError('forbidden_path', message, { param: 'focus' })
}

/** Flags of `open` that fail on a link and do not block on a pipe without a writer. */
const WITHOUT_LINKS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Reads the first `limit` bytes of a regular file below the root. Links are not followed in any part of the path. Null
 * when the file is missing, is a link or not a regular file, or cannot be read.
 */
export async function readInside(root: string, path: string, limit: number): Promise<Buffer | null> {
  const full = join(root, path)
  try {
    if ((await realpath(full)) !== full) return null
    const file = await open(full, WITHOUT_LINKS)
    try {
      const info = await file.stat()
      if (!info.isFile()) return null
      const bytes = Buffer.alloc(Math.min(limit, info.size))
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0)
      return bytes.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

/** Synchronous {@link readInside}, for worker threads. */
export function readInsideSync(root: string, path: string, limit: number): Buffer | null {
  const full = join(root, path)
  try {
    if (realpathSync.native(full) !== full) return null
    const file = openSync(full, WITHOUT_LINKS)
    try {
      const info = fstatSync(file)
      if (!info.isFile()) return null
      const bytes = Buffer.allocUnsafe(Math.min(limit, info.size))
      return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

const UNREADABLE = new Set([
  'ENOENT',
  'ENOTDIR',
  'EACCES',
  'EPERM',
  'ELOOP',
  'EISDIR',
  'ENXIO',
  'ENAMETOOLONG',
  'EBUSY',
  'EIO',
])

/** Recognizes file system errors of a path that is missing, is a link, or is not permitted. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && UNREADABLE.has(String(error.code))
}
