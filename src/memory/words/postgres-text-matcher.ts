import { type Kysely, type RawBuilder, sql } from 'kysely'
import { runPrepared } from '../../store/prepared-sql.ts'
import type { Schema } from '../../store/schema.ts'
import { isLive } from '../records/memory-expiry.ts'
import { filterConditions } from './filter-conditions.ts'
import { marked } from './placeholders.ts'
import type { TextFilter, TextMatcher, Wanted } from './text-matcher.ts'

const PLACES = { everywhere: '', 'in key or tags': 'AB' }
/** Maximum number of memories in projects whose matches are all read. Of others, the planner may read the newest alone. */
const SMALL = 5_000
/** Time for which it is remembered whether projects are small, in milliseconds, and most projects. It only decides the plan. */
const KEPT_MS = 60_000
const MAX_KEPT = 1_000

type Projects = Pick<TextFilter, 'space' | 'project'>

/**
 * Finds words with a GIN index over lexemes, which a trigger updates. No extension is needed. Words reach the engine
 * only as quoted lexemes, so that a query cannot inject its syntax.
 *
 * That index knows no projects. Words of small projects are found in an index of the words of each: see migration 042.
 */
export function createPostgresTextMatcher(db: Kysely<Schema>): TextMatcher {
  const sizes = new Map<string, { until: number; isSmall: Promise<boolean> }>()

  async function isSmall(of: Projects): Promise<boolean> {
    if (of.project === undefined) return false
    const key = JSON.stringify([of.space, of.project])
    const known = sizes.get(key)
    if (known && performance.now() < known.until) return known.isSmall
    const found = hasSmallProjects(db, of)
    found.catch(() => sizes.delete(key))
    if (sizes.size >= MAX_KEPT) sizes.clear()
    sizes.set(key, { until: performance.now() + KEPT_MS, isSmall: found })
    return found
  }

  return {
    async prepare(of) {
      await isSmall(of)
    },
    async matching(wanted, filter) {
      const conditions = [isLive(filter.now), ...filterConditions(filter)]
      if (await isSmall(filter)) {
        // The offset keeps the planner from other indexes.
        const found = sql`(select * from memories where ${inProjectIndex(wanted, filter)} offset 0)`
        return { from: sql`${found} as memories where ${sql.join(conditions, sql` and `)}`, hasOnePlan: true }
      }
      const lexemes = sql`memories.lexemes @@ ${formatGroups(wanted, filter.space)}::tsquery`
      return { from: sql`memories where ${sql.join([lexemes, ...conditions], sql` and `)}`, hasOnePlan: false }
    },
    newestFirst: sql`memories.seq`,
    isComplete: async () => true,
    addMissing: async () => 0,
  }
}

/** Tells whether the projects of a filter have few memories. */
async function hasSmallProjects(db: Kysely<Schema>, filter: Projects): Promise<boolean> {
  // One by one, so that the index alone answers.
  const parts = projectsOf(filter).map((project) => {
    const isOf = project === null ? sql`project is null` : sql`project = ${project}`
    return sql`select 1 from memories where space = ${filter.space} and ${isOf}`
  })
  const query = sql<{ found: number }>`select count(*) as found from (
    ${sql.join(parts, sql` union all `)} limit ${SMALL}) as counted`.compile(db)
  const { rows } = await runPrepared(db, query)
  return (rows[0]?.found ?? 0) < SMALL
}

/** The projects of a filter, and null for none. */
const projectsOf = ({ project }: Projects): Array<string | null> => [null, ...[project ?? []].flat()]

/** Condition on the hashes that migration 042 has in its index. */
function inProjectIndex({ match, groups, where }: Wanted, filter: TextFilter): RawBuilder<unknown> {
  const before = where === 'everywhere' ? '' : '+'
  const hashesOf = (words: readonly string[]) => {
    const texts = words.flatMap((word) =>
      projectsOf(filter).map((project) => `${project ?? ''} ${before}${marked(filter.space, word)}`),
    )
    return sql`array(select hashtextextended(said, 0) from unnest(${texts}::text[]) as asked (said))`
  }
  const sets = match === 'all' ? groups : [groups.flat()]
  const hashes = sql`memory_word_hashes(project, key_text, tags_text, also_text, value_text)`
  return sql.join(
    sets.map((words) => sql`${hashes} && ${hashesOf(words)}`),
    sql` and `,
  )
}

function formatGroups({ match, groups, where }: Wanted, space: number): string {
  const formatted = groups.map(
    (words) => `(${words.map((word) => `${quote(marked(space, word))}:${PLACES[where]}`).join(' | ')})`,
  )
  return formatted.join(match === 'all' ? ' & ' : ' | ')
}

const quote = (word: string): string => `'${word.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
