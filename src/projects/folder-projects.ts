import { LRUCache } from 'lru-cache'
import type { ProjectPlaceRow } from '../store/tables/projects-tables.ts'

/** Submodules within submodules whose parents are read. */
const MAX_PARENTS = 5
/** Folders whose projects are cached, and for how long, in milliseconds: a tool server asks with every call. */
const MAX_CACHED = 1000
const CACHED_MS = 1000

/** Projects that are read in one folder: its own, and those that it is a submodule of. */
interface FolderProjects {
  own: string[]
  parents: string[]
}

/**
 * Caches which projects are read in folders.
 *
 * @param placeAt finds the place of a folder
 * @param elapsedMs monotonic clock in milliseconds
 */
export function createFolderProjects(
  placeAt: (folder: string) => Promise<Pick<ProjectPlaceRow, 'project' | 'parent'> | null>,
  elapsedMs: () => number,
) {
  // Caches promises, so that `forget` also drops a read in flight.
  const cached = new LRUCache<string, Promise<FolderProjects>>({
    max: MAX_CACHED,
    ttl: CACHED_MS,
    ttlResolution: 0,
    perf: { now: elapsedMs },
  })

  async function read(folder: string): Promise<FolderProjects> {
    let place = await placeAt(folder)
    const own = place ? [place.project] : []
    const parents: string[] = []
    for (let depth = 0; depth < MAX_PARENTS && place?.parent; depth++) {
      place = await placeAt(place.parent)
      if (place) parents.push(place.project)
    }
    return { own, parents }
  }

  function within(folder: string): Promise<FolderProjects> {
    const known = cached.get(folder)
    if (known) return known
    const reading = read(folder)
    cached.set(folder, reading)
    reading.catch(() => cached.delete(folder))
    return reading
  }

  return {
    /** Returns the projects of some folders, each before those that it is a submodule of. */
    async at(folders: readonly string[]): Promise<string[]> {
      const found: FolderProjects[] = []
      // One after the other: a folder that is new may be of the same project as the next.
      for (const folder of folders) found.push(await within(folder))
      return [...new Set([...found.flatMap(({ own }) => own), ...found.flatMap(({ parents }) => parents)])]
    },
    /** Drops all, after a decision about projects. */
    forget: () => cached.clear(),
  }
}
