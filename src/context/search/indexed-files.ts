import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { isUnreadable } from '../../repository/confine.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import type { ProjectTree } from '../project-tree.ts'
import type { IndexedFile } from './segment.ts'

/** Files of a tree. `clean`: unchanged for git, the same list until git's answer changes. `others`: all other files. */
export interface IndexedFiles {
  clean: IndexedFile[]
  others: IndexedFile[]
}

interface Sifted {
  objects: ProjectTree['objects']
  changes: string
  count: number
  clean: IndexedFile[]
  others: string[]
}

/**
 * Creates a function that lists the files of a tree with version keys: git's object id for unchanged files, size and
 * times for others.
 *
 * @param roots number of roots whose unchanged files are cached
 */
export function createFileLister(roots: number) {
  const sifted = new LRUCache<string, Sifted>({ max: roots })

  /** Splits the files into unchanged and other ones, without the deleted. Cached until git's answer changes. */
  function sift(root: string, { files, changes, objects }: ProjectTree): Sifted {
    const joined = [...changes].join('\0')
    const known = sifted.get(root)
    if (known?.objects === objects && known.changes === joined && known.count === files.length) return known
    const clean: IndexedFile[] = []
    const others: string[] = []
    for (const path of files) {
      const change = changes.get(path)
      const key = change === undefined ? objects.get(path) : undefined
      if (key !== undefined) clean.push({ path, key })
      else if (change !== 'deleted') others.push(path)
    }
    const made = { objects, changes: joined, count: files.length, clean, others }
    // Without git, each call makes a new list.
    if (objects.size > 0) sifted.set(root, made)
    return made
  }

  return async function indexedFiles(root: string, tree: ProjectTree): Promise<IndexedFiles> {
    const { clean, others } = sift(root, tree)
    const stamped: IndexedFile[] = []
    for (const path of others) {
      await yieldToEventLoop()
      stamped.push({ path, key: stampOf(join(root, path)) })
    }
    return { clean, others: stamped }
  }
}

function stampOf(file: string): string {
  try {
    const info = lstatSync(file, { throwIfNoEntry: false })
    return info === undefined ? '' : `${info.size} ${info.mtimeMs} ${info.ctimeMs} ${info.ino}`
  } catch (error) {
    if (isUnreadable(error)) return ''
    throw error
  }
}
