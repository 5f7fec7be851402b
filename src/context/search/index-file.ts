import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isUnreadable } from '../../repository/confine.ts'
import { openSegment, type Segment } from './segment.ts'

/** Folder of the index files, in the data folder. */
const INDEX_FOLDER = 'file-index'
const ENDING = '.index'
const DRAFT = '.draft'
/** Maximum number of index files that are kept; the least recently used are deleted. */
const MAX_FILES = 32
/** Age after which a draft counts as left over from a dead process and is deleted. */
const DRAFT_FOR_MS = 3_600_000
/** Largest index file that is read, in bytes. */
const MAX_BYTES = 1024 * 1024 * 1024

/** Returns the path of the index file of a root. */
export function indexFileOf(dataFolder: string, root: string): string {
  return join(dataFolder, INDEX_FOLDER, `${createHash('sha256').update(root).digest('hex').slice(0, 40)}${ENDING}`)
}

/**
 * Opens the index file of a root.
 *
 * @returns null, so that the index is built again, when the file:
 * - is missing, unreadable, damaged, a link, or larger than 1 GiB
 * - has another format, root or owner
 */
export function readIndexFile(path: string, root: string): Segment | null {
  const bytes = bytesOf(path)
  const segment = bytes && openSegment(bytes)
  return segment?.root === root ? segment : null
}

function bytesOf(path: string): Uint8Array | null {
  try {
    const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    try {
      const info = fstatSync(file)
      if (!info.isFile() || info.uid !== (process.getuid?.() ?? info.uid) || info.size > MAX_BYTES) return null
      const bytes = new Uint8Array(new SharedArrayBuffer(info.size))
      let length = 0
      while (length < bytes.length) {
        const read = readSync(file, bytes, length, bytes.length - length, null)
        if (read === 0) return null
        length += read
      }
      return bytes
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}

/** Marks an index file as just used; the least recently used files are deleted first. */
export function touchIndexFile(path: string, now: Date): void {
  try {
    utimesSync(path, now, now)
  } catch (error) {
    if (!isUnreadable(error)) throw error
  }
}

/**
 * Saves an index for later processes, readable by this user only. The file is replaced atomically: after a crash or a
 * concurrent write it holds one complete index.
 *
 * @throws the file system's error when it cannot be saved
 */
export function writeIndexFile(path: string, bytes: Uint8Array): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}${DRAFT}`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      let written = 0
      while (written < bytes.length) written += writeSync(file, bytes, written)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  removeOld(folder)
}

function removeOld(folder: string): void {
  const known = readdirSync(folder).flatMap((name) => {
    const info = statSync(join(folder, name), { throwIfNoEntry: false })
    return info?.isFile() ? [{ path: join(folder, name), usedAt: info.mtimeMs }] : []
  })
  const left = known.filter(({ path, usedAt }) => path.endsWith(DRAFT) && Date.now() - usedAt > DRAFT_FOR_MS)
  const unused = known
    .filter(({ path }) => path.endsWith(ENDING))
    .sort((a, b) => b.usedAt - a.usedAt)
    .slice(MAX_FILES)
  for (const { path } of [...left, ...unused]) rmSync(path, { force: true })
}
