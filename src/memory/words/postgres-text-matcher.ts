import { sql } from 'kysely'
import { isLive } from '../records/memory-expiry.ts'
import { filterConditions } from './filter-conditions.ts'
import { marked } from './placeholders.ts'
import type { TextMatcher, Wanted } from './text-matcher.ts'

const PLACES = { everywhere: '', 'in key or tags': 'AB' }

/**
 * Finds words with a GIN index over lexemes, which a trigger updates. No extension is needed. Words reach the engine
 * only as quoted lexemes, so that a query cannot inject its syntax.
 */
export const postgresTextMatcher: TextMatcher = {
  matching: async (
    wanted,
    filter,
  ) => sql`memories where memories.lexemes @@ ${formatGroups(wanted, filter.space)}::tsquery
    and ${sql.join([isLive(filter.now), ...filterConditions(filter)], sql` and `)}`,
  newestFirst: sql`memories.seq`,
  isComplete: async () => true,
  addMissing: async () => 0,
}

function formatGroups({ match, groups, where }: Wanted, space: number): string {
  const formatted = groups.map(
    (words) => `(${words.map((word) => `${quote(marked(space, word))}:${PLACES[where]}`).join(' | ')})`,
  )
  return formatted.join(match === 'all' ? ' & ' : ' | ')
}

const quote = (word: string): string => `'${word.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
