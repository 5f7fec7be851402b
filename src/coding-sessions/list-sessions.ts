import { type SelectQueryBuilder, sql } from 'kysely'
import * as z from 'zod'
import { GroupId } from '../identity/group.ts'
import { CallerId } from '../identity/key.ts'
import { countMatches } from '../store/count-matches.ts'
import type { CsvColumns } from '../store/csv.ts'
import { toUtc } from '../store/dates.ts'
import { decodeCursor, ListQuery, type Page, type Paged, pageReader, readPage } from '../store/page.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import { unindexed } from '../store/unindexed.ts'
import { repositoryName } from '../text/repository-name.ts'
import { type CodingSession, type ListedSession, toSession } from './coding-session.ts'

/** Column of each order, descending. */
const ORDERS = { last: 'last_at', cost: 'upstream_cost_micros' } as const
const Order = z.enum(['last', 'cost'])

/** Filters of the list of sessions. `from` is inclusive, `to` exclusive. */
export const CodingSessionQuery = ListQuery.extend({
  client: z.string().min(1).max(64).optional(),
  key: CallerId.optional().describe('Only sessions of this key or wallet.'),
  group: GroupId.optional().describe('Only sessions of the keys of a group.'),
  repository: z.string().min(1).max(2048).optional().describe('Only sessions that worked on it: host/owner/name.'),
  branch: z.string().min(1).max(255).optional().describe('Only sessions that worked on it.'),
  from: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('Only sessions whose last call ended at this time or later.'),
  to: z.iso.datetime({ offset: true }).optional().describe('Only sessions whose last call ended before this time.'),
  sort: Order.default('last').describe('last: the latest first; cost: the dearest first.'),
})
export type CodingSessionQuery = z.infer<typeof CodingSessionQuery>

/** Columns of sessions as CSV. */
export const SESSION_COLUMNS: CsvColumns<CodingSession> = {
  session: ({ id }) => id,
  key: ({ key }) => key ?? '',
  client: ({ client }) => client.name ?? '',
  client_version: ({ client }) => client.version ?? '',
  repository: ({ repository }) => repository ?? '',
  branch: ({ branch }) => branch ?? '',
  commit: ({ commit }) => commit ?? '',
  started_at: ({ started_at }) => started_at,
  last_at: ({ last_at }) => last_at,
  turns: ({ turns }) => turns ?? '',
  calls: ({ calls }) => calls,
  errors: ({ errors }) => errors,
  refused: ({ refused }) => refused,
  retries: ({ retries }) => retries,
  prompt_tokens: ({ usage }) => usage.prompt_tokens,
  completion_tokens: ({ usage }) => usage.completion_tokens,
  total_tokens: ({ usage }) => usage.total_tokens,
  cached_tokens: ({ cache }) => cache.cached_tokens,
  cache_saved_usd: ({ cache }) => cache.saved_usd,
  cost_usd: ({ cost_usd }) => cost_usd,
}

type Sessions = SelectQueryBuilder<Schema, 'coding_sessions', object>
type Key = Pick<ListedSession, 'caller_id' | 'session_id'>

/** Sessions of a repository or branch that are looked up one by one. More are met soon enough in the order of the list. */
const FEW = 1_000

/** Lists the sessions that have calls. @throws GazewayError `invalid_cursor` */
export async function listSessions(store: Store, query: Paged<CodingSessionQuery>): Promise<Page<CodingSession>> {
  const db = pageReader(store, query)
  const column = ORDERS[query.sort]
  const matching = meeting(db.selectFrom('coding_sessions'), query, await workedOn(store, query))
  let page = matching
  if (query.cursor !== undefined) {
    const value = query.sort === 'cost' ? z.number() : z.string()
    const [at, session, caller] = decodeCursor(query.cursor, z.tuple([value, z.string(), z.string()]))
    page = page.where(sql<boolean>`(${sql.ref(column)}, session_id, caller_id) < (${at}, ${session}, ${caller})`)
  }
  return readPage(query, {
    async rows(limit) {
      // Keys first: an engine that sorts would sort whole rows, and read the facts of all.
      const keys = await page
        .select(['caller_id', 'session_id'])
        .orderBy(column, 'desc')
        .orderBy('session_id', 'desc')
        .orderBy('caller_id', 'desc')
        .limit(limit)
        .offset(query.offset ?? 0)
        .execute()
      return inOrder(keys, await withFacts(among(db.selectFrom('coding_sessions'), keys)).execute())
    },
    total: () => countMatches(store.db, matching),
    item: toSession,
    cursor: (row) => [row[column], row.session_id, row.caller_id],
  })
}

