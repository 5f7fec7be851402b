import * as z from 'zod'
import { CallFilter } from '../../../src/calls/call-list.ts'
import { CallRecord } from '../../../src/calls/call-record.ts'
import { CallStats, ChartQuery } from '../../../src/calls/call-stats.ts'
import { Fallbacks } from '../../../src/calls/fallback-counts.ts'
import { SessionCache, SessionCacheQuery } from '../../../src/calls/session-cache.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import type { Identity } from '../../../src/identity/keys.ts'
import { callerOf } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { shownTo } from '../caller.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

const CallStatsReply = CallStats.extend({ fallbacks: Fallbacks })
export type CallStatsReply = z.infer<typeof CallStatsReply>

/** A call as a key sees it: with the host of an upstream for admins alone. */
function seenBy({ scopes }: Identity, call: CallRecord, { upstream }: Gateway): CallRecord {
  if (scopes.has('admin')) return call
  const named = upstream.routing.upstreams.find(({ provider }) => provider.name === call.upstream)
  return named === undefined ? call : { ...call, upstream: named.provider.label }
}

/** Routes of the audit trail: every call to a model provider. A caller sees its own calls, an admin all. */
export const callRoutes = (gateway: Gateway): Route[] => [
  defineRoute('GET /api/calls', {
    summary: 'List model calls, newest first',
    description: 'A caller sees its own calls. An admin sees all, including those of local tools (caller_id null).',
    access: 'platform',
    query: CallFilter.strict(),
    reply: pageOf(CallRecord),
    run({ query, c }) {
      const caller = callerOf(c)
      const shown = { ...query, caller_id: shownTo(caller, query.caller_id) }
      return listReply(shown, async (part) => {
        const page = await gateway.calls.history(part)
        return { ...page, items: page.items.map((call) => seenBy(caller, call, gateway)) }
      })
    },
  }),
  defineRoute('GET /api/calls/stats', {
    summary: 'Sum model calls, in total and by model, caller, time, session, repository and more',
    description:
      'Computed from hourly sums, which are kept longer than the calls; by session, repository, branch, commit, client ' +
      'or tag from the kept calls, the dearest groups first. A caller sees its own; an admin sees all.',
    access: 'platform',
    query: ChartQuery.strict(),
    reply: CallStatsReply,
    async run({ query, c }) {
      const selection = { ...query, caller_id: shownTo(callerOf(c), query.caller_id) }
      const [stats, fallbacks] = await Promise.all([gateway.calls.stats(selection), gateway.calls.fallbacks(selection)])
      return { ...stats, fallbacks }
    },
  }),
  defineRoute('GET /api/calls/cache', {
    summary: 'Sum the prompt caches of a session',
    description: 'Computed from the kept calls of the session. A caller sees its own; an admin sees all.',
    access: 'platform',
    query: SessionCacheQuery,
    reply: SessionCache,
    run: ({ query, c }) => gateway.calls.cacheOf({ ...query, caller_id: shownTo(callerOf(c), query.caller_id) }),
  }),
  defineRoute('GET /api/calls/{id}', {
    summary: 'Retrieve a model call',
    access: 'platform',
    params: z.strictObject({ id: z.string().min(1).max(128) }),
    reply: CallRecord,
    async run({ params: { id }, c }) {
      const viewer = callerOf(c)
      const call = await gateway.calls.find(id)
      if (call !== null && (viewer.scopes.has('admin') || call.caller_id === viewer.id))
        return seenBy(viewer, call, gateway)
      throw new GazewayError(
        'not_found',
        `The call ${id} does not exist, is not yours, or its record was deleted at the end of its retention.`,
        {
          param: 'id',
        },
      )
    },
  }),
]
