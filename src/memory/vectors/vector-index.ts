import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { readPacked } from '../../store/rows-as-json.ts'
import type { Store } from '../../store/store.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import { isLive } from '../records/memory-expiry.ts'
import type { Hit } from '../search/memory-search.ts'
import { filterConditions } from '../words/filter-conditions.ts'
import type { TextFilter } from '../words/text-matcher.ts'
import { cosine, nearestBySigns, readSigns, signsOf } from './quantized.ts'

/** Vectors that are read at a time. */
const PART = 2000
/** Vectors whose exact angle is computed, unless a filter leaves fewer. */
const MAX_RESCORED = 200
/** Maximum number of nearest vectors that a search filters. Starts at 200 and doubles. */
const MAX_FILTERED = 12_800
/** Maximum number of memories that a search by vectors finds. */
const MAX_FOUND = 50
/** Rows that are read again: on PostgreSQL, a row with a higher number can become visible earlier. */
const OVERLAP = 200
/**
 * Largest excess of cached vectors over memories, as a number and a factor. Beyond it, the cache is reloaded without
 * deleted memories.
 */
const [MAX_GONE, MAX_GONE_SHARE] = [100, 1.2]
/** Spaces whose signs are cached at once. */
const MAX_SPACES = 8

/** The signs of the vectors of a space, concatenated. */
interface CachedSigns {
  signs: Uint32Array
  seqs: number[]
  at: Map<number, number>
  last: number
  reading: Promise<void> | null
}

/**
 * Finds memories by vectors. Reads those that share the most signs with the query and ranks them by cosine. The signs
 * of recently searched spaces are cached, one bit per number, and each search updates them.
 */
export function createVectorIndex({ reads, engine }: Store) {
  const spaces = new LRUCache<string, CachedSigns>({ max: MAX_SPACES })

  async function readOn(cached: CachedSigns, space: number, source: string): Promise<void> {
    for (let from = cached.last - (engine === 'postgres' ? OVERLAP : 0); ; ) {
      const rows = await reads
        .selectFrom('memory_vectors')
        .select(['place', 'seq', 'signs'])
        .where('space', '=', space)
        .where('source', '=', source)
        .where('place', '>', from)
        .orderBy('place')
        .limit(PART)
        .execute()
      for (const { seq, signs } of rows) {
        await yieldToEventLoop()
        put(cached, seq, readSigns(signs))
      }
      const last = rows.at(-1)
      if (last) cached.last = from = Math.max(from, last.place)
      if (rows.length < PART) return
    }
  }

  /** Reads the vectors of those memories that pass the filter. */
  function passing(seqs: readonly number[], source: string, filter: TextFilter) {
    const conditions = [sql`memories.seq in (${sql.join(seqs)})`, sql`memory_vectors.source = ${source}`]
    return readPacked<{ seq: number; vector: string }>(
      { db: reads, engine },
      ['seq', 'vector'],
      sql`select memories.seq, memory_vectors.vector
        from memories join memory_vectors on memory_vectors.seq = memories.seq
        where ${sql.join([...conditions, isLive(filter.now), ...filterConditions(filter)], sql` and `)}`,
    )
  }

  /** Returns the nearest memories that pass the filter and have a cosine of at least `least`, best first. */
  return async function nearestNeighbours(
    vector: Float32Array,
    { source, filter, memories, least }: { source: string; filter: TextFilter; memories: number; least: number },
  ): Promise<Hit[]> {
    const name = `${filter.space} ${source}`
    const known = spaces.get(name)
    const isUsable = known !== undefined && known.seqs.length <= MAX_GONE + MAX_GONE_SHARE * memories
    const cached = isUsable ? known : { signs: new Uint32Array(0), seqs: [], at: new Map(), last: 0, reading: null }
    spaces.set(name, cached)
    cached.reading ??= readOn(cached, filter.space, source).finally(() => {
      cached.reading = null
    })
    await cached.reading
    const places = nearestBySigns(signsOf(vector), cached.signs, { count: cached.seqs.length, most: MAX_FILTERED })
    const seqs = places.map((place) => cached.seqs[place] as number)
    const rows: Array<{ seq: number; vector: string }> = []
    for (let from = 0, to = MAX_RESCORED; from < seqs.length && rows.length < MAX_RESCORED; from = to, to *= 2)
      rows.push(...(await passing(seqs.slice(from, to), source, filter)))
    return rows
      .map(({ seq, vector: kept }) => ({ seq, score: Number(cosine(vector, kept).toFixed(4)) }))
      .filter(({ score }) => score >= least)
      .sort((a, b) => b.score - a.score || b.seq - a.seq)
      .slice(0, MAX_FOUND)
  }
}

function put(cached: CachedSigns, seq: number, signs: Uint32Array): void {
  const width = signs.length
  const at = cached.at.get(seq) ?? cached.seqs.length
  if (cached.signs.length < (at + 1) * width) {
    const longer = new Uint32Array(Math.max(64 * width, 2 * cached.signs.length))
    longer.set(cached.signs)
    cached.signs = longer
  }
  cached.signs.set(signs, at * width)
  cached.seqs[at] = seq
  cached.at.set(seq, at)
}
