import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import ignore, { type Ignore } from 'ignore'
import { GazewayError } from '../errors.ts'
import { isUnreadable, readInside } from './confine.ts'

const AT_ONCE = 32
const IGNORE_FILE_LIMIT = 256 * 1024
const MOST_STARS = 3

/** A folder still to be read, with the ignore rules that hold in it, innermost first. */
interface Folder {
  path: string
  rules: ReadonlyArray<{ folder: string; matcher: Ignore }>
}

/** Folders that are never part of a project's own text. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules'])

/**
 * The files below `root` without git: shallowest first, nested `.gitignore` files honoured (gitignore's rules, by the
 * `ignore` package), links neither listed nor followed.
 *
 * @param limit how many files at most; as many folders are looked into
 * @returns paths relative to the root with forward slashes, and whether that is all of them
 * @throws GazewayError `cancelled` when the signal aborts
 */
export async function walk(
  root: string,
  limit: number,
  signal?: AbortSignal,
): Promise<{ files: string[]; complete: boolean }> {
  const files: string[] = []
  let folders: Folder[] = [{ path: '', rules: [] }]
  let visited = 0

  while (folders.length > 0) {
    const next: Folder[] = []
    for (let i = 0; i < folders.length; i += AT_ONCE) {
      if (signal?.aborted) throw new GazewayError('cancelled', 'The caller cancelled the work context.')
      const batch = folders.slice(i, i + AT_ONCE)
      visited += batch.length
      for (const read of await Promise.all(batch.map((folder) => readFolder(root, folder)))) {
        files.push(...read.files)
        next.push(...read.folders)
      }
      if (files.length > limit || visited > limit) return { files: files.slice(0, limit), complete: false }
    }
    folders = next
  }
  return { files, complete: true }
}

async function readFolder(root: string, folder: Folder): Promise<{ files: string[]; folders: Folder[] }> {
  const entries = await list(join(root, folder.path))
  const rules = entries.some((entry) => entry.name === '.gitignore') ? await withRulesOf(root, folder) : folder.rules
  const files: string[] = []
  const folders: Folder[] = []
  for (const entry of entries) {
    const path = folder.path === '' ? entry.name : `${folder.path}/${entry.name}`
    if (entry.isDirectory() && !SKIPPED_FOLDERS.has(entry.name) && !isIgnored(`${path}/`, rules))
      folders.push({ path, rules })
    if (entry.isFile() && !isIgnored(path, rules)) files.push(path)
  }
  return { files, folders }
}

/** Sorted, so that a bounded walk lists the same files every time; empty when the folder is gone or not ours to read. */
async function list(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (isUnreadable(error)) return []
    throw error
  }
}

async function withRulesOf(root: string, folder: Folder): Promise<Folder['rules']> {
  const prefix = folder.path === '' ? '' : `${folder.path}/`
  const text = await readInside(root, `${prefix}.gitignore`, IGNORE_FILE_LIMIT)
  if (text === null) return folder.rules
  return [{ folder: prefix, matcher: ignore().add(patternsOf(text.toString('utf8'))) }, ...folder.rules]
}

/** A pattern is compiled to a regular expression: many stars in one name would let a hostile one match for minutes. */
function patternsOf(text: string): string[] {
  const stars = (name: string) => name.split(/\*+/).length - 1
  return text.split(/\r?\n/).filter((pattern) => pattern.split('/').every((name) => stars(name) <= MOST_STARS))
}

/** The innermost file that has a rule for the path decides. Ignored folders are not entered, so only the path itself is asked. */
function isIgnored(path: string, rules: Folder['rules']): boolean {
  for (const { folder, matcher } of rules) {
    const { ignored, unignored } = matcher.test(path.slice(folder.length))
    if (ignored || unignored) return ignored
  }
  return false
}
