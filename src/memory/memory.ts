import type { Base } from '../base.ts'
import type { CallContext } from '../calls/call-record.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import { runBuilt } from '../store/built.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import { limitCaptured } from './records/captured.ts'
import { createCountChanges } from './records/count-changes.ts'
import { forgetMemory, removeMemory } from './records/forget-memory.ts'
import { isLive, sweepExpired } from './records/memory-expiry.ts'
import { type KeysQuery, memoryKeys } from './records/memory-keys.ts'
import {
  MEMORY_COLUMNS,
  type Memory,
  type MemoryInput,
  type MemoryList,
  type MemorySearch,
  toMemory,
} from './records/memory-record.ts'
import { totals } from './records/memory-totals.ts'
import { earlierVersion } from './records/memory-versions.ts'
import { moveMemory } from './records/move-memories.ts'
import { isAt, type Place } from './records/place.ts'
import { recentMemories } from './records/recent.ts'
import { refuseSecrets, type Secrets } from './records/refuse-secrets.ts'
import { claimSpace, findSpace, type MemoryOwner, sweepEndedSpaces } from './records/spaces.ts'
import { type Kept, keepMemory } from './records/store-memory.ts'
import type { Caller } from './records/trusted-writers.ts'
import { fuse } from './search/fusion.ts'
import { createSearch } from './search/memory-search.ts'
import { type MemoryResult, readResults } from './search/results.ts'
import { type Filters, scopeOf } from './search/search-scope.ts'
import { createSimilar, type Similar } from './search/similar.ts'
import type { EmbeddingProgress } from './vectors/embed-memories.ts'
import type { AskForVectors } from './vectors/embedder.ts'
import { liveVectors, type VectorSearch } from './vectors/vector-search.ts'
import { createMemoryWords } from './words/memory-words.ts'
import { openTextIndex, type TextIndex } from './words/text-index.ts'

export { Memory, MemoryInput, MemoryList, MemorySearch } from './records/memory-record.ts'
export { type MovedMemories, moveMemories } from './records/move-memories.ts'
export { endSpace, type MemoryOwner, memoryOwner } from './records/spaces.ts'

/**
 * The memories of one owner, for one caller, which writes what it stores. Memories of other owners and expired memories
 * count as missing.
 */
export interface MemoryService {
  /**
   * Stores a memory, or the next version of the one under the same key. It is durable when the promise resolves.
   *
   * @param keep called with the result, in the same transaction
   * @throws GazewayError `version_conflict` when the memory is not at `if_version`; `not_found` when the memory to
   *   supersede does not exist; `validation_failed` when it looks like a secret. Then nothing has changed
   */
  store(input: MemoryInput, keep?: Keep<StoredMemory>): Promise<StoredMemory>
  /**
   * Returns the memory under a key, or one of its last twenty earlier versions: the memory of the first project that has
   * one, or else the one of no project.
   */
  recall(of: RecallQuery): Promise<RecalledMemory>
  /**
   * Returns the best matching memories of the project and of no project, at most 4 MiB. `total` is counted up to 1,000.
   * A query without a word finds nothing.
   *
   * @param context payer of the question's vector, if one is made; the operator when absent
   */
  search(query: InProjects<MemorySearch> & SearchForm, context?: CallContext): Promise<FoundMemories>
  /**
   * Searches for memories to give to a model that did not ask for them: only those whose writers the caller trusts
   * (`isTrustedBy`).
   */
  related(query: InProjects<MemorySearch>, context?: CallContext): Promise<FoundMemories>
  /**
   * Lists memories, the latest stored first.
   *
   * @throws GazewayError `invalid_cursor`
   */
  recent(query: Paged<MemoryList>): Promise<Page<Memory>>
  /**
   * Returns the newest memories of some projects and of no project, or of all projects: only those whose writers the
   * caller trusts.
   */
  newest(of: NewestQuery): Promise<Memory[]>
  /** Returns the first distinct keys with a prefix, in order. */
  keys(query: KeysQuery): Promise<string[]>
  /** Deletes a memory with all its versions. @throws GazewayError `not_found` */
  remove(id: string): Promise<void>
  /**
   * Deletes the memory under a key with all its versions, and returns it without its value.
   *
   * @throws GazewayError `not_found`; `version_conflict` when it is not at `if_version`
   */
  forget(of: MemoryAddress & { if_version: number }, keep?: Keep<Memory>): Promise<Memory>
  /**
   * Moves the memory under a key with all its versions to another project, or to none.
   *
   * @throws GazewayError `not_found`; `conflict` when that has the key already
   */
  move(of: MemoryAddress, project: string | null): Promise<void>
  /**
   * Returns totals. `bytes` counts keys, values and tags as UTF-8 JSON; `oldest_at` is a creation, `newest_at` an
   * update.
   */
  stats(): Promise<MemoryStats>
}

