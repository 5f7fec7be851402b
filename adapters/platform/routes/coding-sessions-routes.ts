import * as z from 'zod'
import { LONGEST_SESSION_ID } from '../../../src/calls/call-session.ts'
import { CodingSession } from '../../../src/coding-sessions/coding-session.ts'
import { CodingSessionQuery, SESSION_COLUMNS } from '../../../src/coding-sessions/list-sessions.ts'
import { CodingSessionDetails } from '../../../src/coding-sessions/read-session.ts'
import { CostQuery, SessionCosts } from '../../../src/coding-sessions/session-costs.ts'
import { PresentFacts, SessionFacts } from '../../../src/coding-sessions/session-facts.ts'
import { Resumption, SessionState } from '../../../src/coding-sessions/session-states.ts'
import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { CallerId } from '../../../src/identity/key.ts'
import { requireScope } from '../../../src/identity/keys.ts'
import { csvOf } from '../../../src/store/csv.ts'
import { callerOf } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { shownTo } from '../caller.ts'
import { csvReply, wantsCsv } from '../csv.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

const PATH = '/api/coding-sessions'
/** Not under a session's path: a client may name its session "costs". */
const COSTS_PATH = '/api/coding-session-costs'

/** A session in a path, as calls name it: printable characters. */
const SessionParam = z.object({
  id: z
    .string()
    .regex(/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/)
    .max(LONGEST_SESSION_ID),
})

const KeyQuery = z.strictObject({ key: CallerId.optional().describe('Key or wallet of the session') })

const OWN_OR_ALL = 'A key sees its own; an admin sees all.'

/** Routes of the sessions of coding agents, on both ports. A session belongs to the key of its calls. */
export const codingSessionRoutes = (gateway: Gateway): Route[] => [
  ...shownSessions(gateway),
  ...changedSessions(gateway),
]

const shownSessions = ({ codingSessions }: Gateway): Route[] => [
  defineRoute(`GET ${COSTS_PATH}`, {
    operation: 'listCodingSessionCosts',
    summary: 'Sum what sessions cost, by session, day, model or commit',
    description:
      'A call belongs to the branch that its session worked on when it began, and to the first commit that the session ' +
      'made from then on. A key sees its own sessions; an admin sees all. Computed from the kept calls.',
    access: 'key',
    query: CostQuery,
    reply: SessionCosts,
    run: ({ query, c }) => codingSessions.costs({ ...query, caller_id: shownTo(callerOf(c), query.caller_id) }),
  }),
  defineRoute(`GET ${PATH}`, {
    operation: 'listCodingSessions',
    summary: 'List sessions of coding agents, the latest or dearest first',
    description: `${OWN_OR_ALL} With Accept: text/csv, returns all selected ones as CSV.`,
    access: 'key',
    query: CodingSessionQuery.strict(),
    reply: pageOf(CodingSession),
    alsoAnswers: ['text/csv'],
    async run({ query, c }) {
      const caller = callerOf(c)
      if (query.group !== undefined) requireScope(caller, 'admin')
      const shown = { ...query, key: shownTo(caller, query.key, 'key') }
      const { list } = codingSessions
      return wantsCsv(c) ? csvReply('coding-sessions', csvOf(SESSION_COLUMNS, list, shown)) : listReply(shown, list)
    },
  }),
  defineRoute(`GET ${PATH}/{id}`, {
    operation: 'getCodingSession',
    summary: 'Retrieve a session of a coding agent',
    description: `${OWN_OR_ALL} An admin names the key where several have a session of that id.`,
    access: 'key',
    params: SessionParam,
    query: KeyQuery,
    reply: CodingSessionDetails,
    async run({ params: { id }, query, c }) {
      const found = await codingSessions.read(id, shownTo(callerOf(c), query.key, 'key'))
      if (found === 'ambiguous')
        throw new GazewayError('conflict', `Several keys have a session ${id}: say which one with ?key=ID.`, {
          param: 'key',
        })
      if (found !== null) return found
      throw new GazewayError(
        'not_found',
        `The session ${id} does not exist, is not yours, or was deleted at the end of its retention.`,
        {
          param: 'id',
        },
      )
    },
  }),
]

const changedSessions = ({ codingSessions }: Gateway): Route[] => [
  defineRoute(`POST ${PATH}/{id}/stop`, {
    operation: 'stopCodingSession',
    summary: 'Stop a session: its calls end, and new ones are refused',
    description: 'At once in this process, within 5 s in the others. Streams end with the error session_stopped.',
    access: 'admin',
    params: SessionParam,
    query: KeyQuery,
    reply: SessionState,
    run: ({ params: { id }, query, c }) => codingSessions.stop({ sessionId: id, callerId: query.key }, callerOf(c).id),
  }),
  defineRoute(`POST ${PATH}/{id}/resume`, {
    operation: 'resumeCodingSession',
    summary: 'Let a session go on, or raise its limits',
    description:
      'What is raised counts at once in all processes, for the session alone. Send an Idempotency-Key with a raise: ' +
      'without one, each retry raises again.',
    access: 'admin',
    params: SessionParam,
    query: KeyQuery,
    body: Resumption,
    optionalBody: true,
    reply: SessionState,
    idempotent: true,
    run: ({ params: { id }, query, body, keep }) =>
      codingSessions.resume({ sessionId: id, callerId: query.key }, body, keep),
  }),
  defineRoute(`POST ${PATH}/{id}/facts`, {
    operation: 'addCodingSessionFacts',
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
