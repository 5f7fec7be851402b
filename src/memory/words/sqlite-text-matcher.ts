import { type RawBuilder, sql } from 'kysely'
import { isLive } from '../records/memory-expiry.ts'
import { filterConditions } from './filter-conditions.ts'
import { indexedWords } from './indexed-words.ts'
import { marked } from './placeholders.ts'
import type { TextFilter, TextMatcher, Wanted } from './text-matcher.ts'

/** Share of all memories above which a namespace is filtered row by row: the index would be slower. */
const SMALL_SHARE = 0.1
/** Memories of a project up to which their numbers are looked up before their rows: reading rows takes longer. */
const SMALL_PROJECT = 5_000
const COLUMNS = { everywhere: 'key_text value_text tags_text also_text', 'in key or tags': 'key_text tags_text' }

/**
 * Finds words with FTS5. Words reach it only as quoted strings, so that a query cannot inject its syntax.
 *
 * The index itself filters by namespace and tags, so that a small namespace in a large store stays fast. It treats some
 * names as equal (`a b` and `A-b`); the rows then tell them apart.
 */
export const sqliteTextMatcher: TextMatcher = {
  matching(wanted, filter) {
    const expression = [`{${COLUMNS[wanted.where]}} : (${formatGroups(wanted, filter.space)})`, ...scopes(filter)]
    const conditions: Array<RawBuilder<unknown>> = [
      sql`memories_text match ${expression.join(' AND ')}`,
      ...inSmallProject(filter),
      isLive(filter.now),
      ...filterConditions(filter),
    ]
    // A cross join keeps the text index outermost. Otherwise SQLite scans a whole namespace and looks up each row.
    return sql`memories_text cross join memories on memories.seq = memories_text.rowid
      where ${sql.join(conditions, sql` and `)}`
  },
  newestFirst: sql`memories_text.rowid`,
}

function scopes({ space, namespace, tags = [] }: TextFilter): string[] {
  const isSmall = namespace !== undefined && namespace.share < SMALL_SHARE && indexedWords(namespace.name).length > 0
  const tagged = tags.map((tag) => indexedWords(tag).join(' ')).filter((words) => words !== '')
  return [
    ...(isSmall ? [`namespace : ${quote(namespace.name)}`] : []),
    ...tagged.map((words) => `tags_text : ${quote(marked(space, words))}`),
  ]
}

/**
 * Condition that a match is of the projects of the filter or of none, by its number alone. Otherwise the rows of all
 * matches are read to find the few of a small project. True for all matches if the projects are large.
 */
function inSmallProject({ space, project }: TextFilter): Array<RawBuilder<unknown>> {
  if (project === undefined) return []
  const parts = [null, ...[project ?? []].flat()].map(
    (one) => sql`select seq from memories where space = ${space} and project is ${one}`,
  )
  const numbers = sql.join(parts, sql` union all `)
  // The plus keeps SQLite from one search of the text index for each number.
  return [
    sql`(${SMALL_PROJECT} <= (select count(*) from (${numbers} limit ${SMALL_PROJECT}))
      or +memories_text.rowid in (${numbers}))`,
  ]
}

function formatGroups({ match, groups }: Wanted, space: number): string {
  const formatted = groups.map((words) => `(${words.map((word) => quote(marked(space, word))).join(' OR ')})`)
  return formatted.join(match === 'all' ? ' AND ' : ' OR ')
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`
