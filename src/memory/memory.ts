import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { toUtc } from '../store/dates.ts'
import type { Page } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import { textOf } from '../words.ts'
import { excerpt } from './excerpt.ts'
import { deleteMemories, isLive, sweepExpired } from './expiry.ts'
import { keepMemory } from './keep.ts'
import { type KeysQuery, memoryKeys } from './keys.ts'
import { countAll, recentMemories } from './recent.ts'
import {
  MEMORY_COLUMNS,
  type Memory,
  type MemoryInput,
  type MemoryList,
  type MemorySearch,
  toMemory,
} from './record.ts'
import { createSearch, type Found } from './search.ts'
import { openTextIndex } from './text-index.ts'
import { totals } from './totals.ts'

export { Memory, MemoryInput, MemoryList, MemorySearch } from './record.ts'

/** Expired memories that one store clears away: more than it adds, so that they cannot pile up. */
const SWEPT_PER_STORE = 8

/** One memory that a search found. */
export interface MemoryResult {
  memory: Memory
  /** In (0, 1]: 1 for the best match, at most 0.5 for one that lacks words of the query. */
  score: number
  /** At most 200 characters of the value around the first match. */
  excerpt: string
}

/** The memories of all assistants that share the store. Every method sees expired memories as gone. */
export interface MemoryService {
  /**
   * Stores a memory, or the next version of the one under the same key; durable when the promise resolves.
   *
   * @param keep told of what is stored in the same transaction
   * @throws GazewayError `version_conflict` when the memory is not at `if_version`; nothing has changed then
   */
  store(
    input: MemoryInput,
    keep?: Keep<{ memory: Memory; created: boolean }>,
  ): Promise<{ memory: Memory; created: boolean }>
  /** The memory under a key. */
  recall(of: { key: string; namespace: string }): Promise<{ found: boolean; memory: Memory | null }>
  /** The memories that match best; `total` is counted up to 1,000. A query without a word finds nothing. */
  search(query: MemorySearch): Promise<{ results: MemoryResult[]; total: number }>
  /**
   * Memories, the last stored first.
   *
   * @throws GazewayError `invalid_cursor`
   */
  recent(query: MemoryList): Promise<Page<Memory>>
  /** The first keys that begin alike, in order, each of them once. */
  keys(query: KeysQuery): Promise<string[]>
  /** @throws GazewayError `not_found` */
  remove(id: string): Promise<void>
  /** What the store holds; `bytes` counts keys, values and tags as UTF-8 JSON, `oldest_at` is a creation, `newest_at` an update. */
  stats(): Promise<MemoryStats>
  /** Deletes at most `limit` expired memories; returns how many. Storing does a little of it by itself. */
  sweep(limit: number): Promise<number>
}

/** How much the store holds. */
export interface MemoryStats {
  engine: Store['engine']
  count: number
  bytes: number
  /** How many memories each namespace holds. */
  namespaces: Record<string, number>
  oldest_at: string | null
  newest_at: string | null
}

/** The memory service on `store`. */
export function createMemory({ store, now }: { store: Store; now: () => Date }): MemoryService {
  const { db } = store
  const time = () => now().toISOString()
  let opening: Promise<ReturnType<typeof createSearch>> | undefined

  function opened() {
    opening ??= openTextIndex(store).then((index) => createSearch(index))
    return opening
  }

  async function results({ hits, spellings }: Found): Promise<MemoryResult[]> {
    if (hits.length === 0) return []
    const rows = await db
      .selectFrom('memories')
      .select(['seq', ...MEMORY_COLUMNS])
      .where(
        'seq',
        'in',
        hits.map((hit) => hit.seq),
      )
      .execute()
    const bySeq = new Map(rows.map((row) => [row.seq, row]))
    return hits.flatMap(({ seq, score }) => {
      const row = bySeq.get(seq)
      // Another process may have removed it since it was found.
      if (!row) return []
      const memory = toMemory(row)
      return [{ memory, score, excerpt: excerpt(textOf(memory.value), spellings) }]
    })
  }

  return {
    store: (input, keep) =>
      store.write(async (trx) => {
        const at = time()
        await sweepExpired(trx, at, SWEPT_PER_STORE)
        const stored = await keepMemory(trx, input, at)
        await keep?.(trx, stored)
        return stored
      }),

    async recall({ key, namespace }) {
      const row = await db
        .selectFrom('memories')
        .select(MEMORY_COLUMNS)
        .where('namespace', '=', namespace)
        .where('key', '=', key)
        .where(isLive(time()))
        .executeTakeFirst()
      return { found: row !== undefined, memory: row ? toMemory(row) : null }
    },

    async search({ query, namespace, tags, from, to, limit }) {
      const search = await opened()
      const at = time()
      const all = await countAll(db, undefined, at)
      const size = namespace === undefined ? all : await countAll(db, namespace, at)
      const scope = namespace === undefined ? undefined : { name: namespace, share: size / Math.max(1, all) }
      const filter = { now: at, namespace: scope, tags, from: utc(from), to: utc(to) }
      const found = await search(query, { filter, size }, limit)
      return { results: await results(found), total: found.total }
    },

    recent: (query) => recentMemories(db, query, time()),

    keys: (query) => memoryKeys(db, query, time()),

    remove: (id) =>
      store.write(async (trx) => {
        const row = await trx
          .selectFrom('memories')
          .select(['seq', 'namespace', 'bytes'])
          .where('id', '=', id)
          .where(isLive(time()))
          .forUpdate()
          .executeTakeFirst()
        if (!row) throw new GazewayError('not_found', `There is no memory ${id}.`, { param: 'id' })
        await deleteMemories(trx, [row])
      }),

    async stats() {
      const at = time()
      const held = await totals(db, at)
      const live = db.selectFrom('memories').where(isLive(at)).limit(1)
      const oldest = await live.select('created_at').orderBy('seq').executeTakeFirst()
      const newest = await live.select('updated_at').orderBy('updated_at', 'desc').executeTakeFirst()
      return {
        engine: store.engine,
        count: held.reduce((sum, row) => sum + row.memories, 0),
        bytes: held.reduce((sum, row) => sum + row.bytes, 0),
        namespaces: Object.fromEntries(held.map((row) => [row.namespace, row.memories])),
        oldest_at: oldest?.created_at ?? null,
        newest_at: newest?.updated_at ?? null,
      }
    },

    sweep: (limit) => store.write((trx) => sweepExpired(trx, time(), limit)),
  }
}

const utc = (at: string | undefined) => (at === undefined ? undefined : toUtc(at))
