import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { bestMatches, MOST_RANKED } from './best-matches.ts'
import { marked, markOf } from './marks.ts'
import { type IndexedWord, nearest } from './nearest.ts'
import type { Alternatives, Spelling, TextFilter, TextHit, TextIndex, TextQuery } from './text-index.ts'
import { startsCorrected } from './typos.ts'

/** Weights of value (D), nothing (C), tags (B) and key (A), in the proportions of the SQLite index. */
const WEIGHTS = sql`'{0.125, 0, 0.5, 1}'`
const IN_KEY_OR_TAGS = 'AB'
/** Similar words whose frequency is looked up, and looked up at once. */
const MOST_WEIGHED = 32
/** Memories that are counted to tell a frequent word from a rare one. */
const MOST_FREQUENT = 1000
/** As the index cuts them. */
const LONGEST_WORD = 500

/**
 * The text index on PostgreSQL: a GIN index over the `words` of the memories, which a trigger keeps, and the vocabulary in
 * `memory_terms` for words that are spelt wrong. No extension is needed. Words reach the engine as quoted lexemes only,
 * so that nothing in a query is read as its syntax.
 */
export function createPostgresTextIndex(db: Kysely<Schema>): TextIndex {
  /** The best of the newest matches. */
  async function rank(words: string, filter: TextFilter, limit: number): Promise<TextHit[]> {
    const { rows } = await sql<TextHit>`select seq, score from (
        select memories.seq, ts_rank(${WEIGHTS}, memories.words, ${words}::tsquery, 1) as score
        from ${matches(words, filter)} order by memories.seq desc limit ${MOST_RANKED}
      ) as newest order by score desc, seq desc limit ${limit}`.execute(db)
    return rows
  }

  async function countUpTo(limit: number, words: string, filter: TextFilter): Promise<number> {
    const { rows } = await sql<{ found: number }>`select count(*) as found from (
      select 1 from ${matches(words, filter)} limit ${limit}) as counted`.execute(db)
    return rows[0]?.found ?? 0
  }

  /** `terms` of a space with the number of memories that hold them; words that no memory holds any more are left out. */
  async function weighed(terms: readonly string[], mark: string): Promise<IndexedWord[]> {
    if (terms.length === 0) return []
    const { rows } = await sql<IndexedWord>`select term, doc from unnest(${[...terms]}::text[]) as term,
      lateral (select count(*) as doc from (
        select 1 from memories where words @@ quote_literal(${mark} || term)::tsquery limit ${MOST_FREQUENT}) as counted) as held
      where doc > 0`.execute(db)
    return rows
  }

  async function nearestHeld(word: string, typos: number, mark: string, rows: ReadonlyArray<{ term: string }>) {
    const candidates = rows.map(({ term }) => ({ term, doc: 0 }))
    const near = nearest(word, typos, candidates).map(({ term }) => term)
    const held: IndexedWord[] = []
    // The vocabulary keeps words that no memory holds any more: on through them, to as many that one does.
    for (let at = 0; at < near.length && held.length < MOST_WEIGHED; at += MOST_WEIGHED)
      held.push(...(await weighed(near.slice(at, at + MOST_WEIGHED), mark)))
    return nearest(word, typos, held)
  }

  return {
    match: (query, filter, limit) =>
      bestMatches(
        {
          count: (most) => countUpTo(most, formatQuery(query, filter.space), filter),
          rank: (where) =>
            rank(formatQuery(query, filter.space, where === 'everywhere' ? '' : IN_KEY_OR_TAGS), filter, limit),
        },
        limit,
      ),

    count: (word, filter, limit) => countUpTo(limit, formatAlternatives(word, filter.space), filter),

    async similar(word, { space, typos, limit }) {
      const mark = markOf(space)
      const start = mark + [...word].slice(0, 2).join('')
      const { rows: sameStart } = await sql<{
        term: string
      }>`select substr(term, ${mark.length + 1}::int) as term from memory_terms
        where term >= ${start} and term < ${`${start}\u{10ffff}`}
          and length(term) between ${mark.length + word.length - typos} and ${mark.length + word.length + typos}`.execute(
        db,
      )
      const found = await nearestHeld(word, typos, mark, sameStart)
      if (found[0]?.typos === 1) return found.slice(0, limit).map(({ term }) => term)
      const variants = startsCorrected(word).map((variant) => mark + variant)
      const { rows: otherStart } = await sql<{ term: string }>`select substr(term, ${mark.length + 1}::int) as term
        from memory_terms where term = any(${variants}::text[])`.execute(db)
      return (await nearestHeld(word, typos, mark, [...sameStart, ...otherStart]))
        .slice(0, limit)
        .map(({ term }) => term)
    },
  }
}

/** The memories that hold `words` and pass the filter. */
function matches(words: string, { now, namespace, project, tags = [], from, to }: TextFilter): RawBuilder<unknown> {
  const conditions = [
    sql`memories.words @@ ${words}::tsquery`,
    sql`(memories.expires_at is null or memories.expires_at > ${now})`,
    ...tags.map((tag) => sql`exists (select 1 from memory_tags where seq = memories.seq and tag = ${tag})`),
  ]
  if (project === null) conditions.push(sql`memories.project is null`)
  else if (project !== undefined) conditions.push(sql`(memories.project is null or memories.project = ${project})`)
  if (namespace) conditions.push(sql`memories.namespace = ${namespace.name}`)
  if (from !== undefined) conditions.push(sql`memories.updated_at >= ${from}`)
  if (to !== undefined) conditions.push(sql`memories.updated_at <= ${to}`)
  return sql`memories where ${sql.join(conditions, sql` and `)}`
}

/** @param places the weights of the parts that are looked at; all of them when empty */
function formatQuery({ match, words }: TextQuery, space: number, places = ''): string {
  return words.map((word) => `(${formatAlternatives(word, space, places)})`).join(match === 'all' ? ' & ' : ' | ')
}

const formatAlternatives = (word: Alternatives, space: number, places = ''): string =>
  word.map((spelling) => formatSpelling(spelling, space, places)).join(' | ')

/** A prefix is looked for beside the word itself, so that the word itself counts more. */
function formatSpelling({ text, prefix }: Spelling, space: number, places: string): string {
  const [first = '', ...rest] = marked(space, text).split(' ').map(quote)
  if (rest.length > 0) return `(${[first, ...rest].map((word) => `${word}:${places}`).join(' <-> ')})`
  return prefix ? `${first}:${places} | ${first}:*${places}` : `${first}:${places}`
}

const quote = (word: string): string =>
  `'${[...word].slice(0, LONGEST_WORD).join('').replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
