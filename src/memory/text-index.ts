import type { Store } from '../store/store.ts'

/** A spelling to look for: one word, or words in a row separated by spaces; with `prefix`, also what begins with it. */
export interface Spelling {
  text: string
  prefix: boolean
}

/** The spellings that stand for one word of a query: any of them will do. */
export type Alternatives = readonly Spelling[]

/** What a search looks for: memories that have all of the words, or any of them. */
export interface TextQuery {
  match: 'all' | 'any'
  words: readonly Alternatives[]
}

/** One namespace; `share` of all memories are in it (0–1), which tells the index whether to narrow by it first. */
export interface NamespaceScope {
  name: string
  share: number
}

/** Which memories a search may find. Times are RFC 3339 UTC with milliseconds. */
export interface TextFilter {
  /** Whose memories: see `marks.ts`. */
  space: number
  /** Memories that have expired by now are never found. */
  now: string
  namespace?: NamespaceScope | undefined
  /** Only memories of this project and of none; null: of none; every project's when absent. */
  project?: string | null | undefined
  /** All of these. */
  tags?: readonly string[] | undefined
  from?: string | undefined
  to?: string | undefined
}

/** A memory found, by its row; a higher `score` is a better match, comparable within one query only. */
export interface TextHit {
  seq: number
  score: number
}

/**
 * The full-text index that an engine offers. It only looks words up: what a query means, and what is tried when it
 * finds too little, is the same on every engine and is decided in `search.ts`.
 */
export interface TextIndex {
  /**
   * The best `limit` matches, best first (a word in the key weighs more than in the tags, and there more than in the
   * value), and how many there are, counted up to 1,000. Of more than 500 matches, those with the words in key and tags
   * are ranked, and then the newest.
   */
  match(query: TextQuery, filter: TextFilter, limit: number): Promise<{ hits: TextHit[]; total: number }>
  /** How many memories that pass the filter hold the word, counted up to `limit`. */
  count(word: Alternatives, filter: TextFilter, limit: number): Promise<number>
  /** At most `limit` words of a space within `typos` typos of `word`, the nearest first, then the most frequent. */
  similar(word: string, of: { space: number; typos: number; limit: number }): Promise<string[]>
}

/** The full-text index of the store's engine. */
export async function openTextIndex({ engine, reads }: Store): Promise<TextIndex> {
  const create = await LOAD[engine]()
  return create(reads)
}

/** Each is loaded only where it is used. */
const LOAD = {
  sqlite: async () => (await import('./sqlite-text-index.ts')).createSqliteTextIndex,
  postgres: async () => (await import('./postgres-text-index.ts')).createPostgresTextIndex,
}
