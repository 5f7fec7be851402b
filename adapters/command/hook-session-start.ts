import { existsSync } from 'node:fs'
import * as z from 'zod'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { openConfig } from '../../src/config/open-config.ts'
import { memoryLine } from '../../src/context/render.ts'
import { createMemory, type Memory } from '../../src/memory/memory.ts'
import { createProjects } from '../../src/projects/projects.ts'
import { proposalNote } from '../../src/projects/proposal.ts'
import { openStore } from '../../src/store/open-store.ts'
import { shorten } from '../../src/text/cut.ts'
import { defused } from '../../src/text/defuse-client-tags.ts'
import { plain } from '../../src/text/single-line.ts'
import { NOTICE } from '../../src/text/untrusted-text-notice.ts'
import { answerHook, hookInput, SessionId } from './hook-input.ts'
import type { HookedAgent } from './hooked-agents.ts'
import { noteSessions } from './note-session.ts'

/** Maximum number of memories given to a new session. */
const MOST = 20
/** Maximum length of each memory, in characters. */
const LENGTH = 300

const Begun = z.object({ cwd: z.string(), session_id: SessionId })

/**
 * Gives a new session of an agent the newest memories of its project, by writers that this machine trusts, and says
 * when the folder may belong to another project. Prints nothing when there is nothing of the kind.
 */
export async function answerSessionStart(loaded: LoadedConfig, log: Log, agent: HookedAgent): Promise<void> {
  const { cwd, session_id: sessionId } = await hookInput(Begun)
  const noted =
    sessionId === undefined ? undefined : noteSessions(loaded, log, { folder: cwd, sessions: [{ sessionId, agent }] })
  const [{ memories, note }] = await Promise.all([startOf(loaded, log, cwd), noted])
  if (memories.length === 0 && note === null) return
  const lines = memories.map(({ value, ...memory }) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return memoryLine({ ...memory, value: shorten(text, LENGTH) })
  })
  const head = `Gazeway remembers this about the project, newest first; gateway_memory_search finds more. ${NOTICE}`
  const notes = [capturedNote(memories), note].filter((line) => line !== null)
  const text = [...(memories.length > 0 ? [head, ...lines] : []), ...notes].join('\n')
  answerHook({ hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: defused(text) } })
}

/** Says what an earlier session stored by itself last (`memory.capture`), and how to remove it. */
function capturedNote(memories: readonly Memory[]): string | null {
  const session = memories.flatMap(({ tags }) => tags).find((tag) => /^session:[\w-]+$/.test(tag))
  const captured = memories.filter(({ tags }) => tags.includes('captured') && tags.includes(session ?? ''))
  if (session === undefined || captured.length === 0) return null
  const keys = plain(captured.map(({ key }) => key).join(', '))
  return `An earlier session stored by itself: ${keys}. A person removes them with: gazeway memory delete --tag ${session}`
}

/** Beginning of a session. `note` says which project is proposed for the folder. */
interface Start {
  memories: Memory[]
  note: string | null
}

async function startOf(loaded: LoadedConfig, log: Log, folder: string): Promise<Start> {
  const { storeUrl } = loaded
  // Nothing has been stored yet, and opening the store would create it.
  if (storeUrl.startsWith('sqlite:') && !existsSync(storeUrl.slice('sqlite:'.length)))
    return { memories: [], note: null }
  const store = await openStore(storeUrl)
  try {
    const live = await openConfig(loaded, store, log)
    const { trusted_writers } = live.current().config.memory
    await live.close()
    const memory = createMemory({ store, now: () => new Date(), trustedWriters: () => trusted_writers })
    const projects = createProjects(store)
    const memories = await memory.newest({ project: await projects.at([folder]), limit: MOST })
    return { memories, note: await proposalNote(projects, folder) }
  } finally {
    await store.close()
  }
}
