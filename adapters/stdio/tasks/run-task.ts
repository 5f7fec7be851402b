import type { LoadedConfig } from '../../../src/config/config.ts'
import type { Log } from '../../../src/config/log.ts'
import { GazewayError } from '../../../src/errors.ts'
import { STOP_SIGNALS } from '../../command/stop-signals.ts'
import { createCallsInFlight } from '../calls-in-flight.ts'
import { gatewayOpener } from '../open-gateway.ts'
import { type TaskState, taskFiles, WRITES_MS } from './task-files.ts'

/** Time limit of a task, in milliseconds. */
const LIMIT_MS = 60 * 60 * 1000
/** Interval at which a task looks whether it is cancelled, in milliseconds. */
const LOOKS_MS = 500

/**
 * Makes the call of a task, in a process of its own, and writes its state until it has the result.
 *
 * @throws GazewayError `not_found` for an unknown task
 */
export async function runTask(loaded: LoadedConfig, log: Log, id: string): Promise<void> {
  const files = taskFiles(loaded.dataDir)
  const call = await files.call(id)
  if (call === null)
    throw new GazewayError('not_found', 'There is no such task. `gazeway mcp-task` is for the tool server.')
  const { name, arguments: input, roots, traceparent } = call
  const ending = new AbortController()
  let message: string | undefined
  const write = (state: Pick<TaskState, 'status' | 'result'>) =>
    files.write(id, { ...state, message, updated_at: new Date().toISOString(), pid: process.pid })
  // Before its question is asked: it costs money.
  if (files.isCancelled(id)) return write({ status: 'cancelled' })
  await write({ status: 'working' })

  const gateway = gatewayOpener(loaded, log)
  const calls = createCallsInFlight({ loaded, log, gateway })
  for (const signal of STOP_SIGNALS) process.on(signal, calls.stop)
  const timer = setTimeout(() => {
    ending.abort(new GazewayError('request_timeout', `The task did not end within ${LIMIT_MS / 60_000} minutes.`))
  }, LIMIT_MS)
  const looking = setInterval(() => {
    if (files.isCancelled(id)) ending.abort()
  }, LOOKS_MS)
  let writing = Promise.resolve()
  const working = setInterval(() => {
    writing = writing
      .then(() => write({ status: 'working' }))
      .catch((err) => log.error('Failed to write a task.', { err }))
  }, WRITES_MS)

  const request = {
    signal: ending.signal,
    _meta: { progressToken: id, ...(traceparent !== null && { traceparent }) },
    async notify({ params }: { params?: Record<string, unknown> | undefined }) {
      message = String(params?.message ?? '')
    },
  }
  const result = await calls.callTool(
    { name, arguments: input },
    request,
    async () => roots,
    () => true,
  )
  for (const interval of [looking, working]) clearInterval(interval)
  clearTimeout(timer)
  await writing
  message = undefined
  const isCancelled = result.isError === true && files.isCancelled(id)
  await write(isCancelled ? { status: 'cancelled' } : { status: 'completed', result })
  await gateway.close()
}
