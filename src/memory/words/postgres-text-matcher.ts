import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Schema } from '../../store/schema.ts'
import { isLive } from '../records/memory-expiry.ts'
import { filterConditions, inProjects } from './filter-conditions.ts'
import { marked } from './placeholders.ts'
import type { TextFilter, TextMatcher, Wanted } from './text-matcher.ts'

const PLACES = { everywhere: '', 'in key or tags': 'AB' }
/** Matches in all projects that the index finds faster than the memories of one project can be counted. */
const FEW = 500
/** Maximum number of memories of a project that are read instead of the matches in all projects. */
const SMALL_PROJECT = 5_000

/**
 * Finds words with a GIN index over lexemes, which a trigger updates. No extension is needed. Words reach the engine
 * only as quoted lexemes, so that a query cannot inject its syntax.
 *
 * The index knows no projects. Where a project has fewer memories than all projects have matches, as for frequent words,
 * its memories are read instead.
 */
export function createPostgresTextMatcher(db: Kysely<Schema>): TextMatcher {
  return {
    async matching(wanted, filter) {
      const conditions = sql.join(
        [
          sql`memories.lexemes @@ ${formatGroups(wanted, filter.space)}::tsquery`,
          isLive(filter.now),
          ...filterConditions(filter),
        ],
        sql` and `,
      )
      if (!(await isRarer(db, wanted, filter))) return sql`memories where ${conditions}`
      // The offset keeps the planner from the index of lexemes, whose cost it underestimates.
      return sql`(select * from memories where ${inScope(filter)} offset 0) as memories where ${conditions}`
    },
    newestFirst: sql`memories.seq`,
    isComplete: async () => true,
    addMissing: async () => 0,
  }
}

/** Tells whether the projects of the filter have fewer memories than the words have matches in all projects. */
async function isRarer(db: Kysely<Schema>, { memories }: Wanted, filter: TextFilter): Promise<boolean> {
  if (filter.project === undefined || memories <= FEW) return false
  const most = Math.min(memories, SMALL_PROJECT)
  // One by one, so that the index alone answers.
  const parts = [null, ...[filter.project ?? []].flat()].map((project) => {
    const isOf = project === null ? sql`project is null` : sql`project = ${project}`
    return sql`select 1 from memories where space = ${filter.space} and ${isOf}`
  })
  const { rows } = await sql<{ found: number }>`select count(*) as found from (
    ${sql.join(parts, sql` union all `)} limit ${most}) as counted`.execute(db)
  return (rows[0]?.found ?? 0) < most
}

const inScope = ({ space, project }: TextFilter): RawBuilder<unknown> =>
  sql.join([sql`memories.space = ${space}`, ...inProjects(project)], sql` and `)

function formatGroups({ match, groups, where }: Wanted, space: number): string {
  const formatted = groups.map(
    (words) => `(${words.map((word) => `${quote(marked(space, word))}:${PLACES[where]}`).join(' | ')})`,
  )
  return formatted.join(match === 'all' ? ' & ' : ' | ')
}

const quote = (word: string): string => `'${word.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
