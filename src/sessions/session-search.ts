import { sql } from 'kysely'
import { excerpt } from '../memory/search/memory-excerpt.ts'
import type { Store } from '../store/store.ts'
import type { SessionMessageRow } from '../store/tables/sessions-tables.ts'
import { distinctWords, queryWords, shortened } from '../text/words.ts'
import { yieldToEventLoop } from '../wire/yield-to-event-loop.ts'

/** Words of a query that count. */
const MAX_WORDS = 24
/** Newest matching exchanges that are read. */
const MAX_MATCHES = 500

/** A match of a query: the newest exchange of a session, or its title (position 0). */
interface Match {
  session_id: string
  position: number
}

/** A match with surrounding text; `message` is null for a title. */
export interface Hit {
  sessionId: string
  message: Pick<SessionMessageRow, 'id' | 'role'> | null
  snippet: string
}

/**
 * Finds the sessions of a user (or all) whose title or one of whose exchanges contains all words of `query` as
 * prefixes. Latest mention first, one match per session.
 */
export async function findWords(
  store: Store,
  query: string,
  { userId, limit }: { userId: string | null; limit: number },
): Promise<Hit[]> {
  const words = [...new Set(queryWords(query, MAX_WORDS).flatMap((word) => word.split(' ')))].map(shortened)
  if (words.length === 0) return []
  const search = { sqlite: matchOnSqlite, postgres: matchOnPostgres }[store.engine]
  const matches = await search(store, words, userId)
  const newest = new Map<string, Match>()
  for (const match of matches) if (!newest.has(match.session_id)) newest.set(match.session_id, match)
  const hits: Hit[] = []
  for (const match of [...newest.values()].slice(0, limit)) {
    await yieldToEventLoop()
    hits.push(await hitOf(store, match, words))
  }
  return hits
}

/** Searches with FTS5. Words are quoted, so that a query cannot contain FTS5 syntax. */
async function matchOnSqlite(store: Store, words: readonly string[], userId: string | null): Promise<Match[]> {
  const quoted = words.map((word) => `"${word}" *`).join(' AND ')
  const expression = userId === null ? `words_text : (${quoted})` : `words_text : (${quoted}) AND ${ofUser(userId)}`
  const only = userId === null ? sql`` : sql`and session_texts.user_id = ${userId}`
  // A cross join keeps the text index outermost.
  const { rows } = await sql<Match>`select session_texts.session_id, session_texts.position
    from session_words cross join session_texts on session_texts.seq = session_words.rowid
    where session_words match ${expression} ${only}
    order by session_words.rowid desc limit ${MAX_MATCHES}`.execute(store.reads)
  return rows
}

/** The user's id as a term of the index. The row check removes other ids that the index does not distinguish. */
const ofUser = (userId: string): string => `user_id : "${userId.replaceAll('"', '""')}"`

async function matchOnPostgres(store: Store, words: readonly string[], userId: string | null): Promise<Match[]> {
  // Words consist of letters, digits and marks, so they cannot end the quotes.
  const expression = words.map((word) => `'${word}':*`).join(' & ')
  const only = userId === null ? sql`` : sql`and user_id = ${userId}`
  const { rows } = await sql<Match>`select session_id, position from session_texts
    where words @@ ${expression}::tsquery ${only} order by seq desc limit ${MAX_MATCHES}`.execute(store.reads)
  return rows
}

async function hitOf({ db }: Store, { session_id, position }: Match, words: readonly string[]): Promise<Hit> {
  if (position === 0) {
    const session = await db.selectFrom('sessions').select('title').where('id', '=', session_id).executeTakeFirst()
    return { sessionId: session_id, message: null, snippet: excerpt(session?.title ?? '', words) }
  }
  const messages = await db
    .selectFrom('session_messages')
    .select(['id', 'role', 'content'])
    .where('session_id', '=', session_id)
    .where('position', 'in', [position, position + 1])
    .orderBy('position')
    .execute()
  const message = messages.find(({ content }) => begins(content, words)) ?? messages[0]
  if (message === undefined) return { sessionId: session_id, message: null, snippet: '' }
  const { id, role, content } = message
  return { sessionId: session_id, message: { id, role }, snippet: excerpt(content, words) }
}

/** Tells whether a text has a word that starts with one of `words`. */
function begins(text: string, words: readonly string[]): boolean {
  return distinctWords(text).some((word) => words.some((beginning) => word.startsWith(beginning)))
}
