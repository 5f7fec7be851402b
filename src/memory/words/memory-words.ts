import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Engine } from '../../store/engine.ts'
import { runBuiltRows, runPrepared } from '../../store/prepared-sql.ts'
import { readPacked } from '../../store/rows-as-json.ts'
import type { Schema } from '../../store/schema.ts'
import type { MemoryWordRow } from '../../store/tables/memory-tables.ts'
import { stemOf } from '../../text/stem.ts'
import { isUnspaced } from '../../text/words.ts'
import { yieldToEventLoop } from '../../wire/yield-to-event-loop.ts'
import { hasDigit, startsCorrected } from './typos.ts'

/** Words that are written before other work gets the thread. */
const PART = 500
/** Maximum number of words read per beginning or ending, and of those used: the most frequent. */
const MAX_LOOKED_AT = 2000
const MAX_TAKEN = 24
/** Number of memories from which a word does not match longer words: it has enough matches. */
const MANY = 1000
/** Maximum number of stems in a prepared statement: there is one for each number. */
const MAX_PREPARED = 50
/** Shortest word that is searched as the end of other words, as in compounds. */
const SHORTEST_ENDING = 4

/** A word of a space, and the number of memories that hold it. */
export type StoredWord = Pick<MemoryWordRow, 'word' | 'stem' | 'memories'>

/** Changes of the word counts within a transaction, written together in sorted order. */
export interface WordChanges {
  /** Counts one more memory of a space for each of `words`, which are distinct. */
  add(space: number, words: Iterable<string>): void
  /** Counts one memory of a space less for each of `words`, which are distinct. */
  take(space: number, words: Iterable<string>): void
  /**
   * Writes the changes. Call it last in a transaction: from here on, transactions that share a word wait for each
   * other.
   */
  write(trx: Transaction<Schema>): Promise<void>
}

/** Creates an empty set of changes. */
export function createWordChanges(): WordChanges {
  const bySpace = new Map<number, Map<string, number>>()

  function change(space: number, words: Iterable<string>, by: number): void {
    const changes = bySpace.get(space) ?? new Map<string, number>()
    bySpace.set(space, changes)
    for (const word of words) changes.set(word, (changes.get(word) ?? 0) + by)
  }

  return {
    add: (space, words) => change(space, words, 1),
    take: (space, words) => change(space, words, -1),
    async write(trx) {
      // Sorted, so that two transactions never deadlock.
      for (const [space, changes] of [...bySpace].sort(([a], [b]) => a - b)) {
        const rows = [...changes].filter(([, by]) => by !== 0).sort(([a], [b]) => (a < b ? -1 : 1))
        for (let at = 0; at < rows.length; at += PART) {
          await yieldToEventLoop()
          await write(trx, space, rows.slice(at, at + PART))
        }
      }
    },
  }
}

async function write(
  trx: Transaction<Schema>,
  space: number,
  changes: ReadonlyArray<readonly [word: string, by: number]>,
): Promise<void> {
  const rows = changes.map(([word, memories]) => ({
    space,
    word,
    stem: stemOf(word),
    ending: endingOf(word),
    memories,
  }))
  await runBuiltRows(trx, 'add memory words', rows, (part) =>
    trx
      .insertInto('memory_words')
      .values([...part])
      .onConflict((conflict) =>
        conflict.columns(['space', 'word']).doUpdateSet({ memories: sql`memory_words.memories + excluded.memories` }),
      )
      .compile(),
  )
  const fewer = changes.filter(([, by]) => by < 0).map(([word]) => word)
  if (fewer.length === 0) return
  await trx
    .deleteFrom('memory_words')
    .where('space', '=', space)
    .where('word', 'in', fewer)
    .where('memories', '=', 0)
    .execute()
}

/** A word reversed, for lookups by ending; empty for words that are not looked up by ending. */
const endingOf = (word: string): string =>
  word.length <= SHORTEST_ENDING || hasDigit(word) || isUnspaced(word) ? '' : backwards(word)

const backwards = (word: string): string => [...word].reverse().join('')

/** Lookup among the words of a space. */
export interface MemoryWords {
  /** Returns those of `words` that memories hold, and all words that share a stem with one of them. */
  alike(space: number, words: readonly string[]): Promise<StoredWord[]>
  /** Returns the most frequent longer words that begin with each of `beginnings`. None for a frequent word itself. */
  begunWith(space: number, beginnings: readonly string[]): Promise<Map<string, StoredWord[]>>
  /** Returns the most frequent longer words that end with each of `endings`. Short endings match no word. */
  endingWith(space: number, endings: readonly string[]): Promise<Map<string, StoredWord[]>>
  /** Returns words within this many typos of `word`, if its first two letters are right or one of them is wrong. */
  maybe(space: number, word: string, typos: number): Promise<StoredWord[]>
}

/** Creates the word index of all spaces, in the tables of `of.db`. */
export function createMemoryWords(of: { db: Kysely<Schema>; engine: Engine }): MemoryWords {
  const { db } = of
  async function inRanges(
    space: number,
    column: 'word' | 'ending',
    starts: readonly string[],
    unless: (start: string) => RawBuilder<unknown> = () => sql``,
  ) {
    const by = sql.ref(column)
    const ranges = [...new Set(starts)].map(
      (start) => sql`select * from (
        select * from (select cast(${start} as text) as start, word, stem, memories from memory_words
          where space = ${space} and ${by} > ${start} and ${by} < ${`${start}\u{10ffff}`} and ${by} <> '' ${unless(start)}
          order by ${by} limit ${MAX_LOOKED_AT}) as looked_at
        order by memories desc, word limit ${MAX_TAKEN}) as taken`,
    )
    const found = new Map<string, StoredWord[]>(starts.map((start) => [start, []]))
    if (ranges.length === 0) return found
    const query = sql<StoredWord & { start: string }>`${sql.join(ranges, sql` union all `)}`.compile(db)
    const { rows } = await runPrepared(db, query)
    for (const { start, ...held } of rows) found.get(start)?.push(held)
    return found
  }

  return {
    async alike(space, words) {
      if (words.length === 0) return []
      const stems = [...new Set(words.map(stemOf))]
      return readPacked<StoredWord>(
        { ...of, prepares: stems.length <= MAX_PREPARED },
        ['word', 'stem', 'memories'],
        sql`select word, stem, memories from memory_words where space = ${space} and stem in (${sql.join(stems)})`,
      )
    },

    begunWith: (space, beginnings) =>
      inRanges(
        space,
        'word',
        beginnings,
        (word) => sql`and not exists (select 1 from memory_words as whole
          where whole.space = ${space} and whole.word = ${word} and whole.memories >= ${MANY})`,
      ),

    async endingWith(space, endings) {
      const long = endings.filter((ending) => ending.length >= SHORTEST_ENDING)
      const found = await inRanges(space, 'ending', long.map(backwards))
      return new Map([...found].map(([ending, words]) => [backwards(ending), words]))
    },

    async maybe(space, word, typos) {
      const start = [...word].slice(0, 2).join('')
      const length = [...word].length
      return readPacked<StoredWord>(
        { ...of, prepares: true },
        ['word', 'stem', 'memories'],
        sql`select word, stem, memories from memory_words
            where space = ${space} and word >= ${start} and word < ${`${start}\u{10ffff}`}
              and length(word) between ${length - typos} and ${length + typos}
          union all
          select word, stem, memories from memory_words
            where space = ${space} and word in (${sql.join(startsCorrected(word))})`,
      )
    },
  }
}
