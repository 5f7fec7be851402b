import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { GazewayError } from '../errors.ts'
import { isUnreadable, readInside } from '../repository/confine.ts'
import { inThread } from '../wire/in-thread.ts'
import { threadCode } from '../wire/thread.ts'
import { withinTime } from '../wire/time-limit.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'
import { SKIPPED_FOLDERS } from './skipped.ts'

const AT_ONCE = 32
const IGNORE_FILE_LIMIT = 256 * 1024
/** Longest pattern that is used. Longer ones match no path, and may exceed the size limit of a regular expression. */
const LONGEST_PATTERN = 4096
/** Time limit for all pattern matching. Hostile patterns could take minutes. */
const MATCH_LIMIT_MS = 2_000
/** Time limit for one batch of folders. A slower walk is started again in a worker thread. */
const HERE_MS = 30

/** Ignore rules that apply in a folder, innermost first. */
type Rules = ReadonlyArray<{ folder: string; matcher: Ignore }>

/** A folder still to be read, with the rules of the folders around it. */
interface Folder {
  path: string
  rules: Rules
}

/** A folder that was read. */
interface Listing extends Folder {
  entries: Dirent[]
  /** Its own `.gitignore`. */
  patterns: string | undefined
}

/**
 * Lists the files below `root` without git, those with the fewest folders above first. Nested `.gitignore` files apply
 * (gitignore's rules, by the `ignore` package). Links are neither listed nor followed.
 *
 * @param limit most files, and most folders that are read
 * @returns paths relative to the root with forward slashes, and whether the list is complete. Listing stops after 2 s
 *   of pattern matching
 * @throws GazewayError `cancelled` when the signal aborts, `too_many_requests`
 */
export async function walk(root: string, limit: number, signal?: AbortSignal): Promise<Walked> {
  const walked = await walkWithin({ root, limit, atOnceMs: HERE_MS }, signal)
  return walked ?? inThread<Walk, Walked>(CODE, { root, limit, atOnceMs: MATCH_LIMIT_MS }, signal)
}

const CODE = threadCode({ source: new URL('./walk-thread.ts', import.meta.url), name: 'context-walk' })

/** The result of a walk. */
export interface Walked {
  files: string[]
  complete: boolean
}

/** Parameters of a walk: root folder, most files, and the time limit for the patterns of one batch of folders. */
export interface Walk {
  root: string
  limit: number
  atOnceMs: number
}

/** Same as {@link walk} on this thread; null when matching one batch takes longer than `atOnceMs`. */
export async function walkWithin({ root, limit, atOnceMs }: Walk, signal?: AbortSignal): Promise<Walked | null> {
  const files: string[] = []
  let folders: Folder[] = [{ path: '', rules: [] }]
  let visited = 0
  let left = MATCH_LIMIT_MS

  while (folders.length > 0) {
    const next: Folder[] = []
    for (let i = 0; i < folders.length; i += AT_ONCE) {
      if (signal?.aborted) throw new GazewayError('cancelled', 'The caller cancelled the work context.')
      const batch = folders.slice(i, i + AT_ONCE)
      visited += batch.length
      const listings = await Promise.all(batch.map((folder) => readFolder(root, folder)))
      await yieldToEventLoop()
      const begun = performance.now()
      const sifted = withinTime(Math.min(left, atOnceMs), () => listings.map(sift))
      if (sifted === undefined && atOnceMs < left) return null
      left -= performance.now() - begun
      for (const found of sifted ?? []) {
        files.push(...found.files)
        next.push(...found.folders)
      }
      const complete = sifted !== undefined && left > 0 && files.length <= limit && visited <= limit
      if (!complete) return { files: files.slice(0, limit), complete }
    }
    folders = next
  }
  return { files, complete: true }
}

async function readFolder(root: string, folder: Folder): Promise<Listing> {
  const entries = await list(join(root, folder.path))
  const ignores = entries.some((entry) => entry.name === '.gitignore')
  const text = ignores ? await readInside(root, join(folder.path, '.gitignore'), IGNORE_FILE_LIMIT) : null
  return { ...folder, entries, patterns: text?.toString('utf8') }
}

/** Selects the entries of a folder that are not ignored. */
function sift({ path: folder, rules: outer, entries, patterns }: Listing): { files: string[]; folders: Folder[] } {
  const prefix = folder === '' ? '' : `${folder}/`
  const rules =
    patterns === undefined ? outer : [{ folder: prefix, matcher: ignore().add(patternsOf(patterns)) }, ...outer]
  const files: string[] = []
  const folders: Folder[] = []
  for (const entry of entries) {
    const path = `${prefix}${entry.name}`
    if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name) && !isIgnored(`${path}/`, rules))
      folders.push({ path, rules })
    if (entry.isFile() && !isIgnored(path, rules)) files.push(path)
  }
  return { files, folders }
}

/**
 * Lists a folder, sorted, so that a limited walk always lists the same files. Empty when it is missing or not readable.
 */
async function list(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (isUnreadable(error)) return []
    throw error
  }
}

function patternsOf(text: string): string[] {
  return text.split(/\r?\n/).filter((pattern) => pattern.length <= LONGEST_PATTERN)
}

/**
 * The innermost file with a rule for the path decides. Only the path itself is checked, as ignored folders are not
 * entered.
 */
function isIgnored(path: string, rules: Rules): boolean {
  for (const { folder, matcher } of rules) {
    const { ignored, unignored } = matcher.test(path.slice(folder.length))
    if (ignored || unignored) return ignored
  }
  return false
}
