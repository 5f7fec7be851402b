import type { Base } from '../base.ts'
import type { CallContext } from '../calls/call-record.ts'
import type { Store } from '../store/store.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { FoundMemories, Memories, MemoryService, SearchForm } from './memory-service.ts'
import { limitCaptured } from './records/captured-memories.ts'
import { createCountChanges } from './records/count-changes.ts'
import { forgetMemory, removeMemory } from './records/forget-memory.ts'
import { sweepExpired } from './records/memory-expiry.ts'
import { memoryKeys } from './records/memory-keys.ts'
import type { InProjects } from './records/memory-place.ts'
import type { MemoryInput, MemorySearch } from './records/memory-record.ts'
import { claimSpace, findSpace, type MemoryOwner, sweepEndedSpaces } from './records/memory-spaces.ts'
import { statsOf } from './records/memory-stats.ts'
import { moveMemory } from './records/move-memories.ts'
import { recall } from './records/recall.ts'
import { newestMemories, recentMemories } from './records/recent-memories.ts'
import { refuseSecrets, type Secrets } from './records/refuse-secrets.ts'
import { keepMemory } from './records/store-memory.ts'
import type { Caller } from './records/trusted-writers.ts'
import { fuse } from './search/fusion.ts'
import { createSearch } from './search/memory-search.ts'
import { readResults } from './search/results.ts'
import { type Filters, projectOf, scopeOf } from './search/search-scope.ts'
import { createSimilar, type Similar } from './search/similar.ts'
import type { AskForVectors } from './vectors/embedder.ts'
import { liveVectors, type VectorSearch } from './vectors/vector-search.ts'
import { createMemoryWords } from './words/memory-words.ts'
import { openTextIndex, type TextIndex } from './words/text-index.ts'

export type { FoundMemories, Memories, MemoryService, SearchForm } from './memory-service.ts'
export { takeBack } from './records/captured-memories.ts'
export { removeMemories } from './records/forget-memory.ts'
export type { InProjects, MemoryAddress } from './records/memory-place.ts'
export { Memory, MemoryInput, MemoryList, MemorySearch, OF_SESSION } from './records/memory-record.ts'
export { endSpace, type MemoryOwner, memoryOwner } from './records/memory-spaces.ts'
export { type MovedMemories, moveMemories } from './records/move-memories.ts'
export { type NewestQuery, type RecentQuery, recentMemories } from './records/recent-memories.ts'

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
  const { db, engine, lookups } = store
  const search = createSearch(await openTextIndex(store), createMemoryWords({ db: lookups, engine }))
  // Lookups while storing are small, so they need no worker thread.
  const index = await openTextIndex({ engine, reads: db, lookups: db })
  return { index, search, similar: createSimilar({ db, index, words: createMemoryWords({ db, engine }) }) }
}

/** Connection for totals: on SQLite, asking the other thread takes longer than reading them here. */
const forTotals = ({ engine, db, lookups }: Store) => ({ sqlite: db, postgres: lookups })[engine]

/** The best hits, and at most `weak` weak ones where there are fewer. */
function withWeak<Hit extends { seq: number }>(
  hits: readonly Hit[],
  others: readonly Hit[],
  { limit, weak }: { limit: number; weak: number },
): Array<Hit & { isWeak: boolean }> {
  const strong = hits.slice(0, limit).map((hit) => ({ ...hit, isWeak: false }))
  const known = new Set(hits.map(({ seq }) => seq))
  const free = Math.max(0, Math.min(weak, limit) - strong.length)
  const shown = others.filter(({ seq }) => !known.has(seq)).slice(0, free)
  return [...strong, ...shown.map((hit) => ({ ...hit, isWeak: true }))]
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
    const scope = scopeOf(forTotals(store), space, filters, time())
    const [found, near] = await Promise.all([
      byWords(query, { space, project: projectOf(filters), scope }, Math.max(limit, FUSED)),
      scope.then((read) => vectors()?.find(query, read, context) ?? null),
    ])
    const hits = near === null ? found.hits : fuse(found.hits, near)
    const shown = withWeak(hits, found.weak, { limit, weak })
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

    newest: async (query) =>
      newestMemories(store, await findSpace(db, owner), { ...query, trustedBy: caller() }, time()),
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
