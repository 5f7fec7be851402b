import type { Kysely, Selectable, Transaction } from 'kysely'
import * as z from 'zod'
import { GazewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { GazeSessionRow } from '../store/tables/gaze-tables.ts'
import { REMOTE_PREFIX } from '../text/remote-id.ts'
import { CHAIN_START } from './fingerprint.ts'

const identifier = z.string().min(1).max(128)

/** Session or task whose attestation is requested. */
export const AttestationQuery = z
  .strictObject({
    session_id: identifier.optional().describe('The gaze session.'),
    task_id: identifier
      .optional()
      .describe('The task. Selects its session with the latest addition; the claimant’s sessions come first.'),
  })
  .refine(({ session_id, task_id }) => session_id !== undefined || task_id !== undefined, {
    path: ['session_id'],
    error: 'required without task_id',
  })
export type AttestationQuery = z.infer<typeof AttestationQuery>

/** A session as it is stored. */
export type GazeSession = Selectable<GazeSessionRow>

/**
 * Finds or creates a session and locks its row until the transaction ends. The lock orders the batches of a session's
 * hash chain.
 *
 * @param of.taskId task of the records; a session stays bound to its first task, or to none
 * @param of.callerId storing key; only the creator adds to a session. Null for a tool on this machine, which may add to
 *   all
 * @param of.chatsOf owner of the chat sessions whose id a new gaze session may take; anyone by default
 * @throws GazewayError `conflict` for another caller's session, for a session bound to another task or none, and for a
 *   new session with the id of another caller's chat; `not_found` when a new session names an unknown task
 */
export async function lockSession(
  trx: Transaction<Schema>,
  sessionId: string,
  of: { taskId: string | undefined; callerId: string | null; chatsOf: string | undefined },
  now: string,
): Promise<GazeSession> {
  const { taskId, callerId, chatsOf } = of
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
      caller_id: callerId,
      sketch: null,
    })
    .onConflict((conflict) => conflict.column('session_id').doUpdateSet({ updated_at: now }))
    .returningAll()
    .executeTakeFirstOrThrow()
  if (session.records === 0 && taskId !== undefined) await requireTask(trx, taskId)
  if (callerId !== null && callerId !== session.caller_id)
    throw new GazewayError(
      'conflict',
      'This gaze session was created by another caller. Omit session_id to start one of your own.',
      { param: 'session_id' },
    )
  // Only before the first records: a chat that later takes this id belongs to its own creator.
  if (session.records === 0 && chatsOf !== undefined) await requireNoOthersChat(trx, sessionId, chatsOf)
  if (taskId === undefined || taskId === session.task_id) return session
  const bound = session.task_id === null ? 'no task' : `task ${session.task_id}`
  throw new GazewayError(
    'conflict',
    `Session ${sessionId} is bound to ${bound}, not to task ${taskId}. Omit session_id to start a session for it.`,
    { param: 'task_id' },
  )
}

/** Reads the task's row: the service of tasks is in a room above. @throws GazewayError `not_found` */
export async function requireTask(trx: Transaction<Schema>, id: string): Promise<void> {
  const task = await trx.selectFrom('tasks').select('id').where('id', '=', id).executeTakeFirst()
  if (task !== undefined) return
  throw new GazewayError('not_found', 'There is no task with this id. Omit task_id, or name one that exists.', {
    param: 'task_id',
  })
}

/** Reads the chat's row: the service of chats is in another room. @throws GazewayError `conflict` */
async function requireNoOthersChat(trx: Transaction<Schema>, id: string, userId: string): Promise<void> {
  const chat = await trx.selectFrom('sessions').select('user_id').where('id', '=', id).executeTakeFirst()
  // Sessions of the agent gateway are for admins, who may read all gaze.
  if (!id.startsWith(REMOTE_PREFIX) && (chat === undefined || chat.user_id === userId)) return
  throw new GazewayError(
    'conflict',
    "This session is another caller's chat. Omit session_id to start one of your own.",
    { param: 'session_id' },
  )
}

/**
 * Finds a session by its id, or the session of a task that was added to last.
 *
 * @param callerId only a session that this key created; any when absent
 * @throws GazewayError `not_found`, for a missing session and for another caller's alike
 */
export async function findSession(
  db: Kysely<Schema>,
  { session_id, task_id }: AttestationQuery,
  callerId?: string,
): Promise<GazeSession> {
  let query = db.selectFrom('gaze_sessions').selectAll().orderBy('updated_at', 'desc').limit(1)
  if (session_id !== undefined) query = query.where('session_id', '=', session_id)
  if (task_id !== undefined) query = query.where('task_id', '=', task_id)
  if (callerId !== undefined) query = query.where('caller_id', '=', callerId)
  const session = await query.executeTakeFirst()
  if (session !== undefined) return session
  const asked = session_id === undefined ? `gaze session for task ${task_id}` : `gaze session ${session_id}`
  throw new GazewayError('not_found', `There is no ${asked}. Store records in it first.`, {
    param: session_id === undefined ? 'task_id' : 'session_id',
  })
}
