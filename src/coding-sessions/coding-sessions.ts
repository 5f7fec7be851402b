import { type Base, logged } from '../base.ts'
import type { Calls } from '../calls/calls.ts'
import type { Sweep } from '../store/sweeps.ts'
import { followTurns } from './follow-turns.ts'
import { sessionRetention } from './forget-sessions.ts'
import { noteFacts, type SessionKey } from './note-facts.ts'
import { type CostQuery, type SessionCosts, sessionCosts } from './session-costs.ts'
import type { PresentFacts, SessionFacts } from './session-facts.ts'

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
  sweeps: readonly Sweep[]
}

/** Opens the room. It follows `calls` for what their clients say of the folder. */
export function liveCodingSessions(base: Base, calls: Pick<Calls, 'listen'>): CodingSessions {
  const { store, now, config } = base
  const note = (session: SessionKey, facts: SessionFacts) => noteFacts(store, session, facts, now())
  const onError = logged(base, 'Failed to note the repository of a session.', 'warn')
  calls.listen(followTurns((session, facts) => void note(session, facts).catch(onError)))
  return {
    noteFacts: note,
    costs: (query) => sessionCosts(store, query),
    sweeps: [sessionRetention(store, now, () => config.current().config.audit.retention_days)],
  }
}
