import type { Gateway } from '../../../src/gateway.ts'
import { NewSwarm, SwarmReply } from '../../../src/tasks/swarm.ts'
import { SwarmList, SwarmSummary } from '../../../src/tasks/tasks.ts'
import { callerOf } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { callContext } from '../call-context.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'
import { viewerOf } from './tasks-routes.ts'

/**
 * Routes of swarms: goals that are divided into tasks.
 *
 * @param stopping aborted shortly before shutdown ends pending work
 */
export const swarmRoutes = ({ swarm, tasks }: Gateway, stopping: AbortSignal): Route[] => [
  defineRoute('GET /api/swarms', {
    operation: 'listSwarms',
    summary: 'List swarms with their progress, newest first',
    description: 'Those that the caller created, or claimed a task of. An admin sees all.',
    access: 'platform',
    query: SwarmList.strict(),
    reply: pageOf(SwarmSummary),
    run: ({ query, c }) => listReply(query, (part) => tasks.swarms(part, viewerOf(c))),
  }),
  defineRoute('POST /api/tasks/swarm', {
    operation: 'createSwarm',
    summary: 'Create a swarm: divide a goal into tasks',
    description:
      'The chat model plans the tasks and their dependencies. An invalid plan is requested again at most twice; ' +
      'then the reply is 502. All tasks are created together with their rewards locked, or none is.',
    access: 'platform',
    body: NewSwarm,
    reply: SwarmReply,
    idempotent: true,
    run({ body, c, keep }) {
      const { id } = callerOf(c)
      return swarm.create(body, id, callContext(c, id, stopping), keep)
    },
  }),
]
