import type { LoadedConfig } from '../../src/config/config.ts'
import type { Environment } from '../../src/config/environment.ts'
import type { Log } from '../../src/config/log.ts'
import { type RepositoryFacts, readRepositoryFacts } from '../../src/projects/repository-facts.ts'
import { HOOKED_AGENTS, type HookedAgent } from './hooked-agents.ts'
import { noteSessions, type SeenSession } from './note-session.ts'
import { sessionsIn } from './noted-session.ts'

/** Variables by which agents name their session to the commands that they run. */
const SESSION_VARIABLES: Readonly<Record<HookedAgent, string>> = {
  'claude-code': 'CLAUDE_CODE_SESSION_ID',
  codex: 'CODEX_THREAD_ID',
}

/**
 * Notes the commit that was just made for the session that made it, or for those that a hook has seen in the checkout
 * when a person made it. Never fails.
 *
 * @param limitMs time that it may take; by default that of {@link noteSessions}
 */
export async function answerPostCommit(
  loaded: LoadedConfig,
  log: Log,
  folder: string,
  limitMs?: number,
): Promise<void> {
  const found = await readRepositoryFacts(folder).catch(() => null)
  if (found === null) return
  const sessions = sessionOf(loaded.request.env) ?? (await sessionsOn(loaded.dataDir, found))
  await noteSessions(loaded, log, { folder, sessions, commit: found.commit }, limitMs)
}

/** The session whose agent has made the commit; null where a person has. */
function sessionOf(env: Environment): SeenSession[] | null {
  for (const agent of HOOKED_AGENTS) {
    const sessionId = env[SESSION_VARIABLES[agent]]?.trim()
    if (sessionId) return [{ sessionId, agent }]
  }
  return null
}

/** Sessions in a checkout whose last hook was on its branch; without one, all: the branch may be new. */
async function sessionsOn(dataDir: string, { top, branch }: RepositoryFacts): Promise<SeenSession[]> {
  const all = await sessionsIn(dataDir, top, new Date())
  const same = all.filter(({ checkouts }) => checkouts[top]?.branch === branch)
  return (same.length > 0 ? same : all).map(({ session_id: sessionId, agent }) => ({ sessionId, agent }))
}
