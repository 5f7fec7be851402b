import type { ServerContext } from '@modelcontextprotocol/server'
import type { CallContext } from '../../src/calls/call-record.ts'
import { cut } from '../../src/text/cut.ts'

/** Shortest interval of progress messages, as clients redraw for each. */
const INTERVAL_MS = 250
/** Length of the newest text in a message. */
const TAIL = 80

/**
 * Tells the client how far a streaming model is, where it sent a progress token: `progress` counts the characters so far
 * and the steps between them, the message shows the newest of the characters, or the step.
 */
export function progressListener({
  _meta,
  notify,
}: Pick<ServerContext['mcpReq'], '_meta' | 'notify'>):
  | { [Told in 'onText' | 'onStep']: NonNullable<CallContext[Told]> }
  | undefined {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return undefined
  let progress = 0
  let tail = ''
  let told = -Infinity

  const tell = (by: number, message: () => string) => {
    // It has to rise with each notification.
    if (by === 0) return
    progress += by
    if (performance.now() - told < INTERVAL_MS) return
    told = performance.now()
    const params = { progressToken, progress, message: message() }
    // The connection may close while a model still streams; the call itself then ends by its signal.
    // A client that has just gone needs no progress.
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