/** Address of one memory. Without a project, it is one of no project. */
export interface MemoryAddress {
  key: string
  namespace: string
  project?: string | null | undefined
}

/** A query for memories of one project, of several, or of no project (null or none). */
export type InProjects<Query> = Omit<Query, 'project'> & { project?: string | readonly string[] | null | undefined }

/** Query for one memory. */
export type RecallQuery = InProjects<MemoryAddress> & { version?: number | undefined }

/** Query for the newest memories. */
export type NewestQuery = InProjects<{ projects?: 'all' | undefined; limit: number }>

/** Form of the results of a search. */
export interface SearchForm {
  /** Number of results that memories below the floor, marked as weak, fill up to; none by default. */
  weak?: number | undefined
  /** Maximum length of each excerpt in characters; 200 by default. */
  excerptLength?: number | undefined
}

/** Result of a search. `mode` tells whether vectors were used. */
export interface FoundMemories {
  results: MemoryResult[]
  total: number
  mode: 'lexical' | 'hybrid'
}

/** Result of storing a memory. */
export interface StoredMemory extends Kept {
  /** Other memories that already say nearly the same. */
  similar: Similar[]
}

/** Result of recalling a memory. `superseded_by` is the key of the memory that replaced it. */
export interface RecalledMemory {
  found: boolean
  memory: Memory | null
  superseded_by: string | null
}

const NOT_FOUND: RecalledMemory = { found: false, memory: null, superseded_by: null }

/** Results by words that are fused with results by vectors. */
const FUSED = 50
/** Payer of a question without a caller. */
const OPERATOR: CallContext = { surface: 'stdio', callerId: null }
/** Interval of the sweep that embeds memories without a vector, in milliseconds. */
const EMBED_MS = 60_000

/** Interval of the sweep of expired memories, in milliseconds. */
const SWEEP_MS = 600_000

/** Interval of the sweep that adds memories of before to an index that came with an update, in milliseconds. */
const INDEX_MS = 60_000
/** Words that the sweep adds at once, and memories and words that each store adds. */
const INDEXED_WORDS = 20_000
const INDEXED_WITH_STORE = { memories: 50, words: 2_000 }

/** The operator's memories, shared by all assistants and admins, and the memories of keys with their own space. */
export interface Memories extends MemoryService {
  /** Memories of a key, for the key itself. */
  of(key: string): MemoryService
  /** Memories of an owner, for a caller: a key, or null for the tools and hooks of this machine. */
  of(owner: MemoryOwner, caller: string | null): MemoryService
  /** Deletes a memory of any owner. @throws GazewayError `not_found` */
  removeAnyones(id: string): Promise<void>
  /** Deletes at most `limit` expired memories and returns their number. Each store also deletes a few. */
  sweep(limit: number): Promise<number>
  /** Deletes at most `limit` memories of keys that were revoked 30 days ago. Returns their number. */
  sweepEnded(limit: number): Promise<number>
  /**
   * Returns the number of memories with a vector, and why one could not be created just now (null if it could). All
   * zero when vectors are off.
   */
  embedding(): Promise<EmbeddingProgress & { failure: string | null }>
  /** Background chores, for `startSweeps`. */
  sweeps: readonly Sweep[]
}

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

