import { type RawBuilder, sql } from 'kysely'
import * as z from 'zod'
import { CLIENT, NUMBERED, SESSION_ID } from './named-session.ts'
import { SESSION_GROUPS } from './session-groups.ts'

/** Dimensions by which calls are grouped with what their sessions worked on. Hourly sums do not have them. */
export const SessionGroupBy = z.enum(SESSION_GROUPS)
export type SessionGroupBy = z.infer<typeof SessionGroupBy>

/** Dimensions that only single calls have. */
export const CallGroupBy = z.enum([...SESSION_GROUPS, 'address'])
export type CallGroupBy = z.infer<typeof CallGroupBy>

/** Groups that are listed by themselves, the dearest ones. */
export const MOST_GROUPS = 999
/** Group of all others. */
export const OTHER_GROUPS = 'other'

/** Separates the key or wallet of a session from its id. No id has it. */
const OF_KEY = '\n'

/** Tells whether a grouping is one of single calls. */
export const isCallGroup = (groupBy: string | undefined): groupBy is CallGroupBy =>
  CallGroupBy.options.some((option) => option === groupBy)

/** Name of a group, and for a session the key that it belongs to, as two keys may have sessions of one id. */
export function groupName(groupBy: string | undefined, key: string): { key: string; caller_id?: string } {
  const end = key.indexOf(OF_KEY)
  if (groupBy !== 'session' || end === -1) return { key }
  return { key: key.slice(end + 1), caller_id: key.slice(0, end) }
}

/** Facts of the session of a call of table `calls`, when it began. */
const FACTS = sql`${NUMBERED} left join session_facts as facts
  on facts.caller_id = coalesce(calls.caller_id, '') and facts.session_id = ${SESSION_ID}
  and facts.from_at <= calls.at and (facts.until_at is null or facts.until_at > calls.at)`

/**
 * SQL for each grouping of the table `calls`: joins, and the key, which is empty for calls that have none.
 *
 * - A call belongs to the facts of its session when it began, and to the first commit that the session made in that
 *   repository from then on.
 * - A call of several tags is in the group of each.
 */
export const GROUPINGS: Readonly<Record<CallGroupBy, { joins: RawBuilder<unknown>; key: RawBuilder<unknown> }>> = {
  session: {
    joins: NUMBERED,
    key: sql`case when ${SESSION_ID} is null then ''
      else coalesce(calls.caller_id, '') || ${sql.lit(OF_KEY)} || ${SESSION_ID} end`,
  },
  repository: { joins: FACTS, key: sql`coalesce(facts.repository, '')` },
  branch: { joins: FACTS, key: sql`coalesce(facts.branch, '')` },
  commit: {
    joins: FACTS,
    key: sql`coalesce((select made.sha from session_commits as made
      where made.caller_id = facts.caller_id and made.session_id = facts.session_id and made.at >= calls.at
        and coalesce(made.repository, '') = coalesce(facts.repository, '')
      order by made.at, made.sha limit 1), '')`,
  },
  client: { joins: NUMBERED, key: sql`coalesce(${CLIENT}, '')` },
  address: { joins: sql``, key: sql`coalesce(calls.address, '')` },
  tag: { joins: sql`left join call_tags as tags on tags.call_id = calls.call_id`, key: sql`coalesce(tags.tag, '')` },
}
