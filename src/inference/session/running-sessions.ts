import type { StoppedSessions } from '../../coding-sessions/stopped-sessions.ts'
import { GazewayError } from '../../errors.ts'
import { createInFlight } from '../../wire/in-flight.ts'
import type { StoppableReceiver } from './stoppable-receiver.ts'

/** A running call of a session. */
export interface RunningCall extends Pick<StoppableReceiver, 'stop'> {
  callerId: string
  sessionId: string
}

/** The running calls of sessions in this process, which end when their session is stopped. */
export interface RunningSessions {
  /** Adds a call of a session. @returns removes it, once it is over */
  add(call: RunningCall): () => void
}

/**
 * Creates the running calls. They follow the stops of all processes. Stops are rare, and look at each running call;
 * nothing is computed for a call that is not stopped.
 */
export function createRunningSessions({ listen }: Pick<StoppedSessions, 'listen'>): RunningSessions {
  const running = createInFlight<RunningCall>()
  listen(({ callerId, sessionId }) => {
    for (const call of running.all())
      if (call.sessionId === sessionId && call.callerId === callerId) call.stop(sessionStopped(sessionId))
  })
  return { add: running.add }
}

/** Error for the calls of a session that an admin has stopped. */
export const sessionStopped = (sessionId: string): GazewayError =>
  new GazewayError(
    'session_stopped',
    `An admin has stopped this session. Start a new one, or ask an admin to let it go on: gazeway session resume ${sessionId}`,
  )