/** Creates the memory service of a store. */
export function createMemory({
  store,
  now,
  vectors = () => null,
  trustedWriters = () => [],
  secrets = () => 'refuse',
}: {
  store: Store
  now: () => Date
  /** Search by vectors, in addition to words; null to search by words only. */
  vectors?: () => VectorSearch | null
  /** Ids and names of keys whose memories are trusted besides those of admins. */
  trustedWriters?: () => readonly string[]
  /** Treatment of values that look like secrets. */
  secrets?: () => Secrets
}): Memories {
  const time = () => now().toISOString()
  let opening: Promise<Finders> | undefined

  function opened() {
    opening ??= openFinders(store)
    return opening
  }

  const sweep: Sweep['batch'] = (limit) =>
    store.write(async (trx) => {
      const changes = createCountChanges()
      const swept = await sweepExpired(trx, { now: time(), limit, changes })
      await changes.write(trx)
      return swept
    })
  const sweepMissing: Sweep['batch'] = async (limit) => {
    const { index } = await opened()
    if (await index.isComplete()) return 0
    return store.write((trx) => index.addMissing(trx, { memories: limit, words: INDEXED_WORDS }))
  }
  const sweepEnded: Sweep['batch'] = (limit) => store.write((trx) => sweepEndedSpaces(trx, time(), limit))
  const own = (owner: MemoryOwner, id: string | null) => {
    const caller = (): Caller => ({ id, trusts: trustedWriters() })
    return ownMemory(owner, { store, time, opened, vectors, caller, secrets })
  }
  return {
    ...own(null, null),
    of: (owner: MemoryOwner, caller: string | null = owner) => own(owner, caller),
    removeAnyones: (id) => store.write((trx) => removeMemory(trx, id, { space: undefined, now: time() })),
    sweep,
    sweepEnded,
    embedding: async () => (await vectors()?.check()) ?? { memories: 0, embedded: 0, failure: null },
    sweeps: [
      { name: 'memory.expired', everyMs: SWEEP_MS, batch: sweep },
      { name: 'memory.ended', everyMs: SWEEP_MS, batch: sweepEnded },
      { name: 'memory.index', everyMs: INDEX_MS, batch: sweepMissing },
      { name: 'memory.vectors', everyMs: EMBED_MS, batch: async (limit) => vectors()?.embed(limit) ?? 0 },
    ],
  }
}

/** Opens the room: it follows the settings of embeddings and the trusted writers. `close` stops creating vectors. */
export function liveMemory(base: Base, ask: AskForVectors): { memory: Memories; close(): Promise<void> } {
  const { store, now, config } = base
  const vectors = liveVectors(base, ask)
  const memory = createMemory({
    store,
    now,
    vectors: vectors.current,
    trustedWriters: () => config.current().config.memory.trusted_writers,
    secrets: () => config.current().config.memory.secrets,
  })
  return { memory, close: vectors.stop }
}

/** Dependencies shared by the memories of all owners. */
interface Shared {
  store: Store
  /** RFC 3339 UTC */
  time: () => string
  opened: () => Promise<Finders>
  vectors: () => VectorSearch | null
  caller: () => Caller
  secrets: () => Secrets
}

/** Lookup of memories by words. */
interface Finders {
  /** Index of the connection that writes. */
  index: TextIndex
  search: ReturnType<typeof createSearch>
  similar: ReturnType<typeof createSimilar>
}

async function openFinders(store: Store): Promise<Finders> {
  const { db, engine, reads } = store
  const search = createSearch(await openTextIndex(store), createMemoryWords({ db: reads, engine }))
  // Lookups while storing are small, so they need no worker thread.
  const index = await openTextIndex({ engine, reads: db })
  return { index, search, similar: createSimilar({ db, index, words: createMemoryWords({ db, engine }) }) }
}

