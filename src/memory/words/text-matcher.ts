import type { RawBuilder, Transaction } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import type { Caller } from '../records/trusted-writers.ts'

/** One namespace. `share` (0–1) of all memories are in it; it decides whether the index filters by namespace first. */
export interface NamespaceScope {
  name: string
  share: number
}

/** Filter of a search. Times are RFC 3339 UTC with milliseconds. */
export interface TextFilter {
  /** Owner's space: see `placeholders.ts`. */
  space: number
  /** Time of the search. Expired memories are never found. */
  now: string
  namespace?: NamespaceScope | undefined
  /** Only memories of this project or these, and of no project; null for no project only; absent for all projects. */
  project?: string | readonly string[] | null | undefined
  /** Tags that a memory must all have. */
  tags?: readonly string[] | undefined
  from?: string | undefined
  to?: string | undefined
  /** Only memories whose writers this caller trusts; absent for all. */
  trustedBy?: Caller | undefined
}

/** Words to find: a word of each group, or a word of any group. */
export interface Wanted {
  match: 'all' | 'any'
  groups: ReadonlyArray<readonly string[]>
  where: 'everywhere' | 'in key or tags'
}

/** Limits of a batch of memories. A single memory may have more words. */
export interface Batch {
  memories: number
  words: number
}

/** SQL for the matching memories. */
export interface Matching {
  /** The `from … where …` clause, with the table `memories`. */
  from: RawBuilder<unknown>
  /** Its plan is the same whatever the words. */
  hasOnePlan: boolean
}

/** Word lookup of an engine. The expansion of a query and the ranking are the same for all engines. */
export interface TextMatcher {
  /** Reads what `matching` needs for projects, so that it is there when the words are known. */
  prepare(of: Pick<TextFilter, 'space' | 'project'>): Promise<void>
  matching(wanted: Wanted, filter: TextFilter): Promise<Matching>
  /** Sort key for the newest first, read from the index. */
  newestFirst: RawBuilder<unknown>
  /** Tells whether the index has all memories. One that an update of Gazeway brought has none from before at first. */
  isComplete(): Promise<boolean>
  /**
   * Adds some memories that are missing in the index.
   *
   * @returns number of memories added; fewer than `most.memories` when none is missing any more
   */
  addMissing(trx: Transaction<Schema>, most: Batch): Promise<number>
}
