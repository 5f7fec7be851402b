import { constants, existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import * as z from 'zod'
import type { LoadedConfig } from '../../src/config/config.ts'
import type { Log } from '../../src/config/log.ts'
import { openConfig } from '../../src/config/open-config.ts'
import { GazewayError } from '../../src/errors.ts'
import { openStore } from '../../src/store/open-store.ts'
import { answerHook, hookInput, SessionId } from './hook-input.ts'
import type { HookedAgent } from './hooked-agents.ts'
import { noteSessions } from './note-session.ts'

/** Bytes read from the end of a transcript. */
const READ_BYTES = 16 << 20

/** Request to Claude where `memory.capture` is `offer`. */
const OFFER =
  'Gazeway offers to remember. If this session has shown something that a later one needs (a decision and its reason, a ' +
  'pitfall, where something is), name it in one sentence and ask whether to store it with gateway_memory_store. Store ' +
  'nothing without a yes; then give other words for it in `also`, and update or supersede what `similar` names. If there is nothing of the kind, end without a word about it.'

/** Request to Claude where `memory.capture` is `auto`. `mark`: the tags of what it stores, in words. */
const capture = (mark: string): string =>
  'Gazeway keeps what this session has shown and a later one needs. Store it yourself with gateway_memory_store, at most ten ' +
  'lasting facts: decisions and their reasons, conventions, pitfalls, commands that worked. Omit what the code or its ' +
  'history says by itself, secrets, and what is about a person. Give each a key such as "area/subject", other words for it ' +
  `in \`also\`, and the tags ${mark}. Where \`similar\` names a memory that says it already, update or supersede that. ` +
  'Then say in one line what you have stored. If there is nothing of the kind, end without a word about it.'

/** First words of both requests. A transcript that contains them shows that the session was asked. */
const ASKED = ['Gazeway offers to remember.', 'Gazeway keeps what this session has shown']

const CHANGES_FILES = /"name":\s?"(?:Edit|MultiEdit|Write|NotebookEdit)"/
const STORES = /"name":\s?"[\w-]*gateway_memory_store"/

const Stopped = z.object({
  /** Null for a session of Codex that is not kept. */
  transcript_path: z.string().nullable(),
  stop_hook_active: z.boolean().default(false),
  cwd: z.string().optional(),
  /** Names the session in a tag, too. */
  session_id: SessionId,
})

/**
 * Makes Claude Code offer to store what was learned, or store it, by `memory.capture`, and notes the commits of the
 * session. Asks once per session, and only
 * when the session changed files. Nothing is offered when it stored something itself.
 */
export async function answerStop(loaded: LoadedConfig, log: Log, agent: HookedAgent): Promise<void> {
  const stopped = await hookInput(Stopped)
  const { session_id: sessionId, cwd: folder } = stopped
  const isNoted = sessionId !== undefined && folder !== undefined
  const noted = isNoted && noteSessions(loaded, log, { folder, sessions: [{ sessionId, agent }] })
  await Promise.all([offerToRemember(loaded, log, stopped), noted])
}

async function offerToRemember(loaded: LoadedConfig, log: Log, stopped: z.infer<typeof Stopped>): Promise<void> {
  const { transcript_path: path, stop_hook_active: isAnswering, session_id: session } = stopped
  if (isAnswering || path === null || !existsSync(path)) return
  const text = await endOf(path)
  if (!CHANGES_FILES.test(text) || ASKED.some((words) => text.includes(words))) return
  const mode = await captureMode(loaded, log)
  if (mode === 'off' || (mode === 'offer' && STORES.test(text))) return
  const mark = session === undefined ? '"captured"' : `"captured" and "session:${session}"`
  answerHook({ decision: 'block', reason: mode === 'auto' ? capture(mark) : OFFER })
}

/** The setting in force, which is in the store where that is a server. */
async function captureMode(loaded: LoadedConfig, log: Log): Promise<LoadedConfig['config']['memory']['capture']> {
  if (loaded.storeUrl.startsWith('sqlite:')) return loaded.config.memory.capture
  const store = await openStore(loaded.storeUrl)
  try {
    const live = await openConfig(loaded, store, log)
    await live.close()
    return live.current().config.memory.capture
  } finally {
    await store.close()
  }
}

/**
 * Reads the end of a transcript.
 *
 * @throws GazewayError `invalid_json` for a pipe or a device, which may never end
 */
async function endOf(path: string): Promise<string> {
  // Opening a pipe without this flag waits for a writer. Windows has no such flag, and no such pipes.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const info = await file.stat()
    if (!info.isFile()) throw new GazewayError('invalid_json', 'transcript_path: must be a regular file.')
    const start = Math.max(0, info.size - READ_BYTES)
    const bytes = Buffer.alloc(info.size - start)
    const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
    return bytes.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
