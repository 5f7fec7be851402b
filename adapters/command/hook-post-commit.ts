import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { readRepositoryFacts } from '../../src/projects/repository-facts.ts'
import type { HookedAgent } from './hooked-agents.ts'
import { noteSession } from './note-session.ts'
import { sessionsIn } from './noted-session.ts'

/** Variables by which agents name their session to the commands that they run. */
const SESSION_VARIABLES: Readonly<Record<HookedAgent, string>> = {
  'claude-code': 'CLAUDE_CODE_SESSION_ID',
  codex: 'CODEX_THREAD_ID',
}

/**
 * Notes the commit that was just made for the session that made it, or for those that a hook has seen in the checkout
 * when a person made it. Never fails.
 */
export async function answerPostCommit(loaded: LoadedConfig, log: Log, folder: string): Promise<void> {
  const found = await readRepositoryFacts(folder).catch(() => null)
  if (found === null) return
  const { commit, top } = found
  const note = (sessionId: string, agent?: HookedAgent) =>
    noteSession(loaded, log, { sessionId, folder, commit, ...(agent && { agent }) })
  for (const [agent, variable] of Object.entries(SESSION_VARIABLES)) {
    const sessionId = loaded.request.env[variable]?.trim()
    if (sessionId) return note(sessionId, agent as HookedAgent)
  }
  for (const { session_id, agent } of await sessionsIn(loaded.dataDir, top, new Date())) await note(session_id, agent)
}
