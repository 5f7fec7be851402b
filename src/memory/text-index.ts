import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import { readPacked } from '../store/packed.ts'
import type { Store } from '../store/store.ts'

/** A memory that may match, by its row, with its words. */
export interface Candidate {
  seq: number
  /** Number of words in its value. */
  words: number
  key_text: string
  tags_text: string
  also_text: string
  /** Null where it is long: see `longText`. */
  value_text: string | null
}

/** One namespace; `share` of all memories are in it (0–1), which tells the index whether to narrow by it first. */
export interface NamespaceScope {
  name: string
  share: number
}

/** Filter of a search. Times are RFC 3339 UTC with milliseconds. */
export interface TextFilter {
  /** Owner's space: see `marks.ts`. */
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

/** Words to look for: one of each group, or one of any. */
export interface Wanted {
  match: 'all' | 'any'
  groups: ReadonlyArray<readonly string[]>
  where: 'everywhere' | 'in key or tags'
}

/** Word lookup of an engine. The meaning of a query and the ranking are the same for all engines. */
export interface TextMatcher {
  /** The `from … where …` of the memories that match, with `memories` among its tables. */
  matching(wanted: Wanted, filter: TextFilter): RawBuilder<unknown>
  /** By which the newest come first, read from the index. */
  newestFirst: RawBuilder<unknown>
}

/** The words of memories by the engine's full-text index. */
export interface TextIndex {
  /** The newest `limit` memories that match, in any order. */
  candidates(wanted: Wanted, filter: TextFilter, limit: number): Promise<Candidate[]>
  /** Counts the matches, up to `limit`. */
  count(wanted: Wanted, filter: TextFilter, limit: number): Promise<number>
  /** The words of a value; undefined for a memory that is gone. */
  longText(seq: number): Promise<string | undefined>
}

/** Values of more words are read apart, when their memory is ranked. */
const LONG = 2000

/** The full-text index of the store's engine. */
export async function openTextIndex({ engine, reads }: Pick<Store, 'engine' | 'reads'>): Promise<TextIndex> {
  const { matching, newestFirst } = await LOAD[engine]()
  return {
    candidates: (wanted, filter, limit) =>
      readPacked<Candidate>(
        { db: reads, engine },
        ['seq', 'words', 'key_text', 'tags_text', 'also_text', 'value_text'],
        sql`select memories.seq, memories.words, memories.key_text, memories.tags_text, memories.also_text,
            case when memories.words <= ${LONG} then memories.value_text end as value_text
          from ${matching(wanted, filter)} order by ${newestFirst} desc limit ${limit}`,
      ),

    async count(wanted, filter, limit) {
      const { rows } = await sql<{ found: number }>`select count(*) as found from (
        select 1 from ${matching(wanted, filter)} limit ${limit}) as counted`.execute(reads)
      return rows[0]?.found ?? 0
    },

    async longText(seq) {
      const row = await reads.selectFrom('memories').select('value_text').where('seq', '=', seq).executeTakeFirst()
      return row?.value_text
    },
  }
}

/** Each is loaded only where it is used. */
const LOAD = {
  sqlite: async (): Promise<TextMatcher> => (await import('./sqlite-text-matcher.ts')).sqliteTextMatcher,
  postgres: async (): Promise<TextMatcher> => (await import('./postgres-text-matcher.ts')).postgresTextMatcher,
}
