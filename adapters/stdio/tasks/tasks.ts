import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { lazily } from '../../../src/lazily.ts'
import type { TaskCall, TaskState } from './task-files.ts'

const TASKS = 'io.modelcontextprotocol/tasks'
/** Interval at which clients are asked to poll, in milliseconds. */
const POLL_MS = 1_000
/** Tools whose calls become tasks: research takes minutes. */
const LONG = new Set(['gateway_llm_query'])

const Capabilities = z.object({ extensions: z.object({ [TASKS]: z.object({}) }) })
const Named = { params: z.object({ taskId: z.string() }) }
const ENDED = 'The process of the task ended before it had a result. Call the tool again.'

const loadFiles = lazily(() => import('./task-files.ts'))
const loadProcess = lazily(() => import('./task-process.ts'))

/** Calls of a connection that become tasks. */
export interface Tasks {
  /** Tells whether a call may become a task: a long one, of a client that knows tasks. */
  takes(name: string, request: ServerContext['mcpReq']): boolean
  /**
   * Starts a task for a call.
   *
   * @param roots the client's root folders
   * @returns the handle that answers the call, or null when no task can be started now and the call is to be made at once
   */
  start(
    params: { name: string; arguments?: Record<string, unknown> | undefined },
    roots: readonly string[],
    request: ServerContext['mcpReq'],
  ): Promise<CallToolResult | null>
}

/**
 * Serves the Tasks extension of MCP 2026-07-28 (SEP-2663): `tasks/get`, `tasks/update` and `tasks/cancel`. A task has a
 * process of its own and its state is on disk, so that it is found again after the connection was lost.
 */
export function registerTasks({ server }: McpServer, dataDir: string): Tasks {
  const open = async () => (await loadFiles()).taskFiles(dataDir)

  /** @throws ProtocolError for a client that does not declare tasks, and for an unknown task */
  async function known(id: string, request: ServerContext['mcpReq']): Promise<TaskCall> {
    if (!declares(request))
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS]: {} } } })
    const call = await (await open()).call(id)
    if (call !== null) return call
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'There is no such task, or it has expired. Call the tool again.',
    )
  }

  server.registerCapabilities({ extensions: { [TASKS]: {} } })
  server.setRequestHandler('tasks/get', Named, async ({ taskId }, { mcpReq }) => {
    const call = await known(taskId, mcpReq)
    const files = await open()
    const state = await files.state(taskId)
    const { TASK_TTL_MS } = await loadFiles()
    return detailed(taskId, call, state, { hasEnded: await files.hasEnded(taskId, call, state), ttlMs: TASK_TTL_MS })
  })
  // No task asks its client for input.
  server.setRequestHandler('tasks/update', Named, async ({ taskId }, { mcpReq }) => {
    await known(taskId, mcpReq)
    return {}
  })
  server.setRequestHandler('tasks/cancel', Named, async ({ taskId }, { mcpReq }) => {
    await known(taskId, mcpReq)
    await (await open()).cancel(taskId)
    return {}
  })

  return {
    takes: (name, request) => LONG.has(name) && declares(request),
    async start({ name, arguments: input = {} }, roots, { _meta }) {
      const traceparent = typeof _meta?.traceparent === 'string' ? _meta.traceparent : null
      const call = { name, arguments: input, roots: [...roots], traceparent, created_at: new Date().toISOString() }
      const files = await open()
      // Without a data folder that can be written, the call itself says what is wrong.
      const id = await files.create(call).catch(() => null)
      if (id === null) return null
      const { startTaskProcess } = await loadProcess()
      const isStarted = await startTaskProcess(id).then(
        () => true,
        // Of too many processes, or where Node was updated since: this process goes on without its files.
        () => false,
      )
      if (!isStarted) {
        await files.remove(id)
        return null
      }
      const { TASK_TTL_MS } = await loadFiles()
      // The SDK refuses a result of a call without content; clients of tasks ignore it.
      return { resultType: 'task', content: [], ...detailed(id, call, null, { hasEnded: false, ttlMs: TASK_TTL_MS }) }
    },
  }
}

const declares = ({ envelope }: ServerContext['mcpReq']): boolean =>
  Capabilities.safeParse((envelope as Record<string, unknown>)?.[CLIENT_CAPABILITIES_META_KEY]).success

/** A task in the extension's own form. `failed` is for a task without a result; a tool's error is one. */
function detailed(
  taskId: string,
  { created_at }: TaskCall,
  state: TaskState | null,
  { hasEnded, ttlMs }: { hasEnded: boolean; ttlMs: number },
): Record<string, unknown> {
  const times = {
    createdAt: created_at,
    lastUpdatedAt: state?.updated_at ?? created_at,
    ttlMs,
    pollIntervalMs: POLL_MS,
  }
  if (hasEnded) {
    const error = { code: ProtocolErrorCode.InternalError, message: ENDED }
    return { taskId, ...times, status: 'failed', statusMessage: ENDED, error }
  }
  const { status = 'working', message, result } = state ?? {}
  return {
    taskId,
    ...times,
    status,
    ...(message && { statusMessage: message }),
    ...(result && { result: { resultType: 'complete', ...result } }),
  }
}
