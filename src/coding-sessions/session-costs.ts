import { sql } from 'kysely'
import * as z from 'zod'
import { CallerId } from '../identity/key.ts'
import { toUtc, utcDate } from '../store/dates.ts'
import type { Store } from '../store/store.ts'
import { type Micros, toUsd } from '../text/money.ts'
import { COST_PARTS, type CostPart } from './cost-parts.ts'

/** Selects the calls of sessions by what they worked on when each call began. `from` is inclusive, `to` exclusive. */
export const CostQuery = z.strictObject({
  repository: z.string().min(1).max(300).optional().describe('As host/owner/name or root:SHA'),
  branch: z.string().min(1).max(255).optional(),
  from: z.iso.datetime({ offset: true }).optional(),
  to: z.iso.datetime({ offset: true }).optional(),
  caller_id: CallerId.optional().describe('Only the sessions of this key or wallet.'),
  by: z.enum(COST_PARTS).default('session'),
})
export type CostQuery = z.infer<typeof CostQuery>

const Figures = z.object({
  sessions: z.int(),
  calls: z.int(),
  prompt_tokens: z.int(),
  cached_tokens: z.int(),
  completion_tokens: z.int(),
  cost_usd: z.number(),
})

/** Cost of a session, a day, a model or a commit. */
export const CostLine = Figures.extend({
  key: z.string().nullable().describe('Session, UTC day, model or commit; null for calls after the last commit'),
  caller_id: z.string().nullable().describe('Key or wallet of a session; null where lines are of several'),
  at: z.string().describe('First call, or the commit'),
  subject: z.string().nullable().describe('First line of the message of a commit'),
  branch: z.string().nullable().describe('Branch of a commit'),
})
export type CostLine = z.infer<typeof CostLine>

/** Costs of the selected calls, which add up to the total. */
export const SessionCosts = z.object({ lines: z.array(CostLine), total: Figures })
export type SessionCosts = z.infer<typeof SessionCosts>

/** Calls of one session, day, model and commit. */
interface CostRow {
  caller_id: string
  session_id: string
  day: string
  model: string
  /** First commit of the session at or after the calls, in their repository. */
  sha: string | null
  first_at: string
  calls: number
  prompt_tokens: number
  cached_tokens: number
  completion_tokens: number
  cost_micros: Micros
}

/**
 * Sums what the calls of sessions cost, over the calls that the trail still has. A call belongs to the repository and the
 * branch that its session worked on when it began, and to the first commit that the session made in that repository from
 * then on: what a commit costs is what was spent since the one before it, or since the beginning of the session.
 */
