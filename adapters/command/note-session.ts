import { createHash } from 'node:crypto'
import { writePending } from '../../src/coding-sessions/pending-facts.ts'
import type { SessionFacts } from '../../src/coding-sessions/session-facts.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { type RepositoryFacts, readRepositoryFacts } from '../../src/projects/repository-facts.ts'
import { type AgentsGateway, agentsGateway } from './agents-gateway.ts'
import { NO_NEWS, newsOf } from './checkout-news.ts'
import type { HookedAgent } from './hooked-agents.ts'
import { begunSession, readNoted, writeNoted } from './noted-session.ts'
import { sendPending } from './send-facts.ts'

/** Time that a hook may take for it, in milliseconds. */
const LIMIT_MS = 2000

/** A session that a hook runs for. */
export interface SeenSession {
  sessionId: string
  folder: string
  /** Claude Code by default. */
  agent?: HookedAgent
  /** Commit that was just made. A session that no hook has seen before begins with it. */
  commit?: string | null
}

/**
 * Notes the repository, branch and commit of a session's folder, and which commits were made since the last hook. They go
 * to the gateway of the agent; without one, and while it does not answer, they wait in the data folder. Never fails, and
 * takes at most two seconds.
 */
export async function noteSession(loaded: LoadedConfig, log: Log, seen: SeenSession): Promise<void> {
  const signal = AbortSignal.timeout(LIMIT_MS)
  const late = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }))
  const noting = note(loaded, seen, signal).catch((err: unknown) => {
    log.debug('The repository of the session was not noted.', { err })
  })
  await Promise.race([noting, late])
}

async function note(
  { dataDir, config, request }: LoadedConfig,
  { sessionId, folder, agent = 'claude-code', commit = null }: SeenSession,
  signal: AbortSignal,
): Promise<void> {
  const now = new Date()
  const found = await readRepositoryFacts(folder, signal)
  const before = await readNoted(dataDir, sessionId)
  const known = before ?? begunSession(sessionId, agent, (commit !== null && found?.committedAt) || now)
  const projects = found === null ? [folder] : [folder, found.top]
  const gateway = agentsGateway(agent, { env: request.env, dataDir, projects })
  const present: SessionFacts = { ...(found && factsOf(found)), ...(config.sessions.send_paths && { path: folder }) }
  const last = digestOf(present, gateway)
  const read = found === null ? NO_NEWS : await newsOf(found.top, known, now, signal)
  const { branches, replaced } = read
  // Other commits in the very second in which a session begins are of before.
  const made = before === null ? read.made.filter(({ sha }) => sha === commit) : read.made
  const more = { ...(made.length > 0 && { commits: made }), ...(replaced.length > 0 && { replaced }) }
  const isNews = last !== known.last || Object.keys(more).length > 0
  const { repository } = present
  const facts = [
    ...branches.map((one): SessionFacts => ({ ...(repository !== undefined && { repository }), ...one })),
    ...(isNews && Object.keys(present).length > 0 ? [{ ...present, ...more, at: now.toISOString() }] : []),
  ]
  await writePending(dataDir, sessionId, facts, now)
  const checkout = found && { [found.top]: { branch: found.branch, commits: read.noted } }
  const checkouts = { ...known.checkouts, ...checkout }
  await writeNoted(dataDir, { ...known, agent, noted_at: now.toISOString(), checkouts, last })
  if (gateway !== null) await sendPending(dataDir, sessionId, gateway, signal)
}

/** Facts that are sent of a repository. What is unknown is omitted. */
function factsOf({ repository, branch, commit, dirty }: RepositoryFacts): SessionFacts {
  return {
    ...(repository !== null && { repository }),
    branch,
    ...(commit !== null && { commit }),
    ...(dirty !== null && { dirty }),
  }
}

const digestOf = (facts: object, gateway: AgentsGateway | null): string =>
  createHash('sha256')
    .update(JSON.stringify([facts, gateway]))
    .digest('hex')
