import type { ServerContext } from '@modelcontextprotocol/server'
import type { CallContext } from '../../src/calls/call-record.ts'
import { cut } from '../../src/text/cut.ts'

/** Shortest interval between progress messages, because clients redraw with each. */
const INTERVAL_MS = 250
/** Length of the newest text in a message. */
const TAIL = 80

/**
 * Reports the progress of a streaming model to a client that sent a progress token. `progress` counts the characters
 * and steps so far. The message shows the newest characters, or the step.
 */
export function progressListener({
  _meta,
  notify,
}: Pick<ServerContext['mcpReq'], '_meta' | 'notify'>):
  | { [Name in 'onText' | 'onStep']: NonNullable<CallContext[Name]> }
  | undefined {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return undefined
  let progress = 0
  let tail = ''
  let sentAt = -Infinity

  const tell = (by: number, message: () => string) => {
    // `progress` must rise with each notification.
    if (by === 0) return
    progress += by
    if (performance.now() - sentAt < INTERVAL_MS) return
    sentAt = performance.now()
    const params = { progressToken, progress, message: message() }
    // The connection may close while a model still streams. Its signal then ends the call, and the client needs no
    // progress.
    notify({ method: 'notifications/progress', params }).catch(() => {})
  }

  return {
    onText(delta) {
      tail = (tail + delta).slice(-TAIL)
      tell(delta.length, () => cut(tail, 0).replace(/\s+/g, ' '))
    },
    onStep: (what) => tell(1, () => what),
  }
}
