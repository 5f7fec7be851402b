import type { Gateway } from '../../../src/gateway.ts'
import { NewSwarm, SwarmReply } from '../../../src/tasks/swarm.ts'
import { SwarmList, SwarmSummary } from '../../../src/tasks/tasks.ts'
import { callerOf } from '../../web/frame.ts'
import { listReply } from '../../web/list-reply.ts'
import { callContext } from '../call-context.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

/**
 * Goals that are divided into tasks.
 *
 * @param stopping aborted shortly before the service ends what is still in progress
 */
export const swarmRoutes = ({ swarm, tasks }: Gateway, stopping: AbortSignal): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/swarms',
    tag: 'Tasks',
    summary: 'List swarms with their progress, newest first',
    access: 'platform',
    query: SwarmList.strict(),
    reply: pageOf(SwarmSummary),
    run: ({ query }) => listReply(query, (part) => tasks.swarms(part)),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/tasks/swarm',
    tag: 'Tasks',
    summary: 'Create a swarm: divide a goal into tasks',
    description:
      'The chat model plans the tasks and which of them wait for which. A plan that cannot be carried out is asked for ' +
      'again at most twice, then this is answered with 502. All tasks are created at once, with their rewards locked, or none.',
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
