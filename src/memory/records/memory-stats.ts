import type { Store } from '../../store/store.ts'
import { isLive } from './memory-expiry.ts'
import { totals } from './memory-totals.ts'

/** Statistics of the memories. */
export interface MemoryStats {
  engine: Store['engine']
  count: number
  bytes: number
  /** Number of memories per namespace. */
  namespaces: Record<string, number>
  oldest_at: string | null
  newest_at: string | null
}

/** Computes the statistics of a space. */
export async function statsOf({ db, engine }: Store, space: number, at: string): Promise<MemoryStats> {
  const held = await totals(db, at, space)
  const live = db.selectFrom('memories').where('space', '=', space).where(isLive(at)).limit(1)
  const oldest = await live.select('created_at').orderBy('seq').executeTakeFirst()
  const newest = await live.select('updated_at').orderBy('updated_at', 'desc').executeTakeFirst()
  return {
    engine,
    count: held.reduce((sum, row) => sum + row.memories, 0),
    bytes: held.reduce((sum, row) => sum + row.bytes, 0),
    namespaces: Object.fromEntries(held.map((row) => [row.namespace, row.memories])),
    oldest_at: oldest?.created_at ?? null,
    newest_at: newest?.updated_at ?? null,
  }
}
