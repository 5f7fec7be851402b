import * as z from 'zod'
import { CallFilter } from '../../../src/calls/call-list.ts'
import { CallRecord } from '../../../src/calls/call-record.ts'
import { ChartGroupBy } from '../../../src/calls/call-selection.ts'
import { CallStats, ChartQuery } from '../../../src/calls/call-stats.ts'
import { Fallbacks } from '../../../src/calls/fallback-counts.ts'
import { SessionCache, SessionCacheQuery } from '../../../src/calls/session-cache.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { GroupRecord } from '../../../src/identity/groups.ts'
import { type Identity, KeyRecord } from '../../../src/identity/keys.ts'
import { ReceiptRecord, StatementLine } from '../../../src/wallet/wallet.ts'
import { keyOf } from '../../web/frame.ts'
import { callerOf } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { shownTo } from '../caller.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'
import { createLiveCalls, EVENT_STREAM } from '../live-calls.ts'
import { candidatesFor, Explained } from './upstream-routes.ts'

const StatsQuery = ChartQuery.extend({
  and_by: ChartGroupBy.optional().describe('A second grouping of the same calls.'),
}).strict()

const CallStatsReply = CallStats.extend({
  and_groups: CallStats.shape.groups.optional().describe('Groups of and_by; absent without it'),
  fallbacks: Fallbacks.nullable().describe(
    'Null with a filter by model, path, session, address, kind, upstream or cost: they are counted by time, key and group alone',
  ),
})
export type CallStatsReply = z.infer<typeof CallStatsReply>

const CallParam = z.strictObject({ id: z.string().min(1).max(128) })

/** A call, and what led to its outcome. */
const ExplainedCall = z.object({
  call: CallRecord,
  attempts: z.array(CallRecord).describe('All attempts of its request in order, this one included, without content'),
  before: z.string().nullable().describe('Id of the call before in its session'),
  key: KeyRecord.nullable().describe('Its key as it is now; null for none, and for a wallet'),
  group: GroupRecord.nullable(),
  route: Explained.nullable().describe('Candidates for the requested model as they are now; for admins'),
  receipts: z.array(ReceiptRecord),
  transfers: z.array(StatementLine).describe('Ledger transfers of the receipts; one may be for several calls'),
})
export type ExplainedCall = z.infer<typeof ExplainedCall>

/**
 * Filter of a caller: of its own calls, or for an admin of any.
 *
 * @throws GazewayError `forbidden` where another key than an admin's names an upstream: it sees their labels alone
 */
function filterOf<Filter extends { caller_id?: string | undefined; upstream?: string | undefined }>(
  caller: Identity,
  filter: Filter,
): Filter {
  if (filter.upstream !== undefined && !caller.scopes.has('admin'))
    throw new GazewayError('forbidden', 'Only an admin filters by upstream.', { param: 'upstream' })
  return { ...filter, caller_id: shownTo(caller, filter.caller_id) }
}

/** A call as a key sees it: with the hosts of upstreams for admins alone. */
function seenBy({ scopes }: Identity, call: CallRecord, { upstream }: Gateway): CallRecord {
  if (scopes.has('admin')) return call
  const labelOf = (name: string) =>
    upstream.routing.upstreams.find(({ provider }) => provider.name === name)?.provider.label ?? name
  const skipped = call.skipped.map((candidate) => ({ ...candidate, upstream: labelOf(candidate.upstream) }))
  return { ...call, upstream: labelOf(call.upstream), skipped }
}

/**
 * Routes of the audit trail: every call to a model provider. A caller sees its own calls, an admin all.
 *
 * @param draining aborted when the service stops to listen: ends live streams, which would never end by themselves
 */
export const callRoutes = (gateway: Gateway, draining: AbortSignal): Route[] => [
  ...listRoutes(gateway),
  liveRoute(gateway, draining),
  ...oneCallRoutes(gateway),
]

const listRoutes = (gateway: Gateway): Route[] => [
  defineRoute('GET /api/calls', {
    operation: 'listCalls',
    summary: 'List model calls, newest first',
    description: 'A caller sees its own calls. An admin sees all, including those of local tools (caller_id null).',
    access: 'own',
    query: CallFilter.strict(),
    reply: pageOf(CallRecord),
    run({ query, c }) {
      const caller = callerOf(c)
      return listReply(filterOf(caller, query), async (part) => {
        const page = await gateway.calls.history(part)
        return { ...page, items: page.items.map((call) => seenBy(caller, call, gateway)) }
      })
    },
  }),
  defineRoute('GET /api/calls/stats', {
    operation: 'getCallStats',
    summary: 'Sum model calls, in total and by model, caller, time, session, repository and more',
    description:
      'Computed from hourly sums, which are kept longer than the calls. By session, repository, branch, commit, client ' +
      'or tag, the dearest groups first, and with a filter by address, upstream, kind or cost, from the kept calls. A ' +
      'caller sees its own; an admin sees all.',
    access: 'own',
    query: StatsQuery,
    reply: CallStatsReply,
    async run({ query, c }) {
      const { and_by, ...selection } = filterOf(callerOf(c), query)
      const [stats, fallbacks, more] = await Promise.all([
        gateway.calls.stats(selection),
        gateway.calls.fallbacks(selection),
        and_by && gateway.calls.stats({ ...selection, group_by: and_by }),
      ])
      return { ...stats, fallbacks, ...(more && { and_groups: more.groups }) }
    },
  }),
  defineRoute('GET /api/calls/cache', {
    operation: 'listCallCaches',
    summary: 'Sum the prompt caches of a session',
    description: 'Computed from the kept calls of the session. A caller sees its own; an admin sees all.',
    access: 'own',
    query: SessionCacheQuery,
    reply: SessionCache,
    run: ({ query, c }) => gateway.calls.cacheOf({ ...query, caller_id: shownTo(callerOf(c), query.caller_id) }),
  }),
]

