import type { StoppedSessions } from '../../coding-sessions/stopped-sessions.ts'
import { GazewayError } from '../../errors.ts'
import type { Identity } from '../../identity/identity.ts'
import type { SessionLimits } from '../../identity/session-limits.ts'
import type { Store } from '../../store/store.ts'
import type { SessionStateRow } from '../../store/tables/session-limits-tables.ts'
import { noteUse, type SessionOf } from '../../wallet/budget/session-budget.ts'
import { createRepeats, type Repeated } from './loop-guard.ts'
import { createRunningSessions, type RunningSessions, sessionStopped } from './running-sessions.ts'

const MINUTE_MS = 60_000

/** A call that counts in its session. */
export interface SessionCall {
  /** Takes the call out of the count again: it was refused for another reason. */
  undo(): Promise<void>
}

/** Session of a call, and which of its agents makes it: null for its only one. */
export interface AskingSession {
  sessionId: string
  threadId: string | null
}

/** Caller of a session's calls. */
export type SessionOwner = Pick<Identity, 'id' | 'sessionLimits'>

/** Lets the calls of coding agents' sessions begin, as far as the limits of their keys allow. */
export interface SessionGate extends RunningSessions {
  /**
   * Lets a call of a session begin, and counts it for a key that limits the calls or minutes of its sessions.
   *
   * @param caller key of the call; a wallet, or nobody, has no limits
   * @returns null at once where nothing is counted
   * @throws GazewayError `session_stopped`, `session_repeats` or `session_budget_reached`
   */
  begin(caller: SessionOwner, session: AskingSession, request: object): Promise<SessionCall | null> | null
  /** Notes that a request has its answer, so that its repetitions count. */
  answered(request: object): void
}

/** Dependencies of {@link createSessionGate}. */
interface SessionGateDeps {
  stopped: Pick<StoppedSessions, 'has' | 'listen'>
  store: Store
  now: () => Date
  /** Called when a session has asked the same as often as it may. */
  onRepeated: (of: Repeated) => void
  /** Called when a call could not be taken out of the count. */
  onError: (error: unknown) => void
}

/** Creates the gate. Calls count in the store, so that the limits hold over all processes. */
export function createSessionGate({ stopped, store, now, onRepeated, onError }: SessionGateDeps): SessionGate {
  async function count(session: SessionOf, limits: SessionLimits): Promise<SessionCall> {
    const at = now()
    const use = { at: at.toISOString(), calls: 1 }
    await store.write(async (trx) => {
      const refusal = refusalOf(await noteUse(trx, session, use), limits, at)
      if (refusal !== null) throw refusal
    })
    return { undo: () => uncount(session).catch(onError) }
  }

  async function uncount(session: SessionOf): Promise<void> {
    const use = { at: now().toISOString(), calls: -1 }
    await store.write((trx) => noteUse(trx, session, use))
  }

  const repeats = createRepeats(() => performance.now(), onRepeated)
  return {
    ...createRunningSessions(stopped),
    answered: repeats.answered,
    begin({ id, sessionLimits }, { sessionId, threadId }, request) {
      const session = { callerId: id, sessionId }
      const isStopped = stopped.has(session)
      const isCounted = sessionLimits !== null && (sessionLimits.calls !== null || sessionLimits.minutes !== null)
      function beginUnless(isStopped: boolean): Promise<SessionCall> | null {
        if (isStopped) throw sessionStopped(sessionId)
        if (sessionLimits !== null && sessionLimits.repeats !== null)
          repeats.require({ ...session, threadId }, sessionLimits.repeats, request)
        return isCounted ? count(session, sessionLimits) : null
      }
      return isStopped instanceof Promise ? isStopped.then(beginUnless) : beginUnless(isStopped)
    },
  }
}

/** Error for a call beyond the limits of its session; null when it is within them. @param state with the call */
function refusalOf(
  { session_id, calls, raised_calls, raised_minutes, started_at }: SessionStateRow,
  limits: SessionLimits,
  at: Date,
): GazewayError | null {
  const mostCalls = limits.calls === null ? Infinity : limits.calls + Number(raised_calls)
  if (Number(calls) > mostCalls) return reached(session_id, `its ${mostCalls} calls`, '--calls N')
  const minutes = limits.minutes === null ? Infinity : limits.minutes + Number(raised_minutes)
  if (at.getTime() - Date.parse(started_at) < minutes * MINUTE_MS) return null
  return reached(session_id, `its ${minutes} minutes, since ${started_at}`, '--minutes N')
}

const reached = (sessionId: string, what: string, raise: string): GazewayError =>
  new GazewayError(
    'session_budget_reached',
    `This session has used ${what}. Start a new session, or ask an admin to raise it: gazeway session resume ${sessionId} ${raise}`,
  )
