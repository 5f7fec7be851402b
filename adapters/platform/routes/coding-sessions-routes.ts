import * as z from 'zod'
import { LONGEST_SESSION_ID } from '../../../src/calls/call-session.ts'
import { CostQuery, SessionCosts } from '../../../src/coding-sessions/session-costs.ts'
import { PresentFacts, SessionFacts } from '../../../src/coding-sessions/session-facts.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { callerOf } from '../../web/frame-context.ts'
import { shownTo } from '../caller.ts'
import { defineRoute, type Route } from '../define-route.ts'

const PATH = '/api/coding-sessions'

/** Tells whether a path is one of these routes, which keys with the scope inference may use, too. */
export const isCodingSessionPath = (path: string): boolean => path === PATH || path.startsWith(`${PATH}/`)

/** A session in a path, as calls name it: printable characters. */
const SessionParam = z.object({
  id: z
    .string()
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/)
    .max(LONGEST_SESSION_ID),
})

/** Routes of the sessions of coding agents, on both ports. A session belongs to the key of its calls. */
export const codingSessionRoutes = ({ codingSessions }: Gateway): Route[] => [
  defineRoute(`GET ${PATH}/costs`, {
    summary: 'Sum what sessions cost, by session, day, model or commit',
    description:
      'A call belongs to the branch that its session worked on when it began, and to the first commit that the session ' +
      'made from then on. A key sees its own sessions; an admin sees all. Computed from the kept calls.',
    access: 'key',
    query: CostQuery,
    reply: SessionCosts,
    run: ({ query, c }) => codingSessions.costs({ ...query, caller_id: shownTo(callerOf(c), query.caller_id) }),
  }),
  defineRoute(`POST ${PATH}/{id}/facts`, {
    summary: 'Note the repository, branch and commit of a session',
    description:
      'For hooks of coding agents. The facts hold for the calls from here on; the first ones for those before as well. ' +
      "The session is one of the caller's own, and may be without calls yet.",
    access: 'key',
    params: SessionParam,
    body: SessionFacts,
    reply: PresentFacts,
    run: ({ params: { id }, body, c }) => codingSessions.noteFacts({ callerId: callerOf(c).id, sessionId: id }, body),
  }),
]
