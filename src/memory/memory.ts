import type { Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { toUtc } from '../store/dates.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { keepMemory } from './keep.ts'
import { deleteMemories, isLive, REMOVED, sweepExpired } from './memory-expiry.ts'
import { type KeysQuery, memoryKeys } from './memory-keys.ts'
import {
  MEMORY_COLUMNS,
  type Memory,
  type MemoryInput,
  type MemoryList,
  type MemorySearch,
  toMemory,
} from './memory-record.ts'
import { createSearch } from './memory-search.ts'
import { totals } from './memory-totals.ts'
import { createMemoryWords, createWordChanges } from './memory-words.ts'
import { recentMemories } from './recent.ts'
import { type MemoryResult, readResults } from './results.ts'
import { claimSpace, findSpace, type MemoryOwner, sweepEndedSpaces } from './spaces.ts'
import { openTextIndex } from './text-index.ts'

export { Memory, MemoryInput, MemoryList, MemorySearch } from './memory-record.ts'
export { endSpace, type MemoryOwner, memoryOwner } from './spaces.ts'

/** The memories of one owner. Every method sees those of others, and expired ones, as not there. */
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
  /**
   * The memories that match best, of the project and of none, at most 4 MiB of them; `total` is counted up to 1,000. A query
   * without a word finds nothing.
   */
  search(query: MemorySearch): Promise<{ results: MemoryResult[]; total: number }>
  /**
   * Memories, the last stored first.
   *
   * @throws GazewayError `invalid_cursor`
   */
  recent(query: Paged<MemoryList>): Promise<Page<Memory>>
  /** The newest memories of a project and of none; of all projects where `projects` says so. */
  newest(of: { project: string | null; projects?: 'all' | undefined; limit: number }): Promise<Memory[]>
  /** The first keys that begin alike, in order, each of them once. */
  keys(query: KeysQuery): Promise<string[]>
  /** @throws GazewayError `not_found` */
  remove(id: string): Promise<void>
  /** How much there is; `bytes` counts keys, values and tags as UTF-8 JSON, `oldest_at` is a creation, `newest_at` an update. */
  stats(): Promise<MemoryStats>
}

/** How often memories that are over are looked for, in milliseconds. */
const SWEEP_MS = 600_000

