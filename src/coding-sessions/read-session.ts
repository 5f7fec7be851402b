import { sql } from 'kysely'
import * as z from 'zod'
import { MAIN_KIND } from '../calls/call-selection.ts'
import { meetingAny } from '../calls/named-session.ts'
import type { Store } from '../store/store.ts'
import { toUsd } from '../text/money.ts'
import { CodingSession, toSession } from './coding-session.ts'
import { findSessions } from './list-sessions.ts'
import { LimitsOfSession, limitsOfSession } from './session-states.ts'

/** Longest lists of a session's facts and commits, the newest ones. */
const MOST = 1_000

const Part = z.object({ key: z.string(), calls: z.int(), total_tokens: z.int(), cost_usd: z.number() })
type Part = z.infer<typeof Part>

/** A session with its parts. Kinds and models are of the calls that the audit trail still has. */
export const CodingSessionDetails = CodingSession.extend({
  ...LimitsOfSession.shape,
  by_kind: z.array(Part).describe(`Kinds as the client says; ${MAIN_KIND} where it says none`),
  by_model: z.array(Part),
  facts: z.array(
    z.object({
      from: z.iso.datetime().nullable().describe('null: from the beginning'),
      to: z.iso.datetime().nullable().describe('null: until now'),
      repository: z.string().nullable(),
      branch: z.string().nullable(),
      commit: z.string().nullable(),
      dirty: z.boolean().nullable(),
      path: z.string().nullable(),
    }),
  ),
  commits: z.array(
    z.object({
      sha: z.string(),
      at: z.iso.datetime(),
      subject: z.string().nullable(),
      repository: z.string().nullable(),
      branch: z.string().nullable(),
    }),
  ),
})
export type CodingSessionDetails = z.infer<typeof CodingSessionDetails>

/**
 * Reads a session.
 *
 * @param callerId key or wallet of its calls; undefined for any
 * @returns null without one; `ambiguous` where several keys have one of that id
 */
export async function readSession(
  store: Store,
  id: string,
  callerId: string | undefined,
): Promise<CodingSessionDetails | 'ambiguous' | null> {
  const [row, another] = await findSessions(store, id, callerId)
  if (row === undefined) return null
  if (another !== undefined) return 'ambiguous'
  const key = { caller_id: row.caller_id, session_id: id, number: row.number }
  const [byKind, byModel, facts, commits, limits] = await Promise.all([
    partsOf(store, key, 'kind'),
    partsOf(store, key, 'model'),
    rangesOf(store, key),
    commitsOf(store, key),
    limitsOfSession(store, key),
  ])
  return { ...toSession(row), ...limits, by_kind: byKind, by_model: byModel, facts, commits }
}

interface Key {
  caller_id: string
  session_id: string
  number: number
}

/** Calls of a session by a column, the dearest first. */
async function partsOf(
  store: Store,
  { caller_id, session_id, number }: Key,
  column: 'kind' | 'model',
): Promise<Part[]> {
  const name = column === 'kind' ? sql`coalesce(kind, ${MAIN_KIND})` : sql`coalesce(model, '')`
  const owner = { caller_id: caller_id || null }
  const named = [
    { session_id, ...owner },
    { session: number, ...owner },
  ]
  const { rows } = await sql<{ key: string; calls: number; total_tokens: number; micros: number }>`
    select ${name} as key, count(*) as calls, coalesce(sum(total_tokens), 0) as total_tokens,
      sum(upstream_cost_micros) as micros
    from calls where ${meetingAny(named)} group by 1 order by 4 desc, 1`.execute(store.reads)
  return rows.map(({ key, calls, total_tokens, micros }) => ({
    ...{ key, calls: Number(calls), total_tokens: Number(total_tokens) },
    cost_usd: toUsd(Number(micros)),
  }))
}

async function rangesOf({ db }: Store, { caller_id, session_id }: Key): Promise<CodingSessionDetails['facts']> {
  const rows = await db
    .selectFrom('session_facts')
    .selectAll()
    .where('caller_id', '=', caller_id)
    .where('session_id', '=', session_id)
    .orderBy('from_at', 'desc')
    .limit(MOST)
    .execute()
  return rows.reverse().map((row) => ({
    from: row.from_at < '0002' ? null : row.from_at,
    to: row.until_at,
    repository: row.repository,
    branch: row.branch || null,
    commit: row.commit_sha,
    dirty: row.dirty === null ? null : row.dirty === 1,
    path: row.path,
  }))
}

async function commitsOf({ db }: Store, { caller_id, session_id }: Key): Promise<CodingSessionDetails['commits']> {
  const rows = await db
    .selectFrom('session_commits')
    .select(['sha', 'at', 'subject', 'repository', 'branch'])
    .where('caller_id', '=', caller_id)
    .where('session_id', '=', session_id)
    .orderBy('at', 'desc')
    .orderBy('sha', 'desc')
    .limit(MOST)
    .execute()
  return rows.reverse()
}
