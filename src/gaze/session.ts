import type { Selectable, Transaction } from 'kysely'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { GazeSessionRow } from '../store/tables/gaze.ts'
import { CHAIN_START } from './fingerprint.ts'

/** A session as it is stored. */
export type GazeSession = Selectable<GazeSessionRow>

/**
 * The session, made on first use, with its row locked until the transaction ends: records of one session are chained one
 * batch after the other, whoever sends them.
 *
 * @param taskId the task that the records are for; a session is bound to the task it was made for, or to none
 * @throws GazewayError `conflict` when the session is bound to another task or to none
 */
export async function lockSession(
  trx: Transaction<Schema>,
  sessionId: string,
  taskId: string | undefined,
  now: string,
): Promise<GazeSession> {
  const session = await trx
    .insertInto('gaze_sessions')
    .values({
      session_id: sessionId,
      task_id: taskId ?? null,
      records: 0,
      pruned: 0,
      chain_head: CHAIN_START,
      last_place: null,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet({ updated_at: now }))
    .returningAll()
    .executeTakeFirstOrThrow()
  if (taskId === undefined || taskId === session.task_id) return session
  const bound = session.task_id === null ? 'no task' : `task ${session.task_id}`
  throw new GazewayError(
    'conflict',
    `Session ${sessionId} is bound to ${bound}, not to task ${taskId}. Leave session_id out to start a session for it.`,
    { param: 'task_id' },
  )
}
