import { runBuilt } from '../../store/prepared-sql.ts'
import type { Store } from '../../store/store.ts'
import { isLive } from './memory-expiry.ts'
import { type InProjects, isAt, type MemoryAddress, type Place } from './memory-place.ts'
import { MEMORY_COLUMNS, type Memory, toMemory } from './memory-record.ts'
import { earlierVersion } from './memory-versions.ts'

/** Query for one memory. */
export type RecallQuery = InProjects<MemoryAddress> & { version?: number | undefined }

/** Result of recalling a memory. `superseded_by` is the key of the memory that replaced it. */
export interface RecalledMemory {
  found: boolean
  memory: Memory | null
  superseded_by: string | null
}

const NOT_FOUND: RecalledMemory = { found: false, memory: null, superseded_by: null }

/** Reads the memory of a key in the first project that has one, or else that of no project. */
export async function recall(
  db: Store['db'],
  space: number,
  { project = null, version, ...of }: RecallQuery,
  at: string,
): Promise<RecalledMemory> {
  for (const one of [...[project ?? []].flat(), null]) {
    const recalled = await recallAt(db, { space, ...of, project: one }, { version, at })
    if (recalled !== null) return recalled
  }
  return NOT_FOUND
}

/** Reads the memory of a place; null when nothing was ever kept there. */
async function recallAt(
  db: Store['db'],
  place: Place,
  { version, at }: { version: number | undefined; at: string },
): Promise<RecalledMemory | null> {
  const { rows } = await runBuilt(
    db,
    'recall memory',
    [place.space, place.namespace, place.key, place.project ?? '', at],
    () => db.selectFrom('memories').select(MEMORY_COLUMNS).where(isAt(place)).where(isLive(at)).compile(),
  )
  const [current] = rows
  if (current && (version ?? current.version) === current.version)
    return { found: true, memory: toMemory(current), superseded_by: null }
  const earlier = await earlierVersion(db, place, { version, now: at })
  if (!earlier) return current ? NOT_FOUND : null
  const { superseded_by } = earlier
  return version === undefined
    ? { ...NOT_FOUND, superseded_by }
    : { found: true, memory: toMemory(earlier), superseded_by }
}
