import { createHash } from 'node:crypto'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder } from '../../src/store/make-folder.ts'
import { replaceFile } from '../../src/store/replace-file.ts'
import { parseJson } from '../../src/text/json.ts'
import { nullIfMissing } from '../../src/text/missing-file.ts'
import { HOOKED_AGENTS, type HookedAgent } from './hooked-agents.ts'

/** A session as the hooks of this machine know it. Its paths stay here. */
const NotedSession = z.object({
  session_id: z.string(),
  /** Agent of its last hook. */
  agent: z.enum(HOOKED_AGENTS).default('claude-code'),
  /** Time of its first hook, ISO. */
  began_at: z.string(),
  /** Time of its last hook, ISO. */
  noted_at: z.string(),
  /** By the folder of the checkout: its branch at the last hook, and the commits that are noted. */
  checkouts: z.record(z.string(), z.object({ branch: z.string().nullable(), commits: z.array(z.string()) })),
  /** Digest of the last facts and of who was to take them. */
  last: z.string().nullable(),
})
export type NotedSession = z.infer<typeof NotedSession>

const DAY_MS = 86_400_000
/** Time without a hook after which a session is over, and its file leaves. */
const OVER_MS = DAY_MS / 2
const FORGOTTEN_MS = 30 * DAY_MS

/** Reads what is known of a session; null for one that no hook has seen. */
export const readNoted = (dataDir: string, sessionId: string): Promise<NotedSession | null> =>
  readFileOf(fileOf(dataDir, sessionId))

/** Returns what is known of a session that has just begun. */
export function begunSession(sessionId: string, agent: HookedAgent, beginning: Date): NotedSession {
  const at = beginning.toISOString()
  return { session_id: sessionId, agent, began_at: at, noted_at: at, checkouts: {}, last: null }
}

/** Writes what is known of a session. */
export async function writeNoted(dataDir: string, session: NotedSession): Promise<void> {
  makeFolder(folderOf(dataDir))
  await replaceFile(fileOf(dataDir, session.session_id), `${JSON.stringify(session)}\n`)
}

/** Lists the sessions that a hook has seen in a checkout within half a day. Files of a month ago are removed. */
export async function sessionsIn(dataDir: string, top: string, now: Date): Promise<NotedSession[]> {
  const folder = folderOf(dataDir)
  const found: NotedSession[] = []
  for (const name of (await readdir(folder).catch(nullIfMissing)) ?? []) {
    const file = join(folder, name)
    if (!name.endsWith('.json')) continue
    const age = now.getTime() - ((await stat(file).catch(nullIfMissing))?.mtimeMs ?? 0)
    if (age > FORGOTTEN_MS) await rm(file, { force: true })
    const session = age > OVER_MS ? null : await readFileOf(file)
    if (session !== null && top in session.checkouts) found.push(session)
  }
  return found
}

async function readFileOf(file: string): Promise<NotedSession | null> {
  const text = await readFile(file, 'utf8').catch(nullIfMissing)
  const session = text === null ? null : NotedSession.safeParse(parseJson(text))
  return session?.success ? session.data : null
}

const folderOf = (dataDir: string): string => join(dataDir, 'coding-sessions', 'known')

const fileOf = (dataDir: string, sessionId: string): string =>
  join(folderOf(dataDir), `${createHash('sha256').update(sessionId).digest('hex')}.json`)
