import { GazewayError } from '../../src/errors.ts'
import type { Gateway } from '../../src/gateway.ts'
import { Attestation } from '../../src/gaze/attestation.ts'
import { AttestationQuery } from '../../src/gaze/session.ts'
import type { Identity } from '../../src/identity/keys.ts'
import { callerOf } from './caller.ts'
import { gazeVisibleTo } from './gaze.ts'
import { defineRoute, type Route } from './route.ts'

/** How far gaze sessions prove attention. */
export const attestationRoutes = (gateway: Gateway): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/api/attestation/status',
    tag: 'Gaze',
    summary: 'How far a session proves attention, and what is missing',
    description:
      'Of the session that is named, or of the one that was added to last for a task. Its five components, and in plain ' +
      'words why it has not passed. One that has expired is assessed anew. A key sees the attestations of its own ' +
      'sessions, and those for the tasks that it created; an admin sees all.',
    access: 'platform',
    query: AttestationQuery,
    reply: Attestation,
    async run({ query, c }) {
      const caller = callerOf(c)
      const visible = (await isCreator(gateway, query.task_id, caller)) ? undefined : gazeVisibleTo(caller)
      return gateway.gaze.findAttestation(query, visible)
    },
  }),
]

/** Whoever created a task releases its reward against an attestation for it, so it has to see that. */
async function isCreator({ tasks }: Gateway, taskId: string | undefined, { id }: Identity): Promise<boolean> {
  if (taskId === undefined) return false
  const task = await tasks.get(taskId).catch(nullWhereUnknown)
  return task?.creator === id
}

function nullWhereUnknown(error: unknown): null {
  if (error instanceof GazewayError && error.code === 'not_found') return null
  throw error
}