function ownMemory(owner: MemoryOwner, { store, time, opened, vectors, caller, secrets }: Shared): MemoryService {
  const { db } = store

  async function similarTo(input: MemoryInput): Promise<Similar[]> {
    const [{ similar }, space] = [await opened(), await findSpace(db, owner)]
    return similar(input, await scopeOf(db, space, { project: input.project }, time()))
  }

  async function search(
    { query, limit, weak = 0, excerptLength, ...filters }: InProjects<MemorySearch> & SearchForm & Filters,
    context: CallContext = OPERATOR,
  ): Promise<FoundMemories> {
    const [{ search: byWords }, space] = [await opened(), await findSpace(db, owner)]
    const scope = await scopeOf(db, space, filters, time())
    const [found, near] = await Promise.all([
      byWords(query, scope, Math.max(limit, FUSED)),
      vectors()?.find(query, scope, context) ?? null,
    ])
    const hits = near === null ? found.hits : fuse(found.hits, near)
    const strong = hits.slice(0, limit).map((hit) => ({ ...hit, isWeak: false }))
    const known = new Set(hits.map(({ seq }) => seq))
    const others = found.weak.filter(({ seq }) => !known.has(seq)).map((hit) => ({ ...hit, isWeak: true }))
    const shown = [...strong, ...others.slice(0, Math.max(0, Math.min(weak, limit) - strong.length))]
    const results = await readResults(store, space, { hits: shown, spellings: found.spellings, excerptLength })
    const total = near === null ? found.total : Math.max(found.total, hits.length)
    return { results, total, mode: near === null ? 'lexical' : 'hybrid' }
  }

  return {
    async store(input, keep) {
      if (secrets() === 'refuse') refuseSecrets(input)
      const similar = await similarTo(input)
      const { index } = await opened()
      const isComplete = await index.isComplete()
      const made = await store.write(async (trx) => {
        const space = await claimSpace(trx, owner)
        const stored = { ...(await keepMemory(trx, space, input, time(), caller())), similar }
        await limitCaptured(trx, space, input)
        // Also where no service sweeps.
        if (!isComplete) await index.addMissing(trx, INDEXED_WITH_STORE)
        await keep?.(trx, stored)
        return stored
      })
      vectors()?.soon()
      return made
    },

    recall: async (query) => recall(db, await findSpace(db, owner), query, time()),

    search,
    related: (query, context) => search({ ...query, trustedBy: caller() }, context),

    recent: async (query) => recentMemories(store, await findSpace(db, owner), query, time()),

    newest: async (query) => newest(store, await findSpace(db, owner), { ...query, trustedBy: caller() }, time()),
    keys: async (query) => memoryKeys(db, await findSpace(db, owner), query, time()),

    remove: (id) =>
      store.write(async (trx) => removeMemory(trx, id, { space: await findSpace(trx, owner), now: time() })),
    forget: ({ if_version: version, project = null, ...of }, keep) =>
      store.write(async (trx) => {
        const place = { space: await findSpace(trx, owner), ...of, project }
        const forgotten = await forgetMemory(trx, place, { version, now: time() })
        await keep?.(trx, forgotten)
        return forgotten
      }),
    move: ({ project = null, ...of }, target) =>
      store.write(async (trx) => moveMemory(trx, { space: await findSpace(trx, owner), ...of, project }, target)),
    stats: async () => statsOf(store, await findSpace(db, owner), time()),
  }
}

async function recall(
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

/** The newest memories of some projects and of none, or of all projects. */
async function newest(
  store: Store,
  space: number,
  { project = null, projects, limit, trustedBy }: NewestQuery & { trustedBy: Caller },
  at: string,
): Promise<Memory[]> {
  const list = async (of: { project?: string | null }) =>
    (await recentMemories(store, space, { ...of, trustedBy, limit, counted: false }, at)).items
  if (projects === 'all') return list({})
  // A list of each project from its index, so that memories of other projects are never scanned.
  const found = await Promise.all([null, ...[project ?? []].flat()].map((one) => list({ project: one })))
  return found
    .flat()
    .sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1))
    .slice(0, limit)
}

async function statsOf({ db, engine }: Store, space: number, at: string): Promise<MemoryStats> {
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
