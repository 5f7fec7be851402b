import type { Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { insideAny, isUnreadable } from '../repository/confine.ts'
import { REMOTE_PREFIX } from '../text/remote-id.ts'

/** Search depth below a root. */
const DEEPEST = 6
/** Maximum number of folders searched per root. */
export const MAX_FOLDERS = 2000

const AT_ONCE = 64
/** Folders of other tools. */
const SKIPPED = new Set(['.git', '.github', '.archive', '.hub', 'node_modules'])
const FILE = 'SKILL.md'

/** A SKILL.md and its state on disk. */
export interface FoundSkill {
  /** Name of its folder. */
  id: string
  /** Path through the root. */
  path: string
  /** Real path below the root, with links resolved. */
  inside: string
  /** Parent folder of its own; null at the root. */
  above: string | null
  bytes: number
  modified: Date
  /** Fingerprint that changes with the file, even when its time does not. */
  stamp: string
}

/** Skills below a root. */
export interface FoundSkills {
  /** Real path of the root; null when it is missing or unreadable. */
  root: string | null
  skills: FoundSkill[]
  /** There are more folders than were searched. */
  cut: boolean
}

/**
 * Finds the skills below `root`, shallowest first, then by path. Follows links that stay in the root. Does not search
 * within a skill's folder.
 */
export async function findSkills(root: string): Promise<FoundSkills> {
  const real = await unlessUnreadable(realpath(root))
  if (real === null) return { root: null, skills: [], cut: false }
  const skills: FoundSkill[] = []
  const seen = new Set([real])
  let folders = [real]
  let visited = 0
  for (let depth = 0; depth <= DEEPEST && folders.length > 0; depth++) {
    const next: string[] = []
    for (let i = 0; i < folders.length; i += AT_ONCE) {
      const batch = folders.slice(i, Math.min(i + AT_ONCE, i + MAX_FOLDERS - visited))
      visited += batch.length
      for (const found of await Promise.all(batch.map((folder) => look(real, folder)))) {
        if (found.skill) skills.push(found.skill)
        next.push(...found.folders.filter((folder) => seen.size < seen.add(folder).size))
      }
      const left = i + batch.length < folders.length || (next.length > 0 && depth < DEEPEST)
      if (visited >= MAX_FOLDERS && left) return { root: real, skills, cut: true }
    }
    folders = next
  }
  return { root: real, skills, cut: false }
}

async function look(root: string, folder: string): Promise<{ skill: FoundSkill | null; folders: string[] }> {
  const entries = (await unlessUnreadable(readdir(folder, { withFileTypes: true }))) ?? []
  const file = folder === root ? undefined : entries.find(({ name }) => name === FILE)
  const skill = file ? await skillIn(root, folder, file) : null
  if (skill) return { skill, folders: [] }
  const below = entries
    .filter(({ name }) => !SKIPPED.has(name) && !name.startsWith(REMOTE_PREFIX))
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const folders = await Promise.all(below.map((entry) => folderOf(root, join(folder, entry.name), entry)))
  return { skill: null, folders: folders.filter((path) => path !== null) }
}

/** Resolves an entry to a folder; null for others, and outside the root. */
async function folderOf(root: string, path: string, entry: Dirent): Promise<string | null> {
  if (!entry.isSymbolicLink()) return path
  const real = await unlessUnreadable(realpath(path))
  if (real === null || insideAny([root], real) === null) return null
  return (await unlessUnreadable(stat(real)))?.isDirectory() ? real : null
}

async function skillIn(root: string, folder: string, file: Dirent): Promise<FoundSkill | null> {
  const path = join(folder, FILE)
  const real = file.isSymbolicLink() ? await unlessUnreadable(realpath(path)) : path
  const inside = real === null ? null : insideAny([root], real)
  if (real === null || inside === null) return null
  const info = await unlessUnreadable(stat(real))
  if (!info?.isFile()) return null
  const above = dirname(folder)
  return {
    id: basename(folder),
    path: relative(root, path),
    inside,
    above: above === root ? null : basename(above),
    bytes: info.size,
    modified: info.mtime,
    stamp: [info.ino, info.size, info.mtimeMs, info.ctimeMs].join(),
  }
}

/** Awaits `work`; null when a path is gone or unreadable. */
async function unlessUnreadable<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    if (isUnreadable(error)) return null
    throw error
  }
}