/** Finds the sessions of an id: one, or the first two of several keys. */
export async function findSessions({ db }: Store, id: string, callerId: string | undefined): Promise<ListedSession[]> {
  let query = db.selectFrom('coding_sessions').where('session_id', '=', id)
  if (callerId !== undefined) query = query.where('caller_id', '=', callerId)
  return withFacts(query).limit(2).execute()
}

const textOf = ({ caller_id, session_id }: Key): string => `${caller_id}\0${session_id}`

function inOrder(keys: readonly Key[], rows: readonly ListedSession[]): ListedSession[] {
  const byKey = new Map(rows.map((row) => [textOf(row), row]))
  return keys.flatMap((key) => byKey.get(textOf(key)) ?? [])
}

function among(sessions: Sessions, keys: readonly Key[]): Sessions {
  if (keys.length === 0) return sessions.where(sql<boolean>`1 = 0`)
  const values = sql.join(keys.map(({ caller_id, session_id }) => sql`(${caller_id}, ${session_id})`))
  return sessions.where(sql<boolean>`(caller_id, session_id) in (values ${values})`)
}

/** Sessions that worked on a repository or branch, where they are few; `many` for more, null without this filter. */
async function workedOn(store: Store, { repository, branch, key }: CodingSessionQuery): Promise<Key[] | 'many' | null> {
  if (repository === undefined && branch === undefined) return null
  let facts = store.reads.selectFrom('session_facts').select(['caller_id', 'session_id']).distinct()
  if (repository !== undefined) facts = facts.where('repository', '=', nameOf(repository))
  if (branch !== undefined) facts = facts.where('branch', '=', branch)
  if (key !== undefined) facts = facts.where('caller_id', '=', key)
  const found = await facts.limit(FEW + 1).execute()
  return found.length > FEW ? 'many' : found
}

const nameOf = (repository: string): string => repositoryName(repository) ?? repository

function meeting(sessions: Sessions, query: CodingSessionQuery, worked: Key[] | 'many' | null): Sessions {
  const { client, key, group, from, to } = query
  let found = sessions.where('calls', '>', 0)
  if (client !== undefined) found = found.where('client', '=', client)
  if (key !== undefined) found = found.where('caller_id', '=', key)
  if (group !== undefined)
    found = found.where('caller_id', 'in', (eb) => eb.selectFrom('keys').select('id').where('group_id', '=', group))
  if (from !== undefined) found = found.where('last_at', '>=', toUtc(from))
  if (to !== undefined) found = found.where('last_at', '<', toUtc(to))
  if (worked === null) return found
  return worked === 'many' ? found.where(worksOn(query)) : among(found, worked)
}

/** Condition on a session's facts, read by its key: the index of repositories would lead to all sessions of one. */
function worksOn({ repository, branch }: CodingSessionQuery) {
  const isRepository = repository === undefined ? sql`` : sql`and ${unindexed('repository')} = ${nameOf(repository)}`
  const isBranch = branch === undefined ? sql`` : sql`and ${unindexed('branch')} = ${branch}`
  return sql<boolean>`exists (select 1 from session_facts
    where session_facts.caller_id = coding_sessions.caller_id
      and session_facts.session_id = coding_sessions.session_id ${isRepository} ${isBranch})`
}

/** Selects sessions with their present facts and state. */
const withFacts = (sessions: Sessions): SelectQueryBuilder<Schema, 'coding_sessions', ListedSession> =>
  sessions
    .selectAll('coding_sessions')
    .select((eb) =>
      (['repository', 'branch', 'commit_sha'] as const).map((name) =>
        eb
          .selectFrom('session_facts')
          .select(name)
          .whereRef('session_facts.caller_id', '=', 'coding_sessions.caller_id')
          .whereRef('session_facts.session_id', '=', 'coding_sessions.session_id')
          .where('until_at', 'is', null)
          .limit(1)
          .as(name),
      ),
    )
    .select((eb) =>
      eb
        .selectFrom('session_states')
        .select('stopped_at')
        .whereRef('session_states.caller_id', '=', 'coding_sessions.caller_id')
        .whereRef('session_states.session_id', '=', 'coding_sessions.session_id')
        .as('stopped_at'),
    ) as SelectQueryBuilder<Schema, 'coding_sessions', ListedSession>
