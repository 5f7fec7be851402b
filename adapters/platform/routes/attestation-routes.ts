import type { Gateway } from '../../../src/gateway.ts'
import { Attestation } from '../../../src/gaze/attestation.ts'
import { AttestationQuery } from '../../../src/gaze/gaze-session.ts'
import { callerOf } from '../../web/frame-context.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { attestationsVisibleTo, nullIfNotFound, taskOf } from './gaze-routes.ts'

/** Route that returns the attestation of a gaze session or task. */
export const attestationRoutes = ({ gaze, tasks }: Pick<Gateway, 'gaze' | 'tasks'>): Route[] => [
  defineRoute('GET /api/attestation/status', {
    operation: 'getAttestation',
    summary: 'Retrieve the attestation of a session',
    description:
      'Returns the attestation of the named session. For a task, it is the session with the newest records; those ' +
      'of the claiming key come first. The reply has the five components, and the reasons if the attestation has ' +
      'not passed. An expired attestation is assessed again. A key sees the attestations of its own sessions and ' +
      'of the tasks that it created. An admin sees all.',
    access: 'platform',
    query: AttestationQuery,
    reply: Attestation,
    async run({ query, c }) {
      const caller = callerOf(c)
      const task = await taskOf(tasks, query.task_id)
      const visible = attestationsVisibleTo(caller, task)
      // Any key may store gaze for a task. Sessions of the claimant take precedence over those of others.
      const claimant = visible === undefined ? task?.claimed_by : null
      const claimants = claimant && (await gaze.findAttestation(query, claimant).catch(nullIfNotFound))
      return claimants || gaze.findAttestation(query, visible)
    },
  }),
]
