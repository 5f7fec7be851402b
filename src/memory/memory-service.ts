import type { CallContext } from '../calls/call-record.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { KeysQuery } from './records/memory-keys.ts'
import type { InProjects, MemoryAddress } from './records/memory-place.ts'
import type { Memory, MemoryInput, MemoryList, MemorySearch } from './records/memory-record.ts'
import type { MemoryOwner } from './records/memory-spaces.ts'
import type { MemoryStats } from './records/memory-stats.ts'
import type { RecalledMemory, RecallQuery } from './records/recall.ts'
import type { NewestQuery } from './records/recent-memories.ts'
import type { Kept } from './records/store-memory.ts'
import type { MemoryResult } from './search/results.ts'
import type { Similar } from './search/similar.ts'
import type { EmbeddingProgress } from './vectors/embed-memories.ts'

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
   * Deletes the memory under a key with all its versions, also a superseded one, and returns it without its value.
   *
   * @throws GazewayError `not_found`; `version_conflict` when it is not at `if_version`
   */
  forget(of: MemoryAddress & { if_version?: number | undefined }, keep?: Keep<Memory>): Promise<Memory>
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
