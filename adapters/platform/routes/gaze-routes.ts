import { GazewayError } from '../../../src/errors.ts'
import type { Gateway } from '../../../src/gateway.ts'
import { GazeSessionQuery, GazeSessionSummary } from '../../../src/gaze/gaze-sessions.ts'
import { GazeRecord } from '../../../src/gaze/tensor.ts'
import type { Identity } from '../../../src/identity/keys.ts'
import type { Task } from '../../../src/tasks/task-record.ts'
import { analyzeGazePattern } from '../../../tools/analyze-gaze-pattern.ts'
import { retrieveGazeData } from '../../../tools/retrieve-gaze-data.ts'
import { runTool } from '../../../tools/run-tool.ts'
import { storeGazeData } from '../../../tools/store-gaze-data.ts'
import { callerOf, type FrameContext } from '../../web/frame-context.ts'
import { listReply } from '../../web/list-reply.ts'
import { requestToolContext, toolContext } from '../../web/tool-context.ts'
import { callContext } from '../call-context.ts'
import { shownTo } from '../caller.ts'
import { defineRoute, type Route } from '../define-route.ts'
import { pageOf } from '../list-page.ts'

/**
 * Routes of gaze records: where a person's attention was.
 *
 * @param stopping aborted shortly before shutdown ends pending work
 */
export const gazeRoutes = (gateway: Gateway, stopping: AbortSignal): Route[] => [
  defineRoute('POST /api/gaze/store', {
    operation: 'storeGaze',
    summary: 'Store gaze records and assess the attention that they prove',
    description:
      'Takes at most 1,000 records. A session belongs to the key that created it: no other key can add to it, and ' +
      'only that key and admins see it. The id of a chat session is for its participants and admins. Records that ' +
      'the session already has are counted and skipped.',
    access: 'platform',
    body: storeGazeData.input,
    reply: storeGazeData.output,
    status: 201,
    idempotent: true,
    run: ({ body, c, keep }) => runTool(storeGazeData, gateway, body, contextOf(c), keep),
  }),
  defineRoute('GET /api/gaze/history', {
    operation: 'listGazeRecords',
    summary: 'List gaze records, newest first',
    description: 'A key sees the records that it stored. An admin sees all, also those of tools on this machine.',
    access: 'platform',
    query: retrieveGazeData.input,
    reply: pageOf(GazeRecord),
    run: ({ query, c }) =>
      listReply(query, ({ maxBytes, ...part }) =>
        runTool(retrieveGazeData, gateway, part, { ...contextOf(c), maxBytes }),
      ),
  }),
  defineRoute('GET /api/gaze/sessions', {
    operation: 'listGazeSessions',
    summary: 'List gaze sessions, last updated first',
    description:
      'Each session has its latest attestation. A key sees the sessions that it created and, with task_id, all for ' +
      'a task that it created. An admin sees all. total is at most 1,000.',
    access: 'platform',
    query: GazeSessionQuery.strict(),
    reply: pageOf(GazeSessionSummary),
    async run({ query, c }) {
      const task = await taskOf(gateway.tasks, query.task_id)
      return listReply(query, (part) => gateway.gaze.sessions(part, attestationsVisibleTo(callerOf(c), task)))
    },
  }),
  defineRoute('POST /api/gaze/analyze', {
    operation: 'analyzeGaze',
    summary: 'Analyze gaze records: figures, findings, classification and a narrative',
    description:
      'Analyzes the newest 10,000 records of a session or time range that the key stored. An admin can analyze ' +
      'all. The figures are computed here. With narrate, the chat model puts them into words. If it fails, ' +
      'narrative_error has the reason, and the figures are returned anyway.',
    access: 'platform',
    body: analyzeGazePattern.input,
    reply: analyzeGazePattern.output,
    idempotent: true,
    run({ body, c }) {
      const caller = callerOf(c)
      return runTool(analyzeGazePattern, gateway, body, toolContext(caller, callContext(c, caller.id, stopping)))
    },
  }),
]

const contextOf = (c: FrameContext) => requestToolContext(c, 'platform')

/** Owner whose attestations for a task a caller may see. The creator of the task sees all, to release its reward. */
export const attestationsVisibleTo = (caller: Identity, task: Pick<Task, 'creator'> | null): string | undefined =>
  task?.creator === caller.id ? undefined : shownTo(caller, undefined)

/** Finds the requested task. Null without an id, and when the task does not exist. */
export async function taskOf({ get }: Pick<Gateway['tasks'], 'get'>, id: string | undefined): Promise<Task | null> {
  return id === undefined ? null : get(id, null).catch(nullIfNotFound)
}

/** Handler for `catch`: returns null for `not_found`, and throws any other error. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof GazewayError && error.code === 'not_found') return null
  throw error
}
