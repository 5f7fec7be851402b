import { existsSync } from 'node:fs'
import * as z from 'zod'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { openConfig } from '../../src/config/open-config.ts'
import { memoryLine } from '../../src/context/render.ts'
import { createMemory, type Memory } from '../../src/memory/memory.ts'
import { projectOf } from '../../src/memory/records/project.ts'
import { openStore } from '../../src/store/open-store.ts'
import { shorten } from '../../src/text/cut.ts'
import { defused } from '../../src/text/defused.ts'
import { NOTICE } from '../../src/text/notice.ts'
import { answerHook, hookInput } from './hook-input.ts'

/** Maximum number of memories given to a new session. */
const MOST = 20
/** Maximum length of each memory, in characters. */
const LENGTH = 300

const Begun = z.object({ cwd: z.string() })

/**
 * Gives a new session of Claude Code the newest memories of its project, by writers that this machine trusts. Prints
 * nothing when there are none.
 */
export async function answerSessionStart(loaded: LoadedConfig, log: Log): Promise<void> {
  const { cwd } = await hookInput(Begun)
  const memories = await newestOf(loaded, log, cwd)
  if (memories.length === 0) return
  const lines = memories.map(({ value, ...memory }) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return memoryLine({ ...memory, value: shorten(text, LENGTH) })
  })
  const head = `Gazeway remembers this about the project, newest first; gateway_memory_search finds more. ${NOTICE}`
  answerHook({
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: defused([head, ...lines].join('\n')) },
  })
}

async function newestOf(loaded: LoadedConfig, log: Log, folder: string): Promise<Memory[]> {
  const { storeUrl } = loaded
  // Nothing has been stored yet, and opening the store would create it.
  if (storeUrl.startsWith('sqlite:') && !existsSync(storeUrl.slice('sqlite:'.length))) return []
  const store = await openStore(storeUrl)
  try {
    const live = await openConfig(loaded, store, log)
    const { trusted_writers } = live.current().config.memory
    await live.close()
    const memory = createMemory({ store, now: () => new Date(), trustedWriters: () => trusted_writers })
    return await memory.newest({ project: await projectOf(folder), limit: MOST })
  } finally {
    await store.close()
  }
}
