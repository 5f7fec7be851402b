import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { runBuiltRows } from '../store/built.ts'
import type { Engine } from '../store/engine.ts'
import { readPacked } from '../store/packed.ts'
import type { Schema } from '../store/schema.ts'
import type { MemoryWordRow } from '../store/tables/memory-tables.ts'
import { stemOf } from '../text/stem.ts'
import { isUnspaced } from '../text/words.ts'
import { giveWay } from '../wire/give-way.ts'
import { hasDigit, startsCorrected } from './typos.ts'

/** Words that are written before others have the thread. */
const PART = 500
/** Words with one beginning or ending that are looked at, and those of them that are taken: the most frequent. */
const MOST_LOOKED_AT = 2000
const MOST_TAKEN = 24
/** Letters from which a word is looked for as the end of another, as in compounds. */
const SHORTEST_ENDING = 4

/** A word of a space and how many of its memories hold it. */
export type HeldWord = Pick<MemoryWordRow, 'word' | 'stem' | 'memories'>

/** Changes of the word counts within a transaction, collected to be written in one order. */
export interface WordChanges {
  /** A memory of a space comes to hold `words`, each named once. */
  add(space: number, words: Iterable<string>): void
  /** A memory of a space no longer holds `words`, each named once. */
  take(space: number, words: Iterable<string>): void
  /** Writes them, as the last thing in a transaction: those that share a word wait for each other from here on. */
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
      // In one order, so that two transactions never wait for each other in a circle.
      for (const [space, changes] of [...bySpace].sort(([a], [b]) => a - b)) {
        const rows = [...changes].filter(([, by]) => by !== 0).sort(([a], [b]) => (a < b ? -1 : 1))
        for (let at = 0; at < rows.length; at += PART) {
          await giveWay()
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
  /** The words themselves, as far as a memory holds them, and all that share a stem with one of them. */
  alike(space: number, words: readonly string[]): Promise<HeldWord[]>
  /** For each of `beginnings` the most frequent words that begin with it and are longer. */
  begunWith(space: number, beginnings: readonly string[]): Promise<Map<string, HeldWord[]>>
  /** For each of `endings` the most frequent longer words that end with it. Short endings match no word. */
  endingWith(space: number, endings: readonly string[]): Promise<Map<string, HeldWord[]>>
  /** Words from which one of `word` may come by so many typos, the first two letters being right, or one of them wrong. */
  maybe(space: number, word: string, typos: number): Promise<HeldWord[]>
}

/** Creates the word index of all spaces, in the tables of `of.db`. */
export function createMemoryWords(of: { db: Kysely<Schema>; engine: Engine }): MemoryWords {
  const { db } = of
  const read = (condition: RawBuilder<unknown>) =>
    readPacked<HeldWord>(
      of,
      ['word', 'stem', 'memories'],
      sql`select word, stem, memories from memory_words where ${condition}`,
    )

  async function inRanges(space: number, column: 'word' | 'ending', starts: readonly string[]) {
    const by = sql.ref(column)
    const ranges = [...new Set(starts)].map(
      (start) => sql`select * from (
        select * from (select cast(${start} as text) as start, word, stem, memories from memory_words
          where space = ${space} and ${by} > ${start} and ${by} < ${`${start}\u{10ffff}`} and ${by} <> ''
          order by ${by} limit ${MOST_LOOKED_AT}) as looked_at
        order by memories desc, word limit ${MOST_TAKEN}) as taken`,
    )
    const found = new Map<string, HeldWord[]>(starts.map((start) => [start, []]))
    if (ranges.length === 0) return found
    const { rows } = await sql<HeldWord & { start: string }>`${sql.join(ranges, sql` union all `)}`.execute(db)
    for (const { start, ...held } of rows) found.get(start)?.push(held)
    return found
  }

  return {
    async alike(space, words) {
      if (words.length === 0) return []
      const stems = [...new Set(words.map(stemOf))]
      return read(sql`space = ${space} and stem in (${sql.join(stems)})`)
    },

    begunWith: (space, beginnings) => inRanges(space, 'word', beginnings),

    async endingWith(space, endings) {
      const long = endings.filter((ending) => ending.length >= SHORTEST_ENDING)
      const found = await inRanges(space, 'ending', long.map(backwards))
      return new Map([...found].map(([ending, words]) => [backwards(ending), words]))
    },

    async maybe(space, word, typos) {
      const start = [...word].slice(0, 2).join('')
      const length = [...word].length
      return readPacked<HeldWord>(
        of,
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
