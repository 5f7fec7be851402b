import { createHash } from 'node:crypto'
import { writePending } from '../../src/coding-sessions/pending-facts.ts'
import type { SessionFacts } from '../../src/coding-sessions/session-facts.ts'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { type RepositoryFacts, readRepositoryFacts } from '../../src/projects/repository-facts.ts'
import { type AgentsGateway, agentsGateway } from './agents-gateway.ts'
import { NO_NEWS, newsOf } from './checkout-changes.ts'
import type { HookedAgent } from './hooked-agents.ts'
import { begunSession, readNoted, writeNoted } from './noted-session.ts'
import { sendPending } from './send-facts.ts'

/** Time that a hook may take for it. */
const LIMIT_MS = 2000

/** A session that a hook runs for. */
export interface SeenSession {
  sessionId: string
  agent: HookedAgent
}

/** Sessions that a hook sees in a folder, and the commit that it follows. */
export interface Sight {
  folder: string
  sessions: readonly SeenSession[]
  /** Commit that was just made. A session that no hook has seen before begins with it. */
  commit?: string | null
}

/**
 * Notes the repository, branch and commit of the folder of sessions, and which commits were made since the last hook. They
 * go to the gateway of each agent; without one, and while it does not answer, they wait in the data folder. Never fails,
 * and takes at most `limitMs` for all sessions together.
 */
export async function noteSessions(loaded: LoadedConfig, log: Log, sight: Sight, limitMs = LIMIT_MS): Promise<void> {
  const signal = AbortSignal.timeout(limitMs)
  const late = new Promise<void>((done) => signal.addEventListener('abort', () => done(), { once: true }))
  const onError = (err: unknown) => log.debug('The repository of the session was not noted.', { err })
  const noting = noteAll(loaded, sight, signal, onError).catch(onError)
  await Promise.race([noting, late])
}

async function noteAll(
  loaded: LoadedConfig,
  sight: Sight,
  signal: AbortSignal,
  onError: (err: unknown) => void,
): Promise<void> {
  const found = await readRepositoryFacts(sight.folder, signal)
  const gateways = new Map<string, AgentsGateway>()
  // All are kept before any is sent: a gateway may be slow.
  for (const session of sight.sessions) {
    const gateway = await keep(loaded, { ...sight, ...session, found }, signal)
    if (gateway !== null) gateways.set(session.sessionId, gateway)
  }
  const sent = [...gateways].map(([id, gateway]) => sendPending(loaded.dataDir, id, gateway, signal).catch(onError))
  await Promise.all(sent)
}

/** Keeps what is new of a session in the data folder. @returns the gateway that takes it; null without one */
async function keep(
  { dataDir, config, request }: LoadedConfig,
  { sessionId, folder, agent, commit = null, found }: Sight & SeenSession & { found: RepositoryFacts | null },
  signal: AbortSignal,
): Promise<AgentsGateway | null> {
  const now = new Date()
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
  return gateway
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
