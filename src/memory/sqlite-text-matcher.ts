import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { indexedText, wordsOf } from '../text/words.ts'
import { bestMatches, MOST_RANKED } from './best-matches.ts'
import { marked, markOf } from './marks.ts'
import { type IndexedWord, nearest } from './nearest.ts'
import type { Alternatives, Spelling, TextFilter, TextHit, TextIndex, TextQuery } from './text-index.ts'
import { startsCorrected } from './typos.ts'

/** bm25 weights of key, value, tags and namespace; the namespace only narrows a search. */
const WEIGHTS = sql`8, 1, 4, 0`
/** Above this share of all memories it costs more to narrow by the namespace in the index than row by row. */
const SMALL_SHARE = 0.1
const EVERYWHERE = 'key_text value_text tags_text'
const IN_KEY_OR_TAGS = 'key_text tags_text'

/**
 * The text index on SQLite: FTS5, and its vocabulary for words that are spelt wrong. Words reach FTS5 as quoted strings
 * only, so that nothing in a query is read as FTS5 syntax.
 */
export function createSqliteTextIndex(db: Kysely<Schema>): TextIndex {
  /** The best of the newest matches. */
  async function rank(columns: string, query: TextQuery, filter: TextFilter, limit: number): Promise<TextHit[]> {
    const { rows } = await sql<TextHit>`select seq, score from (
        select memories_text.rowid as seq, -bm25(memories_text, ${WEIGHTS}) as score
        from ${matches(columns, formatQuery(query, filter.space), filter)}
        order by memories_text.rowid desc limit ${MOST_RANKED}
      ) order by score desc, seq desc limit ${limit}`.execute(db)
    return rows
  }

  async function countUpTo(limit: number, words: string, filter: TextFilter): Promise<number> {
    const { rows } = await sql<{ found: number }>`select count(*) as found from (
      select 1 from ${matches(EVERYWHERE, words, filter)} limit ${limit})`.execute(db)
    return rows[0]?.found ?? 0
  }

  return {
    match: (query, filter, limit) =>
      bestMatches(
        {
          count: (most) => countUpTo(most, formatQuery(query, filter.space), filter),
          rank: (where) => rank(where === 'everywhere' ? EVERYWHERE : IN_KEY_OR_TAGS, query, filter, limit),
        },
        limit,
      ),

    count: (word, filter, limit) => countUpTo(limit, formatAlternatives(word, filter.space), filter),

    async similar(word, { space, typos, limit }) {
      const mark = markOf(space)
      const start = mark + [...word].slice(0, 2).join('')
      const { rows: sameStart } =
        await sql<IndexedWord>`select substr(term, ${mark.length + 1}) as term, doc from memories_terms
        where term >= ${start} and term < ${`${start}\u{10ffff}`}
          and length(term) between ${mark.length + word.length - typos} and ${mark.length + word.length + typos}
          and term not glob '*[0-9]*'`.execute(db)
      const found = nearest(word, typos, sameStart)
      if (found[0]?.typos === 1) return found.slice(0, limit).map(({ term }) => term)
      const variants = JSON.stringify(startsCorrected(word).map((variant) => mark + variant))
      const { rows: otherStart } =
        await sql<IndexedWord>`select substr(term, ${mark.length + 1}) as term, doc from memories_terms
        where term in (select value from json_each(${variants}))`.execute(db)
      return nearest(word, typos, [...sameStart, ...otherStart])
        .slice(0, limit)
        .map(({ term }) => term)
    },
  }
}

/**
 * The rows of the index that hold `words` in `columns` and pass the filter. The index itself leaves out other namespaces
 * and tags, so that a small namespace in a large store stays fast; what it takes for the same (`a b` and `A-b`) is then
 * told apart by the rows, which are read only where that is needed.
 */
function matches(columns: string, words: string, filter: TextFilter): RawBuilder<unknown> {
  const { space, now, namespace, project, tags = [], from, to } = filter
  const scopes = [
    ...(namespace && namespace.share < SMALL_SHARE && hasWords(namespace.name)
      ? [`namespace : ${quote(namespace.name)}`]
      : []),
    ...tags.filter(hasWords).map((tag) => `tags_text : ${quote(marked(space, indexedText(tag)))}`),
  ]
  const expression = [`{${columns}} : (${words})`, ...scopes].join(' AND ')
  const rows = []
  if (project === null) rows.push(sql`memories.project is null`)
  else if (project !== undefined) rows.push(sql`(memories.project is null or memories.project = ${project})`)
  if (namespace) rows.push(sql`memories.namespace = ${namespace.name}`)
  if (from !== undefined) rows.push(sql`memories.updated_at >= ${from}`)
  if (to !== undefined) rows.push(sql`memories.updated_at <= ${to}`)
  const conditions = [
    sql`memories_text match ${expression}`,
    sql`memories_text.rowid not in (select seq from memories where expires_at <= ${now})`,
    ...rows,
    ...tags.map((tag) => sql`exists (select 1 from memory_tags where seq = memories_text.rowid and tag = ${tag})`),
  ]
  // A cross join keeps the text index outermost; SQLite would otherwise walk a whole namespace and look each row up.
  const join = rows.length > 0 ? sql`cross join memories on memories.seq = memories_text.rowid` : sql``
  return sql`memories_text ${join} where ${sql.join(conditions, sql` and `)}`
}

const hasWords = (text: string): boolean => !wordsOf(text).next().done

function formatQuery({ match, words }: TextQuery, space: number): string {
  return words.map((word) => `(${formatAlternatives(word, space)})`).join(match === 'all' ? ' AND ' : ' OR ')
}

const formatAlternatives = (word: Alternatives, space: number): string =>
  word.map((spelling) => formatSpelling(spelling, space)).join(' OR ')

/** A prefix is looked for beside the word itself, so that the word itself counts more. */
function formatSpelling({ text, prefix }: Spelling, space: number): string {
  const quoted = quote(marked(space, text))
  return prefix ? `${quoted} OR ${quoted} *` : quoted
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`
