import { sql } from 'kysely'
import { lazily } from '../../lazily.ts'
import { readPacked } from '../../store/rows-as-json.ts'
import type { Store } from '../../store/store.ts'
import type { TextFilter, TextMatcher, Wanted } from './text-matcher.ts'

/** A candidate: the row of a memory that may match, with its words. */
export interface Candidate {
  seq: number
  /** Number of words in its value. */
  words: number
  key_text: string
  tags_text: string
  also_text: string
  /** Null for a long value: see `longText`. */
  value_text: string | null
}

/** Lookup of memories by words, in the engine's full-text index. */
export interface TextIndex extends Pick<TextMatcher, 'prepare' | 'isComplete' | 'addMissing'> {
  /** Returns the newest `limit` matching memories, in any order. */
  candidates(wanted: Wanted, filter: TextFilter, limit: number): Promise<Candidate[]>
  /** Counts the matches, up to `limit`. */
  count(wanted: Wanted, filter: TextFilter, limit: number): Promise<number>
  /** Returns the words of a value; undefined for a deleted memory. */
  longText(seq: number): Promise<string | undefined>
}

/** Words of a value above which it is read separately, when its memory is ranked. */
const LONG = 2000

/** Opens the full-text index of the store's engine. */
export async function openTextIndex({
  engine,
  reads,
  lookups,
}: Pick<Store, 'engine' | 'reads' | 'lookups'>): Promise<TextIndex> {
  const { matching, newestFirst, ...rest } = await LOAD[engine](lookups)
  return {
    ...rest,
    async candidates(wanted, filter, limit) {
      const { from, hasOnePlan } = await matching(wanted, filter)
      return readPacked<Candidate>(
        { db: reads, engine, prepares: hasOnePlan },
        ['seq', 'words', 'key_text', 'tags_text', 'also_text', 'value_text'],
        sql`select memories.seq, memories.words, memories.key_text, memories.tags_text, memories.also_text,
            case when memories.words <= ${LONG} then memories.value_text end as value_text
          from ${from} order by ${newestFirst} desc limit ${limit}`,
      )
    },

    async count(wanted, filter, limit) {
      const { rows } = await sql<{ found: number }>`select count(*) as found from (
        select 1 from ${(await matching(wanted, filter)).from} limit ${limit}) as counted`.execute(reads)
      return rows[0]?.found ?? 0
    },

    async longText(seq) {
      const row = await reads.selectFrom('memories').select('value_text').where('seq', '=', seq).executeTakeFirst()
      return row?.value_text
    },
  }
}

const loadOnSqlite = lazily(() => import('./sqlite-text-matcher.ts'))
const loadOnPostgres = lazily(() => import('./postgres-text-matcher.ts'))

/** Loads only the engine in use. */
const LOAD = {
  sqlite: async (db: Store['lookups']): Promise<TextMatcher> => (await loadOnSqlite()).createSqliteTextMatcher(db),
  postgres: async (db: Store['lookups']): Promise<TextMatcher> =>
    (await loadOnPostgres()).createPostgresTextMatcher(db),
}
