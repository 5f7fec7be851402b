import { GazewayError } from '../errors.ts'
import type { Session } from '../sessions/session.ts'
import type { Skill } from '../skills/skill.ts'
import { remoteId } from '../text/remote-id.ts'
import type { Door } from './ask-agent-gateway.ts'
import { type Answer, keep } from './kept.ts'
import { type AgentGatewayStatus, modeOf } from './probe.ts'
import { createRemoteSessions, type RemoteSessions } from './remote-sessions.ts'
import { createRemoteSkills } from './remote-skills.ts'

/** How long a question to the agent gateway may take, in milliseconds. */
const PATIENCE_MS = 3000
/** How long a list of it is shown before it is asked for again, in milliseconds. */
const FRESH_MS = 5000

/** What the agent gateway has beside this gateway's own. */
export interface Remote {
  sessions: RemoteSessions
  /** What the agent gateway calls a record of this id; null where it is none of its records, or there is none. */
  idOf(id: string): string | null
  /**
   * The agent gateway's newest sessions, or all its skills; or none, and why. A list is asked for again 5 s after it came,
   * and a failure is not tried again before.
   */
  newest<Kind extends keyof Lists>(kind: Kind): Promise<Answer<Lists[Kind]>>
  /** A list has changed: it is asked for again. */
  changed(kind: keyof Lists): void
}

interface Lists {
  sessions: Session[]
  skills: Skill[]
}

/** What the agent gateway is asked with. */
export interface RemoteDeps {
  /** Where it is; read with each question. */
  door: Door
  /** Whether the operator has named an agent gateway; where not, there is none beside this gateway itself. */
  isConfigured: () => boolean
  /** As the last check found it. */
  status: () => AgentGatewayStatus
  patienceMs?: number
  freshMs?: number
  /** A clock that is never set, in milliseconds; the process's own when absent. */
  elapsedMs?: () => number
}

/** The agent gateway behind `door`; nothing is asked until somebody looks. */
export function createRemote(deps: RemoteDeps): Remote {
  const { door, isConfigured, status, patienceMs: timeoutMs = PATIENCE_MS, freshMs = FRESH_MS } = deps
  const { elapsedMs = () => performance.now() } = deps
  const sessions = createRemoteSessions({ door, timeoutMs })
  const skills = createRemoteSkills({ door, timeoutMs })
  const lists = {
    sessions: keep({ ask: whereOffered(sessions.newest), without: [], freshMs, elapsedMs }),
    skills: keep({ ask: whereOffered(skills.list), without: [], freshMs, elapsedMs }),
  }

  return {
    sessions,
    idOf: (id) => (isConfigured() ? remoteId(id) : null),
    async newest(kind) {
      const found = status()
      const error = isConfigured() ? absence(found) : null
      if (error !== null || !isConfigured() || !mayHaveLists(found)) return { value: [], error }
      return lists[kind].get() as Promise<Answer<Lists[typeof kind]>>
    },
    changed: (kind) => lists[kind].forget(),
  }
}

/** A list that this version of the agent gateway does not offer is empty. */
function whereOffered<T>(ask: () => Promise<T[]>): () => Promise<T[]> {
  return async () => {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof GazewayError && error.code === 'not_found') return []
      throw error
    }
  }
}

/** Something that only infers has neither sessions nor skills; before the first check, nobody knows. */
const mayHaveLists = (found: AgentGatewayStatus): boolean => found.checked_at === null || modeOf(found) === 'enhanced'

/** Why nothing of the agent gateway can be shown; null where it can be asked, or has nothing to show. */
function absence({ checked_at, reachable, kind, supported, version, error }: AgentGatewayStatus): string | null {
  if (checked_at === null) return null
  if (!reachable) return `The agent gateway cannot be reached: ${error ?? 'it does not answer.'}`
  if (kind !== 'agent_gateway' || supported) return null
  return `The agent gateway is of version ${version ?? 'unknown'}; its sessions and skills are shown from 0.12 on.`
}