/** The memories of the operator, which all assistants and admins share, and those of keys that have their own. */
export interface Memories extends MemoryService {
  of(owner: MemoryOwner): MemoryService
  /** Deletes a memory, whoever's it is. @throws GazewayError `not_found` */
  removeAnyones(id: string): Promise<void>
  /** Deletes at most `limit` expired memories; returns how many. Storing does a little of it by itself. */
  sweep(limit: number): Promise<number>
  /** Deletes at most `limit` memories of keys that were revoked 30 days ago; returns how many. */
  sweepEnded(limit: number): Promise<number>
  /** Its chores, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

/** How much there is. */
export interface MemoryStats {
  engine: Store['engine']
  count: number
  bytes: number
  /** How many memories each namespace holds. */
  namespaces: Record<string, number>
  oldest_at: string | null
  newest_at: string | null
}

/** The memories in `store`. */
export function createMemory({ store, now }: { store: Store; now: () => Date }): Memories {
  const time = () => now().toISOString()
  let opening: Promise<ReturnType<typeof createSearch>> | undefined

  function opened() {
    opening ??= openTextIndex(store).then((index) => createSearch(index, createMemoryWords(store.reads)))
    return opening
  }

  const sweep: Sweep['batch'] = (limit) =>
    store.write(async (trx) => {
      const changes = createWordChanges()
      const swept = await sweepExpired(trx, { now: time(), limit, changes })
      await changes.write(trx)
      return swept
    })
  const sweepEnded: Sweep['batch'] = (limit) => store.write((trx) => sweepEndedSpaces(trx, time(), limit))
  return {
    ...ownMemory(null, { store, time, opened }),
    of: (owner) => ownMemory(owner, { store, time, opened }),
    removeAnyones: (id) => store.write((trx) => remove(trx, id, { space: undefined, now: time() })),
    sweep,
    sweepEnded,
    sweeps: [
      { name: 'memory.expired', everyMs: SWEEP_MS, batch: sweep },
      { name: 'memory.ended', everyMs: SWEEP_MS, batch: sweepEnded },
    ],
  }
}

/** What the memories of every owner are kept with. */
interface Shared {
  store: Store
  /** RFC 3339 UTC */
  time: () => string
  opened: () => Promise<ReturnType<typeof createSearch>>
}

function ownMemory(owner: MemoryOwner, { store, time, opened }: Shared): MemoryService {
  const { db } = store

  return {
    store: (input, keep) =>
      store.write(async (trx) => {
        const stored = await keepMemory(trx, await claimSpace(trx, owner), input, time())
        await keep?.(trx, stored)
        return stored
      }),

    async recall({ key, namespace }) {
      const row = await db
        .selectFrom('memories')
        .select(MEMORY_COLUMNS)
        .where('space', '=', await findSpace(db, owner))
        .where('namespace', '=', namespace)
        .where('key', '=', key)
        .where(isLive(time()))
        .executeTakeFirst()
      return { found: row !== undefined, memory: row ? toMemory(row) : null }
    },

    async search({ query, namespace, tags, project = null, projects, from, to, limit }) {
      const search = await opened()
      const at = time()
      const space = await findSpace(db, owner)
      const all = await totals(db, at, space)
      const sum = (of: 'memories' | 'words') => all.reduce((total, row) => total + row[of], 0)
      const held = sum('memories')
      const inside = all.find((row) => row.namespace === namespace)?.memories ?? 0
      const scope = namespace === undefined ? undefined : { name: namespace, share: inside / Math.max(1, held) }
      const only = projects === 'all' ? {} : { project }
      const filter = { space, now: at, namespace: scope, ...only, tags, from: utc(from), to: utc(to) }
      const found = await search(query, { filter, held, averageWords: sum('words') / Math.max(1, held) }, limit)
      return { results: await readResults(store, space, found), total: found.total }
    },

    recent: async (query) => recentMemories(store, await findSpace(db, owner), query, time()),

    async newest({ project, projects, limit }) {
      const [space, at] = [await findSpace(db, owner), time()]
      const list = async (of: { project?: string | null }) =>
        (await recentMemories(store, space, { ...of, limit }, at)).items
      if (projects === 'all') return list({})
      // Each from its own index: another project's memories are not walked through.
      const found = [...(await list({ project: null })), ...(project === null ? [] : await list({ project }))]
      return found.sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)).slice(0, limit)
    },

    keys: async (query) => memoryKeys(db, await findSpace(db, owner), query, time()),

    remove: (id) => store.write(async (trx) => remove(trx, id, { space: await findSpace(trx, owner), now: time() })),

    async stats() {
      const at = time()
      const space = await findSpace(db, owner)
      const held = await totals(db, at, space)
      const live = db.selectFrom('memories').where('space', '=', space).where(isLive(at)).limit(1)
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
  }
}

/** @param of.space whose it must be; anyone's when undefined */
async function remove(
  trx: Transaction<Schema>,
  id: string,
  of: { space: number | undefined; now: string },
): Promise<void> {
  let query = trx.selectFrom('memories').select(REMOVED).where('id', '=', id)
  if (of.space !== undefined) query = query.where('space', '=', of.space)
  const row = await query.where(isLive(of.now)).forUpdate().executeTakeFirst()
  if (!row) throw new GazewayError('not_found', `There is no memory ${id}.`, { param: 'id' })
  const changes = createWordChanges()
  await deleteMemories(trx, [row], changes)
  await changes.write(trx)
}

const utc = (at: string | undefined) => (at === undefined ? undefined : toUtc(at))
