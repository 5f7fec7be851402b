import { sql, type Transaction } from 'kysely'
import { emptySession } from '../calls/session-sums.ts'
import { toUtc } from '../store/dates.ts'
import type { Schema } from '../store/schema.ts'
import type { Store } from '../store/store.ts'
import type { SessionFactRow } from '../store/tables/coding-sessions-tables.ts'
import { forgetSessions } from './forget-sessions.ts'
import type { PresentFacts, SessionFacts } from './session-facts.ts'

/** Session of a key or wallet. Two keys that name the same session have two. */
export interface SessionKey {
  /** Null for calls without a key. */
  callerId: string | null
  sessionId: string
}

/** Oldest time of a fact that is believed, in milliseconds: a turn may take hours, and its end says when its branch changed. */
const LATEST_MS = 24 * 3_600_000
/** Limits of a session's ranges and commits, and of a key's sessions without calls. */
const MOST = { ranges: 1_000, commits: 1_000, idle: 200 }

/** Beginning of the first range of a session. */
const FIRST = '0001-01-01T00:00:00.000Z'
/** Branch of a folder that has none checked out. An unknown one is null. */
const NO_BRANCH = ''

type Columns = Pick<SessionFactRow, 'caller_id' | 'session_id'>
type Known = Pick<SessionFactRow, 'repository' | 'branch' | 'commit_sha' | 'dirty' | 'path'>

const NOTHING: Known = { repository: null, branch: null, commit_sha: null, dirty: null, path: null }
/** Facts that begin a range when they change. Others change in theirs. */
const BOUNDS = ['repository', 'branch', 'commit_sha'] as const

/**
 * Notes what is known of a session from `at` on. The range before it ends there; the first one reaches back to the
 * beginning. Notes the same facts again without an effect.
 */
export function noteFacts(
  store: Store,
  { callerId, sessionId }: SessionKey,
  facts: SessionFacts,
  now: Date,
): Promise<PresentFacts> {
  const key: Columns = { caller_id: callerId ?? '', session_id: sessionId }
  return store.write(async (trx) => {
    await keepSession(trx, key, facts.client ?? null, now)
    const present = await trx
      .selectFrom('session_facts')
      .selectAll()
      .where('caller_id', '=', key.caller_id)
      .where('session_id', '=', key.session_id)
      .where('until_at', 'is', null)
      .executeTakeFirst()
    const known = merged(present ?? NOTHING, facts)
    await writeRange(trx, key, present, known, timeOf(facts, now))
    await dropCommits(trx, key, facts.replaced ?? [])
    await addCommits(trx, key, known, facts.commits ?? [])
    const { repository, branch, commit_sha, dirty } = known
    return {
      session_id: sessionId,
      repository,
      branch: branch || null,
      commit: commit_sha,
      dirty: dirty === null ? null : dirty === 1,
    }
  })
}

/** Time of facts: their own where the clocks may agree, else the present. */
function timeOf({ at }: SessionFacts, now: Date): string {
  const said = at === undefined ? now.getTime() : Date.parse(at)
  const isBelieved = said <= now.getTime() && said >= now.getTime() - LATEST_MS
  return toUtc(isBelieved ? said : now.getTime())
}

/** Inserts the session unless it exists, and locks it. Of a key's sessions without calls, the newest stay. */
async function keepSession(trx: Transaction<Schema>, key: Columns, client: string | null, now: Date): Promise<void> {
  const at = now.toISOString()
  const { calls } = await trx
    .insertInto('coding_sessions')
    .values({ ...emptySession(key.caller_id, key.session_id, at), client })
    .onConflict((conflict) =>
      conflict
        .columns(['caller_id', 'session_id'])
        .doUpdateSet(({ fn, ref }) => ({ client: fn.coalesce('coding_sessions.client', ref('excluded.client')) })),
    )
    .returning('calls')
    .executeTakeFirstOrThrow()
  if (calls > 0) return
  const isIdle = sql<boolean>`calls = 0` // The index of sessions without calls needs the number itself.
  const beyond = await trx
    .selectFrom('coding_sessions')
    .select(['caller_id', 'session_id'])
    .where('caller_id', '=', key.caller_id)
    .where(isIdle)
    .where('session_id', '<>', key.session_id)
    .orderBy('last_at', 'desc')
    .orderBy('session_id')
    .limit(1000)
    .offset(MOST.idle - 1)
    .execute()
  await forgetSessions(trx, beyond, isIdle)
}

