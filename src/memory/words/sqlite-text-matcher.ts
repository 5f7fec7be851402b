import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import { isLive } from '../records/memory-expiry.ts'
import { filterConditions } from './filter-conditions.ts'
import { indexedWords } from './indexed-words.ts'
import { marked } from './placeholders.ts'
import { addProjectWords, hasAllProjectWords } from './project-words.ts'
import type { TextFilter, TextMatcher, Wanted } from './text-matcher.ts'

/** Share of all memories above which a namespace is filtered row by row: the index would be slower. */
const SMALL_SHARE = 0.1

/** Bytes at the end of a project's name that stand before its words, as in migration 041. */
const NAME_BYTES = 16

/** An FTS5 table, and an expression for it. */
interface Lookup {
  table: 'memories_text' | 'memories_project_text'
  expression: string
}

/**
 * Finds words with FTS5. Words reach it only as quoted strings, so that a query cannot inject its syntax.
 *
 * The index itself filters by project, namespace and tags, so that a small project or namespace in a large store stays
 * fast. The index for all projects treats some names as equal (`a b` and `A-b`); the rows then tell them apart.
 */
export function createSqliteTextMatcher(db: Kysely<Schema>): TextMatcher {
  let complete = false

  async function isComplete(): Promise<boolean> {
    complete ||= await hasAllProjectWords(db)
    return complete
  }

  return {
    async prepare({ project }) {
      if (project !== undefined) await isComplete()
    },
    async matching(wanted, filter) {
      const byProject = filter.project !== undefined && (await isComplete())
      const { table, expression } = byProject ? lookUpInProjects(wanted, filter) : lookUpInAll(wanted, filter)
      const conditions: Array<RawBuilder<unknown>> = [
        sql`lookup.${sql.ref(table)} match ${expression}`,
        isLive(filter.now),
        ...filterConditions(filter),
      ]
      // A cross join keeps the text index outermost. Otherwise SQLite scans a whole namespace and looks up each row.
      const from = sql`${sql.table(table)} as lookup cross join memories on memories.seq = lookup.rowid
        where ${sql.join(conditions, sql` and `)}`
      return { from, hasOnePlan: true }
    },
    newestFirst: sql`lookup.rowid`,
    isComplete,
    addMissing: addProjectWords,
  }
}

function lookUpInAll(wanted: Wanted, { space, namespace, tags = [] }: TextFilter): Lookup {
  const columns = wanted.where === 'everywhere' ? 'key_text value_text tags_text also_text' : 'key_text tags_text'
  const groups = formatGroups(wanted, (word) => [marked(space, word)])
  const isSmall = isSmallNamespace(namespace) && indexedWords(namespace.name).length > 0
  const tagged = tags.map((tag) => indexedWords(tag).join(' ')).filter((words) => words !== '')
  const expression = [
    `{${columns}} : (${groups})`,
    ...(isSmall ? [`namespace : ${quote(namespace.name)}`] : []),
    ...tagged.map((words) => `tags_text : ${quote(marked(space, words))}`),
  ]
  return { table: 'memories_text', expression: expression.join(' AND ') }
}

/** Looks words up behind each project of the filter, and behind none: see migration 041. The rows tell names apart that end alike. */
function lookUpInProjects(wanted: Wanted, { space, namespace, project, tags = [] }: TextFilter): Lookup {
  const projects = ['', ...[project ?? []].flat()].map((name) =>
    Buffer.from(name).subarray(-NAME_BYTES).toString('hex'),
  )
  const behindProjects = (word: string) => projects.map((name) => `${name}·${marked(space, word)}`)
  const groups = `(${formatGroups(wanted, behindProjects)})`
  const tagged = tags.flatMap(indexedWords).map((word) => [word])
  const expression = [
    wanted.where === 'everywhere' ? groups : `named : ${groups}`,
    ...(isSmallNamespace(namespace) ? [`namespace : ${quote(Buffer.from(namespace.name).toString('hex'))}`] : []),
    ...(tagged.length > 0 ? [`named : (${formatGroups({ match: 'all', groups: tagged }, behindProjects)})`] : []),
  ]
  return { table: 'memories_project_text', expression: expression.join(' AND ') }
}

const isSmallNamespace = (of: TextFilter['namespace']): of is NonNullable<TextFilter['namespace']> =>
  of !== undefined && of.share < SMALL_SHARE

/** @param formsOf forms of a word in the index, of which any matches */
function formatGroups({ match, groups }: Omit<Wanted, 'where'>, formsOf: (word: string) => string[]): string {
  const formatted = groups.map((words) => `(${words.flatMap(formsOf).map(quote).join(' OR ')})`)
  return formatted.join(match === 'all' ? ' AND ' : ' OR ')
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`
