import type { Gateway } from '../../../src/gateway.ts'
import { Attestation } from '../../../src/gaze/attestation.ts'
import { AttestationQuery } from '../../../src/gaze/gaze-session.ts'
import { callerOf } from '../../web/frame.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { attestationsVisibleTo, nullWhereUnknown, taskOf } from './gaze-routes.ts'

/** Routes of attestations. */
export const attestationRoutes = ({ gaze, tasks }: Pick<Gateway, 'gaze' | 'tasks'>): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/attestation/status',
    tag: 'Gaze',
    summary: 'Retrieve the attestation of a session',
    description:
      'Of the session that is named, or of the one that was added to last for a task, first among those of the key that ' +
      'claimed it. Its five components, and in plain words why it has not passed. One that has expired is assessed anew. ' +
      'A key sees the attestations of its own sessions, and those for the tasks that it created; an admin sees all.',
    access: 'platform',
    query: AttestationQuery,
    reply: Attestation,
    async run({ query, c }) {
      const caller = callerOf(c)
      const task = await taskOf(tasks, query.task_id)
      const visible = attestationsVisibleTo(caller, task)
      // Any key may store gaze for a task: what others store does not come before the claimant's.
      const claimant = visible === undefined ? task?.claimed_by : null
      const claimants = claimant && (await gaze.findAttestation(query, claimant).catch(nullWhereUnknown))
      return claimants || gaze.findAttestation(query, visible)
    },
  }),
]
