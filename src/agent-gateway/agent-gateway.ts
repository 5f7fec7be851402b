import { GazewayError } from '../errors.ts'
import type { Session } from '../sessions/session.ts'
import type { Skill } from '../skills/skill.ts'
import { remoteId } from '../text/remote-id.ts'
import { type Answer, cachedAnswer } from './cached-answer.ts'
import { type AgentGatewayStatus, modeOf } from './probe.ts'
import { createRemoteSessions, type RemoteSessions } from './remote-sessions.ts'
import { createRemoteSkills } from './remote-skills.ts'
import type { Access } from './request-agent-gateway.ts'

/** Timeout of a request to the agent gateway, in milliseconds. */
const PATIENCE_MS = 3000
/** Lifetime of a cached list, in milliseconds. */
const FRESH_MS = 5000

/** Sessions and skills of the agent gateway. */
export interface Remote {
  sessions: RemoteSessions
  /** Id of a record at the agent gateway; null when it is not one of its records or none is configured. */
  idOf(id: string): string | null
  /**
   * Returns the agent gateway's newest sessions, or all its skills; on a failure nothing, with the reason. An answer or
   * failure is cached for 5 s.
   */
  newest<Kind extends keyof Lists>(kind: Kind): Promise<Answer<Lists[Kind]>>
  /** Invalidates a cached list that has changed. */
  changed(kind: keyof Lists): void
}

interface Lists {
  sessions: Session[]
  skills: Skill[]
}

/** Dependencies of the agent gateway's client. */
export interface RemoteDeps {
  /** Address and key, read for each request. */
  access: Access
  /** Tells whether an agent gateway is configured. */
  isConfigured: () => boolean
  /** Result of the last check. */
  status: () => AgentGatewayStatus
  patienceMs?: number
  freshMs?: number
  /** A monotonic clock, in milliseconds; the process's own by default. */
  elapsedMs?: () => number
}

/** Creates the view of the agent gateway behind `access`. Its lists are fetched on first use. */
export function createRemote(deps: RemoteDeps): Remote {
  const { access, isConfigured, status, patienceMs: timeoutMs = PATIENCE_MS, freshMs = FRESH_MS } = deps
  const { elapsedMs = () => performance.now() } = deps
  const sessions = createRemoteSessions({ access, timeoutMs })
  const skills = createRemoteSkills({ access, timeoutMs })
  const lists = {
    sessions: cachedAnswer({ ask: whereOffered(sessions.newest), without: [], freshMs, elapsedMs }),
    skills: cachedAnswer({ ask: whereOffered(skills.list), without: [], freshMs, elapsedMs }),
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

/** Returns an empty list when this version of the agent gateway does not offer the list. */
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

/**
 * Tells whether the service may have sessions and skills. An inference-only service has none; unknown before the first
 * check.
 */
const mayHaveLists = (found: AgentGatewayStatus): boolean => found.checked_at === null || modeOf(found) === 'enhanced'

/** Explains why the agent gateway's lists are missing; null when they are available, or it has none. */
function absence({ checked_at, reachable, kind, supported, version, error }: AgentGatewayStatus): string | null {
  if (checked_at === null) return null
  if (!reachable) return `The agent gateway cannot be reached: ${error ?? 'it does not answer.'}`
  if (kind !== 'agent_gateway' || supported) return null
  return `The agent gateway has version ${version ?? 'unknown'}; its sessions and skills need version 0.12 or later.`
}