/** Facts after those that are sent. Another repository has nothing of the one before. */
function merged(before: Known, facts: SessionFacts): Known {
  const { repository = before.repository, branch, commit, dirty, path } = facts
  const of = repository === before.repository ? before : NOTHING
  return {
    repository,
    branch: branch === undefined ? of.branch : (branch ?? NO_BRANCH),
    commit_sha: commit ?? of.commit_sha,
    dirty: dirty === undefined ? of.dirty : Number(dirty),
    path: path ?? of.path,
  }
}

async function writeRange(
  trx: Transaction<Schema>,
  key: Columns,
  present: SessionFactRow | undefined,
  known: Known,
  at: string,
): Promise<void> {
  if (present === undefined) {
    await trx
      .insertInto('session_facts')
      .values({ ...key, from_at: FIRST, until_at: null, ...known })
      .execute()
    return
  }
  const range = { ...key, from_at: present.from_at }
  const isSame = BOUNDS.every((name) => present[name] === known[name])
  // What was unknown becomes known: it was so before, as far as anybody can tell.
  const isMore = BOUNDS.every((name) => present[name] === null || present[name] === known[name])
  if (isSame || isMore || (await isFull(trx, key))) {
    if (isSame && present.dirty === known.dirty && present.path === known.path) return
    await changeRange(trx, range, isSame || isMore ? known : { dirty: known.dirty })
    return
  }
  // Ranges follow each other, whatever the clocks say.
  const from_at = at > present.from_at ? at : toUtc(Date.parse(present.from_at) + 1)
  await changeRange(trx, range, { until_at: from_at })
  await trx
    .insertInto('session_facts')
    .values({ ...key, from_at, until_at: null, ...known })
    .execute()
}

async function changeRange(
  trx: Transaction<Schema>,
  { caller_id, session_id, from_at }: Columns & Pick<SessionFactRow, 'from_at'>,
  change: Partial<SessionFactRow>,
): Promise<void> {
  await trx
    .updateTable('session_facts')
    .set(change)
    .where('caller_id', '=', caller_id)
    .where('session_id', '=', session_id)
    .where('from_at', '=', from_at)
    .execute()
}

async function isFull(trx: Transaction<Schema>, key: Columns): Promise<boolean> {
  return (await countOf(trx, 'session_facts', key)) >= MOST.ranges
}

async function dropCommits(
  trx: Transaction<Schema>,
  { caller_id, session_id }: Columns,
  shas: readonly string[],
): Promise<void> {
  if (shas.length === 0) return
  await trx
    .deleteFrom('session_commits')
    .where('caller_id', '=', caller_id)
    .where('session_id', '=', session_id)
    .where('sha', 'in', shas)
    .execute()
}

async function addCommits(
  trx: Transaction<Schema>,
  key: Columns,
  { repository, branch }: Known,
  commits: NonNullable<SessionFacts['commits']>,
): Promise<void> {
  if (commits.length === 0) return
  const room = MOST.commits - (await countOf(trx, 'session_commits', key))
  const rows = commits
    .slice(0, Math.max(0, room))
    .map(({ sha, at, subject = null }) => ({ ...key, sha, at: toUtc(at), subject, repository, branch: branch || null }))
  if (rows.length === 0) return
  await trx
    .insertInto('session_commits')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['caller_id', 'session_id', 'sha']).doNothing())
    .execute()
}

async function countOf(
  trx: Transaction<Schema>,
  table: 'session_facts' | 'session_commits',
  { caller_id, session_id }: Columns,
): Promise<number> {
  const { rows } = await trx
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('rows'))
    .where('caller_id', '=', caller_id)
    .where('session_id', '=', session_id)
    .executeTakeFirstOrThrow()
  return Number(rows)
}
