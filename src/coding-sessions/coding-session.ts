import * as z from 'zod'
import { CacheSums, cacheSums } from '../calls/call-cache.ts'
import type { CodingSessionRow, SessionFactRow } from '../store/tables/coding-sessions-tables.ts'
import type { SessionStateRow } from '../store/tables/session-limits-tables.ts'
import { toUsd } from '../text/money.ts'

/** Sums over the calls of a session, and its present facts. */
export const CodingSession = z.object({
  id: z.string(),
  key: z.string().nullable().describe('Key or wallet of its calls; null for none'),
  client: z.object({ name: z.string().nullable(), version: z.string().nullable() }),
  repository: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  calls: z.int(),
  errors: z.int(),
  refused: z.int(),
  retries: z.int().describe('Calls that a failed or slow call led to'),
  turns: z.int().nullable().describe('Turns of its main agent; null where the client says none'),
  usage: z.object({ prompt_tokens: z.int(), completion_tokens: z.int(), total_tokens: z.int() }),
  cache: CacheSums,
  cost_usd: z.number(),
  state: z.enum(['active', 'stopped']).describe('stopped: an admin ended it'),
  started_at: z.iso.datetime(),
  last_at: z.iso.datetime().describe('End of its last call'),
  duration_seconds: z.number(),
})
export type CodingSession = z.infer<typeof CodingSession>

/** Row of a session with its present facts and state. */
export type ListedSession = CodingSessionRow & { number: number } & Pick<
    SessionFactRow,
    'repository' | 'branch' | 'commit_sha'
  > &
  Partial<Pick<SessionStateRow, 'stopped_at'>>

/** Builds a session from its row. */
export function toSession(row: ListedSession): CodingSession {
  const { prompt_tokens, completion_tokens, total_tokens } = row
  return {
    id: row.session_id,
    key: row.caller_id || null,
    client: { name: row.client, version: row.client_version },
    repository: row.repository,
    branch: row.branch || null,
    commit: row.commit_sha,
    calls: row.calls,
    errors: row.errors,
    refused: row.refused,
    retries: row.retries,
    turns: row.last_turn === null ? null : row.turns,
    usage: { prompt_tokens, completion_tokens, total_tokens },
    cache: cacheSums(row),
    cost_usd: toUsd(row.upstream_cost_micros),
    state: row.stopped_at == null ? 'active' : 'stopped',
    started_at: row.started_at,
    last_at: row.last_at,
    duration_seconds: (Date.parse(row.last_at) - Date.parse(row.started_at)) / 1000,
  }
}
