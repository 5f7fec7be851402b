import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
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

/** Sessions that are looked up one by one. More are met soon enough in the order of the list. */
const FEW = 5_000

/** Lists the sessions that have calls. @throws GazewayError `invalid_cursor` */
export async function listSessions(store: Store, query: Paged<CodingSessionQuery>): Promise<Page<CodingSession>> {
  const db = pageReader(store, query)
  const column = ORDERS[query.sort]
  const matching = meeting(db, query, await fewOf(store, query))
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
  let query = db.selectFrom('coding_sessions').where('coding_sessions.session_id', '=', id)
  if (callerId !== undefined) query = query.where('coding_sessions.caller_id', '=', callerId)
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
  return sessions.where(sql<boolean>`(coding_sessions.caller_id, coding_sessions.session_id) in (values ${values})`)
}

/** Filters that few sessions meet, so that an index leads to them. The others are met in the order of the list. */
interface Few {
  client: boolean
  facts: boolean
}

async function fewOf({ reads }: Store, query: CodingSessionQuery): Promise<Few> {
  const { client, repository, branch } = query
  const ofClient = reads.selectFrom('coding_sessions').where('client', '=', client ?? '')
  const [clients, facts] = await Promise.all([
    client === undefined ? 0 : countMatches(reads, ofClient, FEW + 1),
    repository === undefined && branch === undefined ? 0 : countMatches(reads, factsMeeting(reads, query), FEW + 1),
  ])
  return { client: clients <= FEW, facts: facts <= FEW }
}

/** Sessions with facts that meet the query, found by the index of repositories or of branches. */
function factsMeeting(db: Kysely<Schema>, { repository, branch, key }: CodingSessionQuery) {
  let facts = db.selectFrom('session_facts')
  if (repository !== undefined) facts = facts.where('repository', '=', nameOf(repository))
  if (branch !== undefined) facts = facts.where('branch', '=', branch)
  if (key !== undefined) facts = facts.where('caller_id', '=', key)
  return facts
}

const nameOf = (repository: string): string => repositoryName(repository) ?? repository

function meeting(db: Kysely<Schema>, query: CodingSessionQuery, few: Few): Sessions {
  const { client, key, group, repository, branch, from, to } = query
  let found = db.selectFrom('coding_sessions').where('calls', '>', 0)
  if (client !== undefined) found = found.where(few.client ? sql.ref('client') : unindexed('client'), '=', client)
  if (key !== undefined) found = found.where('caller_id', '=', key)
  if (group !== undefined)
    found = found.where('caller_id', 'in', (eb) => eb.selectFrom('keys').select('id').where('group_id', '=', group))
  if (from !== undefined) found = found.where('last_at', '>=', toUtc(from))
  if (to !== undefined) found = found.where('last_at', '<', toUtc(to))
  if (repository === undefined && branch === undefined) return found
  if (few.facts)
    return found.where(
      sql<boolean>`(caller_id, session_id) in (${factsMeeting(db, query).select(['caller_id', 'session_id'])})`,
    )
  return found.where(worksOn(query))
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
    .leftJoin('session_facts', (join) =>
      join
        .onRef('session_facts.caller_id', '=', 'coding_sessions.caller_id')
        .onRef('session_facts.session_id', '=', 'coding_sessions.session_id')
        .on('session_facts.until_at', 'is', null),
    )
    .leftJoin('session_states', (join) =>
      join
        .onRef('session_states.caller_id', '=', 'coding_sessions.caller_id')
        .onRef('session_states.session_id', '=', 'coding_sessions.session_id'),
    )
    .selectAll('coding_sessions')
    .select(['repository', 'branch', 'commit_sha', 'stopped_at']) as unknown as SelectQueryBuilder<
    Schema,
    'coding_sessions',
    ListedSession
  >
