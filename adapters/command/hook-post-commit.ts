import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { readRepositoryFacts } from '../../src/projects/repository-facts.ts'
import { noteSession } from './note-session.ts'
import { sessionsIn } from './noted-session.ts'

/** Variables by which agents name their session to the commands that they run. */
const SESSION_VARIABLES = ['CLAUDE_CODE_SESSION_ID', 'CODEX_THREAD_ID']

/**
 * Notes the commit that was just made for the session that made it, or for those that a hook has seen in the checkout
 * when a person made it. Never fails.
 */
export async function answerPostCommit(loaded: LoadedConfig, log: Log, folder: string): Promise<void> {
  const found = await readRepositoryFacts(folder).catch(() => null)
  if (found === null) return
  const named = SESSION_VARIABLES.map((name) => loaded.request.env[name]?.trim()).find(Boolean)
  const sessions = named === undefined ? await sessionsIn(loaded.dataDir, found.top, new Date()) : [named]
  for (const sessionId of sessions) await noteSession(loaded, log, { sessionId, folder, commit: found.commit })
}