const oneCallRoutes = (gateway: Gateway): Route[] => [
  defineRoute('GET /api/calls/{id}', {
    operation: 'getCall',
    summary: 'Retrieve a model call',
    access: 'own',
    params: CallParam,
    reply: CallRecord,
    async run({ params: { id }, c }) {
      const viewer = callerOf(c)
      return seenBy(viewer, await visibleCall(id, viewer, gateway), gateway)
    },
  }),
  defineRoute('GET /api/calls/{id}/explained', {
    operation: 'explainCall',
    summary: 'Explain a model call: its key, route, attempts, price and ledger transfers',
    description:
      'Key, group and route are as they are now; the rest is as recorded. A caller sees its own calls, without its ' +
      'group and the route; an admin sees all.',
    access: 'own',
    params: CallParam,
    reply: ExplainedCall,
    async run({ params: { id }, c }) {
      const viewer = callerOf(c)
      return explain(await visibleCall(id, viewer, gateway), viewer, gateway)
    },
  }),
]

function liveRoute(gateway: Gateway, draining: AbortSignal): Route {
  const open = createLiveCalls(draining)
  return defineRoute('GET /api/calls/live', {
    operation: 'streamCalls',
    summary: 'Stream model calls as they are recorded',
    description:
      'Server-sent events `calls`, each with the calls that were recorded since the last one, newest first and without ' +
      'their content, at most a second late. The filters are those of GET /api/calls. A caller receives its own calls. ' +
      'The stream ends when its key is revoked, rotated or expires. A key may have 8 streams, a process 64.',
    access: 'own',
    query: CallFilter.omit({ limit: true, cursor: true, offset: true }).strict(),
    reply: z.object({ items: z.array(CallRecord) }),
    alsoAnswers: ['text/event-stream'],
    async run({ query, c }) {
      const caller = callerOf(c)
      const shown = filterOf(caller, query)
      if (c.req.method === 'HEAD') return new Response(null, { headers: EVENT_STREAM })
      const { incoming, outgoing } = c.env
      const token = keyOf(incoming.headers, c.req.path)
      const read = gateway.calls.watch(shown)
      return open({
        keyId: caller.id,
        async check() {
          if (gateway.keys.authenticateCached(token) === null) await gateway.keys.authenticate(token)
        },
        read: async () => (await read()).map((call) => seenBy(caller, call, gateway)),
        drop: () => void outgoing.destroy(),
      })
    },
  })
}

/** Finds a call that a key may see. @throws GazewayError `not_found`, also for another's */
async function visibleCall(id: string, viewer: Identity, { calls }: Gateway): Promise<CallRecord> {
  const call = await calls.find(id)
  // A call of no key is nobody's, also not of a key without a wallet.
  const isOwn = call !== null && call.caller_id !== null && [viewer.id, viewer.wallet].includes(call.caller_id)
  if (call !== null && (isOwn || viewer.scopes.has('admin'))) return call
  throw new GazewayError(
    'not_found',
    `The call ${id} does not exist, is not yours, or its record was deleted at the end of its retention.`,
    { param: 'id' },
  )
}

async function explain(call: CallRecord, viewer: Identity, gateway: Gateway): Promise<ExplainedCall> {
  const isAdmin = viewer.scopes.has('admin')
  const { calls, keys, groups, wallet } = gateway
  const [{ attempts, before }, key] = await Promise.all([
    calls.contextOf(call),
    call.caller_id === null ? null : keys.read(call.caller_id),
  ])
  const group = isAdmin && key !== null && key.group !== null ? await groups.find(key.group) : null
  const { receipts, transfers } = await wallet.moneyOfCalls(attempts.map(({ call_id }) => call_id))
  const model = call.requested_model ?? call.model
  return {
    call: seenBy(viewer, call, gateway),
    attempts: attempts.map((attempt) => seenBy(viewer, attempt, gateway)),
    before,
    key,
    group,
    route: isAdmin && model !== null ? candidatesFor(model, gateway) : null,
    receipts,
    transfers,
  }
}
