import { type Base, logged } from '../base.ts'
import type { Calls } from '../calls/calls.ts'
import type { Keep } from '../idempotency/idempotency.ts'
import type { Page, Paged } from '../store/page.ts'
import type { Sweep } from '../store/sweeps.ts'
import type { CodingSession } from './coding-session.ts'
import { followTurns } from './follow-turns.ts'
import { sessionRetention } from './forget-sessions.ts'
import { type CodingSessionQuery, listSessions } from './list-sessions.ts'
import { noteFacts, type SessionKey } from './note-facts.ts'
import { type CodingSessionDetails, readSession } from './read-session.ts'
import { type CostQuery, type SessionCosts, sessionCosts } from './session-costs.ts'
import type { PresentFacts, SessionFacts } from './session-facts.ts'
import { type NamedSession, type Resumption, resumeSession, type SessionState, stopSession } from './session-states.ts'
import { liveStoppedSessions, type StoppedSessions } from './stopped-sessions.ts'

/** Sessions of coding agents: what their calls sum up to, and the repository, branch and commit that they worked on. */
export interface CodingSessions {
  /**
   * Notes what is known of a session from here on.
   *
   * @returns its facts after these
   */
  noteFacts(session: SessionKey, facts: SessionFacts): Promise<PresentFacts>
  /** Sums what the calls of sessions cost. */
  costs(query: CostQuery): Promise<SessionCosts>
  /** Lists the sessions that have calls, after what waits to be written. @throws GazewayError `invalid_cursor` */
  list(query: Paged<CodingSessionQuery>): Promise<Page<CodingSession>>
  /**
   * Reads one session, as `list`.
   *
   * @param callerId key or wallet of its calls; undefined for any
   * @returns null for an unknown one; `ambiguous` where several keys have one of that id
   */
  read(id: string, callerId: string | undefined): Promise<CodingSessionDetails | 'ambiguous' | null>
  /**
   * Stops a session: at once in this process, within 5 s in others. Its calls end, streams included.
   *
   * @param by key of the admin
   * @throws see `callerOfSession` in `session-states.ts`
   */
  stop(session: NamedSession, by: string): Promise<SessionState>
  /**
   * Lets a session go on, with more of its limits.
   *
   * @param keep stores the reply, for a repeated request
   * @throws as {@link CodingSessions.stop}
   */
  resume(session: NamedSession, raise: Resumption, keep?: Keep<SessionState>): Promise<SessionState>
  stopped: StoppedSessions
  sweeps: readonly Sweep[]
}

/** Opens the room. It follows `calls` for what their clients say of the folder. */
export function liveCodingSessions(base: Base, calls: Pick<Calls, 'listen' | 'flush'>): CodingSessions {
  const { store, now, config } = base
  const note = (session: SessionKey, facts: SessionFacts) => noteFacts(store, session, facts, now())
  const onError = logged(base, 'Failed to note the repository of a session.', 'warn')
  const onUnwritten = logged(base, 'Failed to write call records.')
  calls.listen(followTurns((session, facts) => void note(session, facts).catch(onError)))
  const stopped = liveStoppedSessions(base)

  /** Writes what waits, then reads. Also when it cannot be written: the sums are then incomplete. */
  async function afterFlush<T>(read: () => Promise<T>): Promise<T> {
    await calls.flush().catch(onUnwritten)
    return read()
  }

  /** Changes the state of a session, and applies it in this process. */
  async function changed(change: () => Promise<SessionState>): Promise<SessionState> {
    const state = await afterFlush(change)
    await stopped.refresh()
    return state
  }

  return {
    noteFacts: note,
    costs: (query) => afterFlush(() => sessionCosts(store, query)),
    list: (query) => afterFlush(() => listSessions(store, query)),
    read: (id, callerId) => afterFlush(() => readSession(store, id, callerId)),
    stop: (session, by) => changed(() => stopSession(store, session, { by, at: now() })),
    resume: (session, raise, keep) => changed(() => resumeSession(store, session, { raise, at: now(), keep })),
    stopped,
    sweeps: [sessionRetention(store, now, () => config.current().config.audit.retention_days)],
  }
}