export async function sessionCosts(store: Store, query: CostQuery): Promise<SessionCosts> {
  const rows = await costRows(store, query)
  const groups = new Map<string, CostRow[]>()
  for (const row of rows) {
    const key = KEYS[query.by](row)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  const commits = query.by === 'commit' ? await commitsOf(store, rows) : new Map()
  const lines = [...groups.values()].map((group) => lineOf(query.by, group, commits))
  return { lines: lines.sort(inOrder), total: figuresOf(rows) }
}

const KEYS: Readonly<Record<CostPart, (row: CostRow) => string>> = {
  session: ({ caller_id, session_id }) => `${caller_id}\0${session_id}`,
  day: ({ day }) => day,
  model: ({ model }) => model,
  commit: ({ sha }) => sha ?? '',
}

async function costRows(store: Store, { repository, branch, from, to, caller_id }: CostQuery): Promise<CostRow[]> {
  const conditions = [
    sql`(calls.session = numbered.number or calls.session_id = facts.session_id)`,
    sql`coalesce(calls.caller_id, '') = facts.caller_id`,
    sql`calls.at >= facts.from_at`,
    sql`(facts.until_at is null or calls.at < facts.until_at)`,
    ...(repository === undefined ? [] : [sql`facts.repository = ${repository}`]),
    ...(branch === undefined ? [] : [sql`facts.branch = ${branch}`]),
    ...(from === undefined ? [] : [sql`calls.at >= ${toUtc(from)}`]),
    ...(to === undefined ? [] : [sql`calls.at < ${toUtc(to)}`]),
    ...(caller_id === undefined ? [] : [sql`facts.caller_id = ${caller_id}`]),
  ]
  const { rows } = await sql<CostRow>`
    select caller_id, session_id, day, model, sha, min(at) as first_at, count(*) as calls,
      sum(prompt_tokens) as prompt_tokens, sum(cached_tokens) as cached_tokens,
      sum(completion_tokens) as completion_tokens, sum(cost_micros) as cost_micros
    from (
      select facts.caller_id, facts.session_id, ${utcDate(store.engine, 'calls.at')} as day,
        coalesce(calls.model, calls.requested_model, '') as model, calls.at,
        coalesce(calls.prompt_tokens, 0) as prompt_tokens, coalesce(calls.cached_tokens, 0) as cached_tokens,
        coalesce(calls.completion_tokens, 0) as completion_tokens, calls.upstream_cost_micros as cost_micros,
        (select sha from session_commits as made
          where made.caller_id = facts.caller_id and made.session_id = facts.session_id and made.at >= calls.at
            and coalesce(made.repository, '') = coalesce(facts.repository, '')
          order by made.at, made.sha limit 1) as sha
      from session_facts as facts left join coding_sessions as numbered
          on numbered.session_id = facts.session_id and numbered.caller_id = facts.caller_id
        join calls on ${sql.join(conditions, sql` and `)}
    ) as counted
    group by caller_id, session_id, day, model, sha`.execute(store.reads)
  return rows
}

type Commits = ReadonlyMap<string, { at: string; subject: string | null; branch: string | null }>

async function commitsOf(store: Store, rows: readonly CostRow[]): Promise<Commits> {
  const shas = [...new Set(rows.flatMap(({ sha }) => sha ?? []))]
  // Another key may name the same commit otherwise.
  const callers = [...new Set(rows.map(({ caller_id }) => caller_id))]
  const found = await Promise.all(
    chunksOf(shas, 500).map((part) =>
      store.reads
        .selectFrom('session_commits')
        .select(['sha', 'at', 'subject', 'branch'])
        .where('sha', 'in', part)
        .where('caller_id', 'in', callers)
        .execute(),
    ),
  )
  return new Map(found.flat().map(({ sha, ...commit }) => [sha, commit]))
}

function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size))
}

function lineOf(by: CostPart, rows: readonly CostRow[], commits: Commits): CostLine {
  const [row] = rows as [CostRow]
  const keys = { session: row.session_id, day: row.day, model: row.model, commit: row.sha }
  const commit = by === 'commit' && row.sha !== null ? commits.get(row.sha) : undefined
  const [first = row.first_at] = rows.map(({ first_at }) => first_at).sort()
  return {
    key: keys[by],
    caller_id: by === 'session' ? row.caller_id || null : null,
    at: commit?.at ?? first,
    subject: commit?.subject ?? null,
    branch: commit?.branch ?? null,
    ...figuresOf(rows),
  }
}

function figuresOf(rows: readonly CostRow[]): z.infer<typeof Figures> {
  const sum = (name: 'calls' | 'prompt_tokens' | 'cached_tokens' | 'completion_tokens' | 'cost_micros') =>
    rows.reduce((total, row) => total + Number(row[name]), 0)
  return {
    sessions: new Set(rows.map(KEYS.session)).size,
    calls: sum('calls'),
    prompt_tokens: sum('prompt_tokens'),
    cached_tokens: sum('cached_tokens'),
    completion_tokens: sum('completion_tokens'),
    cost_usd: toUsd(sum('cost_micros')),
  }
}

/** The oldest first; what is after the last commit at the end. */
function inOrder(a: CostLine, b: CostLine): number {
  if ((a.key === null) !== (b.key === null)) return a.key === null ? 1 : -1
  return a.at === b.at ? compare(a.key ?? '', b.key ?? '') : compare(a.at, b.at)
}

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
