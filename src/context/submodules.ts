import { realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { git } from '../repository/git-command.ts'
import { findRepository, indexVersion } from '../repository/repository.ts'
import { parseIndex, parseSubmodules } from './git-output.ts'
import { named } from './search/gaps.ts'

/** Submodules of a project that are read, those within others included. */
const MOST = 32
/** Projects whose list of files is cached, and submodules whose index is. */
const ROOTS_KEPT = 2
const INDEXES_KEPT = 2 * MOST

interface SubmoduleIndex {
  version: string | null
  files: readonly string[]
  submodules: readonly string[]
}

/** Files of submodules relative to the project's root, and what could not be read, in plain words. */
interface SubmoduleFiles {
  files: readonly string[]
  notes: string[]
}

const NONE: SubmoduleFiles = { files: [], notes: [] }

/**
 * Creates a reader of the tracked files in the submodules of a project. A submodule is read only where it is a checkout of
 * its own, reached without links: see `findRepository`. Its changes and commits are not read.
 */
export function createSubmoduleReader() {
  const indexes = new LRUCache<string, SubmoduleIndex>({ max: INDEXES_KEPT })
  const lists = new LRUCache<string, { parts: ReadonlyArray<readonly string[]>; files: readonly string[] }>({
    max: ROOTS_KEPT,
  })

  /** Reads the index of a submodule; null when it is not checked out, leads elsewhere or cannot be read. */
  async function readIndex(folder: string, signal?: AbortSignal): Promise<SubmoduleIndex | null> {
    if ((await realpath(folder).catch(() => null)) !== folder) return null
    const repository = await findRepository(folder, signal)
    if (repository === null || 'refused' in repository || repository.top !== folder) return null
    const version = await indexVersion(repository.gitDir)
    const kept = indexes.get(folder)
    if (kept !== undefined && version !== null && kept.version === version) return kept
    const { output, failure } = await git({ root: folder, top: folder }, ['ls-files', '-s', '-z'], signal)
    if (failure !== null) return null
    const index = { version, files: [...parseIndex(output).keys()], submodules: parseSubmodules(output) }
    indexes.set(folder, index)
    return index
  }

  /**
   * @param submodules paths relative to the root
   * @returns the same array of files until the index of a submodule is replaced
   * @throws GazewayError `cancelled`
   */
  return async function inSubmodules(
    root: string,
    submodules: readonly string[],
    signal?: AbortSignal,
  ): Promise<SubmoduleFiles> {
    if (submodules.length === 0) return NONE
    const waiting = [...submodules]
    const read: Array<{ path: string; files: readonly string[] }> = []
    const unread: string[] = []
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      const index = read.length < MOST ? await readIndex(join(root, path), signal) : null
      if (index === null) {
        unread.push(path)
        continue
      }
      read.push({ path, files: index.files })
      waiting.push(...index.submodules.map((inner) => `${path}/${inner}`))
    }
    const notes = unread.length === 0 ? [] : [`submodules that are not checked out or not read: ${named(unread)}`]
    return { files: listOf(root, read), notes }
  }

  function listOf(root: string, read: ReadonlyArray<{ path: string; files: readonly string[] }>): readonly string[] {
    const parts = read.map(({ files }) => files)
    const kept = lists.get(root)
    if (kept?.parts.length === parts.length && parts.every((part, i) => part === kept.parts[i])) return kept.files
    const files = read.flatMap(({ path, files: inside }) => inside.map((file) => `${path}/${file}`))
    lists.set(root, { parts, files })
    return files
  }
}
