import type { StoppedSessions } from '../../coding-sessions/stopped-sessions.ts'
import { GazewayError } from '../../errors.ts'
import type { StoppableReceiver } from './stoppable-receiver.ts'

/** The running calls of sessions in this process, which end when their session is stopped. */
export interface RunningSessions {
  /** Adds a call of a session. @returns removes it, once it is over */
  add(session: { callerId: string; sessionId: string }, call: Pick<StoppableReceiver, 'stop'>): () => void
}

/** Creates the running calls. They follow the stops of all processes. */
export function createRunningSessions({ listen }: Pick<StoppedSessions, 'listen'>): RunningSessions {
  const running = new Map<string, Set<Pick<StoppableReceiver, 'stop'>>>()
  listen((session) => {
    for (const { stop } of running.get(nameOf(session)) ?? []) stop(sessionStopped(session.sessionId))
  })
  return {
    add(session, call) {
      const name = nameOf(session)
      const calls = running.get(name) ?? new Set()
      if (calls.size === 0) running.set(name, calls)
      calls.add(call)
      return () => {
        calls.delete(call)
        if (calls.size === 0 && running.get(name) === calls) running.delete(name)
      }
    },
  }
}

const nameOf = ({ callerId, sessionId }: { callerId: string; sessionId: string }): string => `${callerId} ${sessionId}`

/** Error for the calls of a session that an admin has stopped. */
export const sessionStopped = (sessionId: string): GazewayError =>
  new GazewayError(
    'session_stopped',
    `An admin has stopped this session. Start a new one, or ask an admin to let it go on: gazeway session resume ${sessionId}`,
  )
